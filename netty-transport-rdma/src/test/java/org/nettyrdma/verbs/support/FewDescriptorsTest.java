package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testing.Jvm;

class FewDescriptorsTest {

    /** An event loop that allocates for the first time while no file can be opened, and again when files can. */
    public static void main(String[] arguments) throws Exception {
        new LoopCore(System::nanoTime, () -> 1);
        PlatformDependent.maxDirectMemory(); // the library of this, and the class below, have files of their own
        Class.forName(DirectMemory.class.getName() + "$JvmPool", false, FewDescriptorsTest.class.getClassLoader());
        Deque<SocketChannel> all = new ArrayDeque<>();
        try {
            while (true) {
                all.add(SocketChannel.open());
            }
        } catch (IOException e) {
            try {
                DirectMemory.allocate(1 << 16);
            } catch (Throwable t) {
                System.err.println(t);
            }
        }
        while (!all.isEmpty()) {
            all.remove().close();
        }
        DirectMemory.allocate(1 << 16);
        System.exit(0);
    }

    @Test
    void shouldAllocateAfterItHadNoDescriptor() throws Exception {
        List<String> command = Jvm.command(List.of("-Xmx64m"), FewDescriptorsTest.class);
        command.addAll(0, List.of("/bin/sh", "-c", "ulimit -n 200; exec \"$@\"", "sh"));
        assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor());
    }
}
