package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RegistrationTableTest {

    private final List<Long> ended = new ArrayList<>();
    private boolean refusing;
    private final RegistrationTable registrations = new RegistrationTable(registration -> {
        if (refusing) {
            throw new IOException("busy");
        }
        ended.add(registration.handle());
    });
    private final Registration one = new Registration(1, 4096, 11, 12);
    private final Registration other = new Registration(2, 8192, 21, 22);

    private void register() {
        registrations.add(one, ByteBuffer.allocateDirect(1));
        registrations.add(other, ByteBuffer.allocateDirect(1));
    }

    @Test
    void shouldEndEachOnce() throws IOException {
        register();
        registrations.end(one);
        registrations.end(one);
        registrations.endAll();
        assertEquals(List.of(1L, 2L), ended);
        assertEquals(0, registrations.count());
    }

    @Test
    void shouldKeepMemoryThatTheDeviceMayStillReach() throws IOException {
        register();
        refusing = true;
        assertThrows(IOException.class, () -> registrations.end(one));
        registrations.endAll();
        assertEquals(2, registrations.count());
        refusing = false;
        registrations.end(one);
        assertEquals(List.of(1L), ended);
        assertEquals(1, registrations.count());
    }
}
