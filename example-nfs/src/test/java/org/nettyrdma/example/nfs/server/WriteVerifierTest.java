package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.server.NfsTestClient.Written;

/** What clients are told when a file system loses what they wrote, of which it tells once. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class WriteVerifierTest extends OpenFileTest {

    private static final Incident FAILURE = () -> {
        throw new IOException("Input/output error");
    };
    private static final byte[] DATA = {1, 2, 3, 4};

    private final AtomicReference<Incident> atWrite = new AtomicReference<>();
    private final AtomicReference<Incident> atForce = new AtomicReference<>();
    private final AtomicReference<Incident> atClose = new AtomicReference<>();

    WriteVerifierTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) {
        return new DelegatingChannel(channel) {

            @Override
            public int write(ByteBuffer from, long position) throws IOException {
                once(atWrite);
                return super.write(from, position);
            }

            @Override
            public void force(boolean metaData) throws IOException {
                once(atForce);
                super.force(metaData);
            }

            @Override
            protected void implCloseChannel() throws IOException {
                super.implCloseChannel();
                once(atClose);
            }
        };
    }

    private long writeUnstable() {
        return client.write(file, 0, DATA, StableHow.UNSTABLE).ok(Written::read).verifier();
    }

    private NfsTestClient.Reply commit(NfsTestClient caller) {
        return caller.call(NfsProcedure.COMMIT, new CommitArguments(file, 0, 0));
    }

    private static long verifierOfCommit(ByteBuf results) {
        WccData.read(results);
        return Xdr.readHyper(results, "verf");
    }

    @Test
    void shouldChangeWhenACommitFails() {
        long verifier = writeUnstable();
        atForce.set(FAILURE);
        assertEquals(NfsStatus.IO, commit(another()).status());
        assertNotEquals(verifier, commit(client).ok(WriteVerifierTest::verifierOfCommit));
    }

    /** What fsync(2) says of such a file reaches the application; nothing was lost. */
    @Test
    void shouldNotChangeWhereAFileCannotBeForced() {
        long verifier = writeUnstable();
        atForce.set(() -> {
            throw new IOException("Invalid argument");
        });
        assertEquals(NfsStatus.INVAL, commit(another()).status());
        assertEquals(verifier, commit(client).ok(WriteVerifierTest::verifierOfCommit));
    }

    @Test
    void shouldChangeWhenAStableWriteFails() {
        for (StableHow stable : List.of(StableHow.FILE_SYNC, StableHow.DATA_SYNC)) {
            long verifier = writeUnstable();
            atForce.set(FAILURE);
            assertEquals(NfsStatus.IO, another().write(file, 100, DATA, stable).status());
            assertNotEquals(verifier, commit(client).ok(WriteVerifierTest::verifierOfCommit));
        }
    }

    @Test
    void shouldChangeWhenAWriteFails() {
        long verifier = writeUnstable();
        atWrite.set(FAILURE);
        assertEquals(NfsStatus.IO, another().write(file, 100, DATA, StableHow.UNSTABLE).status());
        assertNotEquals(verifier, commit(client).ok(WriteVerifierTest::verifierOfCommit));
    }

    /** Any client may provoke that, and would make all others write again. */
    @Test
    void shouldNotChangeWhenAWriteIsRefused() {
        Map<String, NfsStatus> refusals = Map.of("File too large", NfsStatus.FBIG, "No space left on device", NfsStatus.NOSPC,
                "Disk quota exceeded", NfsStatus.DQUOT);
        refusals.forEach((text, status) -> {
            long verifier = writeUnstable();
            atWrite.set(() -> {
                throw new IOException(text);
            });
            assertEquals(status, another().write(file, 100, DATA, StableHow.UNSTABLE).status());
            assertEquals(verifier, commit(client).ok(WriteVerifierTest::verifierOfCommit));
        });
    }

    @Test
    void shouldChangeWhenAFileCannotBeClosed() {
        long verifier = writeUnstable();
        atClose.set(FAILURE);
        openFiles.close();
        assertNotEquals(verifier, commit(client).ok(WriteVerifierTest::verifierOfCommit));
    }

    /** As one thread does again and again, which would end. */
    @Test
    void shouldGoOnWhereAFileCannotBeClosedForAnError() {
        long verifier = writeUnstable();
        atClose.set(() -> {
            throw new InternalError("test");
        });
        openFiles.close();
        assertNotEquals(verifier, commit(client).ok(WriteVerifierTest::verifierOfCommit));
    }

    /** What was lost while a call wrote may have been of that call. */
    @Test
    void shouldAnswerAWriteWithTheVerifierOfBefore() {
        atForce.set(FAILURE);
        atWrite.set(() -> assertEquals(NfsStatus.IO, commit(another()).status()));
        long verifier = writeUnstable();
        assertNotEquals(verifier, commit(client).ok(WriteVerifierTest::verifierOfCommit));
    }

    @Test
    void shouldNotCallStableWhatWasLostMeanwhile() {
        atWrite.set(() -> {
            atForce.set(FAILURE);
            assertEquals(NfsStatus.IO, commit(another()).status());
        });
        assertEquals(NfsStatus.JUKEBOX, client.write(file, 0, DATA, StableHow.FILE_SYNC).status());
        assertEquals(NfsStatus.OK, client.write(file, 0, DATA, StableHow.FILE_SYNC).status());
    }

    /** The operating system has told the first of two calls of the failure, which has not come to changing the verifier. */
    @Test
    void shouldNotCommitBesideACallThatIsAboutToFail() throws Exception {
        long verifier = writeUnstable();
        CountDownLatch failing = new CountDownLatch(1);
        CountDownLatch mayFail = new CountDownLatch(1);
        atForce.set(() -> {
            failing.countDown();
            await(mayFail);
            FAILURE.happen();
        });
        NfsTestClient loser = another();
        FutureTask<NfsStatus> failure = new FutureTask<>(() -> commit(loser).status());
        new Thread(failure).start();
        await(failing);
        CountDownLatch forcing = new CountDownLatch(1);
        atForce.set(forcing::countDown);
        FutureTask<Long> success = new FutureTask<>(() -> commit(client).ok(WriteVerifierTest::verifierOfCommit));
        Thread thread = new Thread(success);
        thread.start();
        await(forcing);
        awaitWaiting(thread, success);
        mayFail.countDown();
        assertEquals(NfsStatus.IO, failure.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS));
        assertNotEquals(verifier, success.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS));
    }
}
