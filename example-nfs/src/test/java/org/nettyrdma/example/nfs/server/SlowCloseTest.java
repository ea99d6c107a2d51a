package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** A file that takes long to close, as one that a file system of a network has to write back. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SlowCloseTest extends OpenFileTest {

    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch mayClose = new CountDownLatch(1);

    SlowCloseTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) {
        return new DelegatingChannel(channel) {
            @Override
            protected void implCloseChannel() throws IOException {
                closing.countDown();
                await(mayClose);
                super.implCloseChannel();
            }
        };
    }

    @BeforeEach
    void open() {
        openFiles.close();
        client.write(file, 0, "hello");
    }

    private void assertNamesAreServedWhile(Supplier<NfsStatus> call) throws Exception {
        FutureTask<NfsStatus> task = new FutureTask<>(call::get);
        new Thread(task).start();
        await(closing);
        client.create(top, "new");
        client.rename(top, "new", top, "renamed").expect(NfsStatus.OK);
        mayClose.countDown();
        assertEquals(NfsStatus.OK, task.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS));
    }

    @Test
    void shouldServeNamesWhileTheFileIsRemoved() throws Exception {
        NfsTestClient caller = another();
        assertNamesAreServedWhile(() -> caller.remove(top, "file").status());
    }

    @Test
    void shouldServeNamesWhileTheFileIsReplaced() throws Exception {
        client.create(top, "other");
        NfsTestClient caller = another();
        assertNamesAreServedWhile(() -> caller.rename(top, "other", top, "file").status());
    }

    @Test
    void shouldNotCloseInOneCallWhatAnotherHasRemoved() throws Exception {
        openFiles.evict(FileHandles.claimedId(file)); // as a call does that goes on, to have the change on the disk
        NfsTestClient other = another();
        FutureTask<NfsStatus> task = new FutureTask<>(() -> other.call(NfsProcedure.GETATTR, top::write).status());
        new Thread(task).start();
        assertEquals(NfsStatus.OK, task.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS));
        mayClose.countDown();
        assertEquals(1, closing.getCount(), "closed");
        openFiles.closeEvicted();
        assertEquals(0, closing.getCount(), "not closed");
    }

    @Test
    void shouldServeNamesWhileTheFileMakesRoomForOthers() throws Exception {
        NfsTestClient caller = another();
        Deque<FileHandle> others = new ArrayDeque<>();
        for (int i = 0; i < OPEN_FILES; i++) {
            Files.createFile(root.resolve("other" + i));
            others.add(client.lookup(top, "other" + i).handle());
        }
        assertNamesAreServedWhile(() -> {
            while (others.size() > 1) {
                caller.readReply(others.remove(), 0, 1).expect(NfsStatus.OK);
            }
            return caller.readReply(others.remove(), 0, 1).status();
        });
    }
}
