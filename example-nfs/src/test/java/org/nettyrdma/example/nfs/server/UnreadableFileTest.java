package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.TimeChange;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.server.NfsTestClient.Created;

/**
 * A server that the operating system lets read no files but those whose mode allows it. Each scenario is a process of its own,
 * since root has to give up its rights for it.
 */
class UnreadableFileTest {

    private static final NfsTime PAST = new NfsTime(1000, 0);
    private static final Sattr PAST_TIMES = Sattr.NONE.withTimes(TimeChange.to(PAST), TimeChange.to(PAST));

    /** What the owner of a file does. */
    enum Scenario {

        CHANGE_THE_MODE {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                FileHandle file = owner.create(top, "file", "hello");
                owner.mode(file, 0);
                owner.mode(file, 0644);
                assertEquals(0644, owner.attributes(file).mode());
                assertEquals("hello", owner.read(file));
            }
        },

        SET_THE_TIMES {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                FileHandle file = owner.create(top, "file");
                owner.mode(file, 0);
                owner.setAttributes(file, PAST_TIMES, null).ok(WccData::read);
                assertPast(owner.attributes(file), 0);
            }
        },

        SET_MODE_AND_TIMES_AT_ONCE {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                FileHandle file = owner.create(top, "file");
                owner.setAttributes(file, PAST_TIMES.withMode(0), null).ok(WccData::read);
                assertPast(owner.attributes(file), 0);
            }
        },

        TRUNCATE {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                FileHandle file = owner.create(top, "file", "hello");
                owner.mode(file, 0200);
                owner.setAttributes(file, Sattr.NONE.withSize(2), null).ok(WccData::read);
                assertEquals(0200, owner.attributes(file).mode());
                assertEquals(2, owner.attributes(file).size());
            }
        },

        CREATE_WITH_TIMES {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                assertPast(owner.create(top, "file", CreateMode.GUARDED, PAST_TIMES.withMode(0200), 0)
                        .ok(Created::read).attributes(), 0200);
            }
        },

        USE_A_DIRECTORY {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                Created directory = owner.makeDirectoryReply(top, "directory", PAST_TIMES.withMode(0300)).ok(Created::read);
                assertPast(directory.attributes(), 0300);
                owner.mode(directory.handle(), 0755);
                assertEquals(0755, owner.attributes(directory.handle()).mode());
            }
        },

        REPLACE_A_DIRECTORY {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                FileHandle directory = owner.makeDirectory(top, "directory");
                owner.mode(owner.makeDirectory(top, "replaced"), 0300);
                owner.rename(top, "directory", top, "replaced").ok(in -> List.of(WccData.read(in), WccData.read(in)));
                assertEquals(directory, owner.lookup(top, "replaced").handle());
            }
        },

        /** As an application goes on with a file that it has open. */
        USE_A_FILE_THAT_IT_MADE_READ_ONLY {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                FileHandle file = owner.create(top, "file", CreateMode.GUARDED, Sattr.NONE.withMode(0444), 0)
                        .ok(Created::read).handle();
                owner.write(file, 0, "hello");
                close(owner, top);
                owner.write(file, 0, "j");
                close(owner, top);
                owner.setAttributes(file, Sattr.NONE.withSize(4), null).ok(WccData::read);
                close(owner, top);
                NfsTime before = owner.attributes(file).changeTime();
                assertEquals(NfsStatus.OK, owner.call(NfsProcedure.COMMIT, new CommitArguments(file, 0, 0)).status());
                assertEquals(before, owner.attributes(file).changeTime(), "reading is enough to force a file");
                assertEquals("jell", owner.read(file));
                assertEquals(0444, owner.attributes(file).mode());
            }
        },

        USE_A_FILE_THAT_IT_MADE_UNREADABLE {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) {
                FileHandle file = owner.create(top, "file", "hello");
                owner.mode(file, 0);
                close(owner, top);
                owner.write(file, 0, "j");
                close(owner, top);
                assertEquals(NfsStatus.OK, owner.call(NfsProcedure.COMMIT, new CommitArguments(file, 0, 0)).status());
                close(owner, top);
                assertEquals("jello", owner.read(file));
                assertEquals(0, owner.attributes(file).mode());
            }
        },

        LEAVE_THE_TARGET_OF_A_LINK {
            @Override
            void run(Path root, NfsTestClient owner, FileHandle top) throws IOException {
                Path file = Files.createFile(root.resolve("file"));
                Path link = Files.createSymbolicLink(root.resolve("link"), file);
                UnixAttributes store = new UnixAttributes(root, false);
                store.setMode(file, 0);
                NfsTime before = store.read(file).attributes().modifyTime();
                assertThrows(IOException.class, () -> store.setMode(link, 0666));
                store.setTimes(link, PAST.toFileTime(), PAST.toFileTime());
                assertEquals(PAST, store.read(link).attributes().modifyTime());
                assertEquals(0, store.read(file).attributes().mode());
                assertEquals(before, store.read(file).attributes().modifyTime());
            }
        };

        abstract void run(Path root, NfsTestClient owner, FileHandle top) throws IOException;
    }

    /** Makes the server keep another file open in place of those that it has. */
    private static void close(NfsTestClient owner, FileHandle top) {
        owner.create(top, "other", "other");
        owner.remove(top, "other").ok(WccData::read);
    }

    private static void assertPast(Fattr attributes, int mode) {
        assertEquals(PAST, attributes.accessTime());
        assertEquals(PAST, attributes.modifyTime());
        assertEquals(mode, attributes.mode());
    }

    @ParameterizedTest
    @EnumSource(Scenario.class)
    void shouldLetTheOwner(Scenario scenario, @TempDir Path root) throws Exception {
        ProcessWithoutRights.run(UnreadableFileTest.class, scenario.name(), root.toRealPath().toString());
    }

    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments[1]);
        Path unreadable = Files.createFile(root.resolve("unreadable"));
        UnixAttributes store = new UnixAttributes(root, false);
        store.setMode(unreadable, 0);
        assertThrows(IOException.class, () -> Files.readString(unreadable));
        int user = store.read(root).attributes().userId();
        NfsServiceOptions options = NfsServiceOptions.DEFAULTS.withOpenFiles(1, TimeUnit.HOURS.toMillis(1));
        try (NfsService service = new NfsService(Export.of(root).withSquash(Squash.NONE), options)) {
            NfsTestClient owner = new NfsTestClient(service, NfsTestClient.user(user));
            Scenario.valueOf(arguments[0]).run(root, owner, owner.mount("/"));
            owner.close();
        }
    }
}
