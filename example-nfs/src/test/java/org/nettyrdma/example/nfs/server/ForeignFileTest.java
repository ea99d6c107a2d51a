package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.example.nfs.protocol.AccessBits;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.TimeChange;
import org.nettyrdma.example.nfs.protocol.WccData;

/**
 * A server that is not root, and a file of another user to which it may write. Only its owner may change the mode of such a file
 * and give it a time of choice. The server is a process of its own, since root has to give up its rights for it.
 */
class ForeignFileTest {

    private static final int OWNER = 2001;
    private static final int USER = 1000;
    private static final String UNREADABLE = "unreadable";
    private static final Sattr NOW = Sattr.NONE.withTimes(TimeChange.NONE, TimeChange.SERVER_TIME);

    /** What somebody else does who may write to the file. */
    enum Scenario {

        /** As Linux does to open a file with O_TRUNC, and for truncate(2). */
        SET_THE_SIZE(0666) {
            @Override
            void run(NfsTestClient user, FileHandle file) {
                user.setAttributes(file, NOW.withSize(2), null).ok(WccData::read);
                assertEquals("he", user.read(file));
            }
        },

        SET_THE_SIZE_THAT_IT_HAS(0666) {
            @Override
            void run(NfsTestClient user, FileHandle file) {
                user.setAttributes(file, NOW.withSize("hello".length()), null).ok(WccData::read);
                assertEquals("hello", user.read(file));
            }
        },

        WRITE_TO_A_PROGRAM(06777) {
            @Override
            void run(NfsTestClient user, FileHandle file) {
                user.write(file, 0, "j");
                assertEquals("jello", user.read(file));
                assertEquals(0777, user.attributes(file).mode());
            }
        },

        SET_THE_SIZE_OF_A_PROGRAM(06773) { // which nobody else may read
            @Override
            void run(NfsTestClient user, FileHandle file) {
                user.setAttributes(file, NOW.withSize(2), null).ok(WccData::read);
                assertEquals(0773, user.attributes(file).mode());
                assertEquals(2, user.attributes(file).size());
            }
        },

        SET_TIMES_OF_CHOICE(0666) {
            @Override
            void run(NfsTestClient user, FileHandle file) {
                TimeChange time = TimeChange.to(user.attributes(file).changeTime());
                Sattr changes = Sattr.NONE.withTimes(time, time).withSize(2);
                assertEquals(NfsStatus.PERM, user.setAttributes(file, changes, null).status());
                assertEquals("hello", user.read(file));
            }
        };

        private final int mode;

        Scenario(int mode) {
            this.mode = mode;
        }

        abstract void run(NfsTestClient user, FileHandle file);
    }

    @Test
    void shouldLetWhoMayWriteDoSo(@TempDir Path root) throws Exception {
        assumeTrue(ProcessWithoutRights.isUserRoot(), "needs to be root, to give files away");
        Files.setAttribute(root, "unix:mode", 0755);
        for (Scenario scenario : Scenario.values()) {
            make(root.resolve(scenario.name()), scenario.mode);
        }
        make(root.resolve(UNREADABLE), 0602);
        ProcessWithoutRights.run(ForeignFileTest.class, root.toRealPath().toString());
    }

    private static void make(Path file, int mode) throws IOException {
        Files.writeString(file, "hello");
        Files.setAttribute(file, "unix:uid", OWNER);
        Files.setAttribute(file, "unix:gid", OWNER);
        Files.setAttribute(file, "unix:mode", mode);
    }

    public static void main(String[] arguments) throws IOException {
        try (NfsService service = new NfsService(Export.of(Path.of(arguments[0])), NfsServiceOptions.DEFAULTS)) {
            NfsTestClient user = new NfsTestClient(service, NfsTestClient.user(USER));
            FileHandle top = user.mount("/");
            for (Scenario scenario : Scenario.values()) {
                FileHandle file = user.lookup(top, scenario.name()).handle();
                assertEquals(NfsStatus.PERM, user.setAttributes(file, Sattr.NONE.withMode(0777), null).status());
                try {
                    scenario.run(user, file);
                } catch (AssertionError e) {
                    throw new AssertionError(scenario.name(), e);
                }
            }
            user.close();
            NfsTestClient owner = new NfsTestClient(service, NfsTestClient.user(OWNER));
            FileHandle unreadable = owner.lookup(top, UNREADABLE).handle();
            // The owner may read it, but the server may not.
            assertEquals(AccessBits.MODIFY | AccessBits.EXTEND, owner.access(unreadable, AccessBits.ALL));
            assertEquals(NfsStatus.ACCES, owner.readReply(unreadable, 0, 1).status());
            owner.close();
        }
    }
}
