package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileSystemStatus;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.server.NfsTestClient.Reply;

/** A client that makes names without end, on a file system that keeps them in memory. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class NameQuotaTest extends NfsTest {

    private static final int NAMES = 8;

    NameQuotaTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    NfsServiceOptions options() {
        return NfsServiceOptions.DEFAULTS.withMaxNameBytes(NAMES * NameQuota.NAME_BYTES);
    }

    private static void expect(NfsStatus status, Reply reply) {
        assertEquals(status.code(), reply.body().readInt());
    }

    private Reply create(String name) {
        return client.create(top, name, CreateMode.GUARDED, Sattr.NONE, 0);
    }

    /** So many names and not one more. */
    private void assertRoomFor(int count, IntFunction<Reply> newName, Consumer<Integer> removal) {
        for (int i = 0; i < count; i++) {
            expect(NfsStatus.OK, newName.apply(i));
        }
        expect(NfsStatus.NOSPC, newName.apply(count));
        for (int i = 0; i < count; i++) {
            removal.accept(i);
        }
    }

    @Test
    void shouldRefuseMoreNamesOfAnyKindThanThereIsRoomFor() {
        assertRoomFor(NAMES, i -> create("file" + i), i -> expect(NfsStatus.OK, client.remove(top, "file" + i)));
        assertRoomFor(NAMES, i -> client.makeDirectoryReply(top, "directory" + i, Sattr.NONE),
                i -> expect(NfsStatus.OK, client.removeDirectory(top, "directory" + i)));
        FileHandle file = client.create(top, "linked");
        assertRoomFor(NAMES - 1, i -> client.link(file, top, "link" + i),
                i -> expect(NfsStatus.OK, client.remove(top, "link" + i)));
        expect(NfsStatus.OK, client.remove(top, "linked"));
        assertRoomFor(NAMES, i -> create("file" + i), i -> expect(NfsStatus.OK, client.remove(top, "file" + i)));
    }

    @Test
    void shouldCountEachNameInTheTargetOfASymbolicLink() {
        int targetNames = (int) ((NAMES / 2 - 1) * NameQuota.NAME_BYTES / NameQuota.TARGET_NAME_BYTES);
        String target = "a/".repeat(targetNames);
        for (int round = 0; round < 2; round++) {
            assertRoomFor(2, i -> client.symbolicLink(top, "link" + i, target),
                    i -> expect(NfsStatus.OK, client.remove(top, "link" + i)));
        }
    }

    @Test
    void shouldHaveRoomAgainForWhatARenameReplaced() {
        assertRoomFor(NAMES, i -> create("file" + i), i -> { });
        expect(NfsStatus.OK, client.rename(top, "file0", top, "file1"));
        expect(NfsStatus.OK, create("file0"));
        expect(NfsStatus.OK, client.rename(top, "file0", top, "other"));
        expect(NfsStatus.NOSPC, create("file0"));
    }

    @Test
    void shouldHaveRoomAgainForWhatCouldNotBeFinished() {
        Sattr forbidden = Sattr.NONE.withOwner(OTHER_USER, OTHER_USER);
        for (int i = 0; i < 2 * NAMES; i++) {
            expect(NfsStatus.PERM, client.create(top, "file" + i, CreateMode.GUARDED, forbidden, 0));
        }
        assertRoomFor(NAMES, i -> create("file" + i), i -> { });
    }

    @Test
    void shouldTakeWritesAndNewAttributesWhereThereIsNoRoomForNames() {
        assertRoomFor(NAMES, i -> create("file" + i), i -> { });
        FileHandle file = client.lookup(top, "file0").handle();
        client.write(file, 0, "content");
        assertEquals("content", client.read(file));
        expect(NfsStatus.OK, client.setAttributes(file, Sattr.NONE.withMode(0640), null));
    }

    @Test
    void shouldTellHowManyNamesThereIsRoomFor() {
        expect(NfsStatus.OK, create("file"));
        FileSystemStatus status = client.call(NfsProcedure.FSSTAT, top).ok(in -> {
            Fattr.readOptional(in);
            return FileSystemStatus.read(in);
        });
        assertEquals(NAMES, status.totalFiles());
        assertEquals(NAMES - 1, status.freeFiles());
        assertEquals(NAMES - 1, status.availableFiles());
    }
}
