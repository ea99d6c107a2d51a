package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class ShmSettingsTest {

    /** As where a script takes it from a variable that is not set. */
    @Test
    void shouldRefuseADirectoryWithoutAName() {
        String before = System.getProperty(ShmSettings.DIRECTORY_PROPERTY);
        System.setProperty(ShmSettings.DIRECTORY_PROPERTY, "");
        try {
            assertEquals("org.nettyrdma.shm.directory is empty (expected: a directory in a memory file system)",
                    assertThrows(IOException.class, ShmSettings::ofSystem).getMessage());
        } finally {
            if (before != null) {
                System.setProperty(ShmSettings.DIRECTORY_PROPERTY, before);
            } else {
                System.clearProperty(ShmSettings.DIRECTORY_PROPERTY);
            }
        }
    }
}
