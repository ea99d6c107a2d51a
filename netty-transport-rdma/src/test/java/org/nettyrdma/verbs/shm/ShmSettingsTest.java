package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ShmSettingsTest {

    /** A name that is misspelt would be that of nobody: the processes of whoever is meant were refused one by one. */
    @Test
    void shouldRefuseAUserWhomTheSystemDoesNotKnow() {
        assertEquals("org.nettyrdma.shm.users: the system knows no user rooot (expected: names of users, and numbers of those"
                + " without a name)", assertThrows(IOException.class, () -> withUsers("root, rooot")).getMessage());
    }

    /** A user may have a name in one container only. */
    @Test
    void shouldKnowAUserByNameAndByNumber() throws IOException {
        UserPrincipal root = Files.getOwner(Path.of("/"));
        assertEquals(Set.of(root), withUsers("root").otherUsers());
        assertEquals(Set.of(root), withUsers(" 0 ,").otherUsers());
        assertEquals(Set.of(), withUsers(" , ").otherUsers());
    }

    private static ShmSettings withUsers(String users) throws IOException {
        String before = System.getProperty(ShmSettings.USERS_PROPERTY);
        System.setProperty(ShmSettings.USERS_PROPERTY, users);
        try {
            return ShmSettings.ofSystem();
        } finally {
            if (before != null) {
                System.setProperty(ShmSettings.USERS_PROPERTY, before);
            } else {
                System.clearProperty(ShmSettings.USERS_PROPERTY);
            }
        }
    }

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
