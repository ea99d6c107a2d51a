package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.WccData;

/** Sizes that are set while a call writes, which stays in the middle of it for as long as the test wants. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ContentsLockTest extends OpenFileTest {

    private final AtomicReference<Incident> atWrite = new AtomicReference<>();
    private final AtomicReference<Incident> afterWrite = new AtomicReference<>();
    private final AtomicReference<Incident> afterSize = new AtomicReference<>();
    private final CountDownLatch mayWrite = new CountDownLatch(1);
    private FutureTask<NfsStatus> written;

    ContentsLockTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) {
        return new DelegatingChannel(channel) {

            @Override
            public int write(ByteBuffer from, long position) throws IOException {
                once(atWrite);
                int count = super.write(from, position);
                once(afterWrite);
                return count;
            }

            @Override
            public long size() throws IOException {
                long size = super.size();
                once(afterSize);
                return size;
            }
        };
    }

    @BeforeEach
    void beginToWrite() {
        CountDownLatch writing = new CountDownLatch(1);
        atWrite.set(() -> {
            writing.countDown();
            await(mayWrite);
        });
        NfsTestClient writer = another();
        written = new FutureTask<>(() -> writer.write(file, 9, new byte[] {'X'}, StableHow.UNSTABLE).status());
        new Thread(written).start();
        await(writing);
    }

    private static NfsStatus resultOf(FutureTask<NfsStatus> call) {
        try {
            return call.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Starts a call, which goes on until it waits for the one that writes, or to its end. */
    private static FutureTask<NfsStatus> begin(Supplier<NfsTestClient.Reply> call) {
        FutureTask<NfsStatus> task = new FutureTask<>(() -> call.get().status());
        Thread thread = new Thread(task);
        thread.start();
        awaitWaiting(thread, task);
        return task;
    }

    private FutureTask<NfsStatus> beginToResize(long size) {
        NfsTestClient caller = another();
        return begin(() -> caller.setAttributes(file, Sattr.NONE.withSize(size), null));
    }

    private FutureTask<NfsStatus> beginToTruncateByCreate() {
        NfsTestClient caller = another();
        return begin(() -> caller.create(top, "file", CreateMode.UNCHECKED, Sattr.NONE.withSize(0), 0));
    }

    @Test
    void shouldNotExtendAFileOverWhatIsWrittenMeanwhile() {
        CountDownLatch wrote = new CountDownLatch(1);
        afterWrite.set(wrote::countDown);
        afterSize.set(() -> {
            mayWrite.countDown();
            await(wrote);
        });
        FutureTask<NfsStatus> resized = beginToResize(10);
        mayWrite.countDown();
        assertEquals(NfsStatus.OK, resultOf(written));
        assertEquals(NfsStatus.OK, resultOf(resized));
        assertEquals("hello\0\0\0\0X", client.read(file));
    }

    @Test
    void shouldServeOtherFilesWhileASizeWaits() {
        FutureTask<NfsStatus> resized = beginToResize(7);
        FutureTask<NfsStatus> truncated = beginToTruncateByCreate();
        FileHandle other = client.create(top, "other", "content");
        client.setAttributes(other, Sattr.NONE.withSize(4), null).ok(WccData::read);
        assertEquals("cont", client.read(client.lookup(top, "other").handle()));
        assertEquals("hello", client.read(file));
        mayWrite.countDown();
        assertEquals(NfsStatus.OK, resultOf(written));
        assertEquals(NfsStatus.OK, resultOf(resized));
        assertEquals(NfsStatus.OK, resultOf(truncated));
    }

    @Test
    void shouldRefuseAForgedHandleWithoutTheLockOfItsFile() {
        NfsTestClient caller = another();
        FileHandle forged = forged(file);
        assertEquals(NfsStatus.BADHANDLE,
                resultOf(begin(() -> caller.setAttributes(forged, Sattr.NONE.withMode(0640), null))));
        mayWrite.countDown();
        assertEquals(NfsStatus.OK, resultOf(written));
    }

    /** A client that knows the file of before takes what differs after for its own change. */
    @Test
    void shouldTellTheStateRightBeforeAChangeOfAttributes() {
        NfsTestClient caller = another();
        AtomicReference<WccData> changes = new AtomicReference<>();
        FutureTask<NfsStatus> changed = begin(() -> {
            NfsTestClient.Reply reply = caller.setAttributes(file, Sattr.NONE.withMode(0640), null);
            changes.set(reply.ok(WccData::read));
            return reply;
        });
        mayWrite.countDown();
        assertEquals(NfsStatus.OK, resultOf(written));
        assertEquals(NfsStatus.OK, resultOf(changed));
        assertEquals(10, changes.get().before().size());
        assertEquals(10, changes.get().after().size());
    }

    @Test
    void shouldTruncateTheFileThatHasTheNameThen() {
        FutureTask<NfsStatus> truncated = beginToTruncateByCreate();
        client.rename(top, "file", top, "old").expect(NfsStatus.OK);
        FileHandle replacement = client.create(top, "file", "other");
        mayWrite.countDown();
        assertEquals(NfsStatus.OK, resultOf(written));
        assertEquals(NfsStatus.OK, resultOf(truncated));
        assertEquals("hello\0\0\0\0X", client.read(file));
        assertEquals("", client.read(replacement));
    }
}
