package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.TimeChange;

/** A file of which another process has a lease, so that opening it waits until that process gives it up. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeasedFileTest extends OpenFileTest {

    private interface Call {
        NfsTestClient.Reply make(NfsTestClient client, FileHandle file, FileHandle directory);
    }

    /** What opens the file. */
    enum Use {
        READ((client, file, directory) -> client.readReply(file, 0, 5)),
        WRITE((client, file, directory) -> client.write(file, 0, new byte[] {'H'}, StableHow.UNSTABLE)),
        COMMIT((client, file, directory) -> client.call(NfsProcedure.COMMIT, new CommitArguments(file, 0, 0))),
        EXTEND((client, file, directory) -> client.setAttributes(file, Sattr.NONE.withSize(9), null)),
        TRUNCATE((client, file, directory) -> client.setAttributes(file, Sattr.NONE.withSize(1), null)),
        SET_MODE((client, file, directory) -> client.setAttributes(file, Sattr.NONE.withMode(0600), null)),
        SET_TIME((client, file, directory) ->
                client.setAttributes(file, Sattr.NONE.withTimes(TimeChange.NONE, TimeChange.SERVER_TIME), null)),
        CREATE((client, file, directory) -> client.create(directory, "file", CreateMode.UNCHECKED, Sattr.NONE.withSize(0), 0)),
        CREATE_AGAIN((client, file, directory) -> client.create(directory, "file", CreateMode.UNCHECKED, Sattr.NONE, 0)),
        LINK((client, file, directory) -> client.link(file, directory, "link")),
        REMOVE((client, file, directory) -> client.remove(directory, "file"));

        private final Call call;

        Use(Call call) {
            this.call = call;
        }
    }

    private final CountDownLatch opening = new CountDownLatch(1);
    private final CountDownLatch givenUp = new CountDownLatch(1);
    private volatile boolean isLeased;

    LeasedFileTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) {
        return channel;
    }

    @Override
    void opening() {
        if (isLeased) {
            opening.countDown();
            await(givenUp);
        }
    }

    @BeforeEach
    void lease() {
        openFiles.close();
        isLeased = true;
    }

    private FutureTask<NfsStatus> begin(Use use) {
        return begin(use, another());
    }

    private FutureTask<NfsStatus> begin(Use use, NfsTestClient caller) {
        FutureTask<NfsStatus> task = new FutureTask<>(() -> use.call.make(caller, file, top).status());
        new Thread(task).start();
        await(opening);
        return task;
    }

    private NfsStatus afterLease(FutureTask<NfsStatus> task) throws Exception {
        assertFalse(task.isDone());
        givenUp.countDown();
        return task.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS);
    }

    @ParameterizedTest
    @EnumSource(Use.class)
    void shouldServeNamesWhileOneCallWaitsForALease(Use use) throws Exception {
        assertServesNamesWhile(begin(use));
    }

    @ParameterizedTest
    @EnumSource(value = Use.class, names = {"EXTEND", "SET_TIME"})
    void shouldServeNamesWhileACallerWhoMayOnlyWriteWaitsForALease(Use use) throws Exception {
        isLeased = false;
        client.setAttributes(file, Sattr.NONE.withMode(0622), null).expect(NfsStatus.OK);
        lease();
        assertServesNamesWhile(begin(use, another(NfsTestClient.user(OTHER_USER))));
    }

    private void assertServesNamesWhile(FutureTask<NfsStatus> waiting) throws Exception {
        FileHandle other = client.create(top, "other", "content");
        client.rename(top, "other", top, "renamed").expect(NfsStatus.OK);
        assertEquals("content", client.read(other));
        client.remove(top, "renamed").expect(NfsStatus.OK);
        assertEquals(NfsStatus.OK, afterLease(waiting));
    }

    @ParameterizedTest
    @EnumSource(value = Use.class, names = {"READ", "WRITE", "SET_MODE", "CREATE", "LINK"})
    void shouldHaveFurtherCallsComeAgainWhileOneWaitsForALease(Use use) throws Exception {
        FutureTask<NfsStatus> waiting = begin(Use.READ);
        assertEquals(NfsStatus.JUKEBOX, use.call.make(client, file, top).status());
        assertEquals(NfsStatus.OK, afterLease(waiting));
        assertEquals(NfsStatus.OK, use.call.make(client, file, top).status());
    }

    @ParameterizedTest
    @EnumSource(value = Use.class, names = {"READ", "WRITE"})
    void shouldNotWaitForALeaseWhereTheCallerMayNotUseTheFile(Use use) {
        isLeased = false;
        client.setAttributes(file, Sattr.NONE.withMode(0600), null).expect(NfsStatus.OK);
        lease();
        assertEquals(NfsStatus.ACCES, use.call.make(another(NfsTestClient.user(OTHER_USER)), file, top).status());
    }

    /** Names change while a call waits; it uses what it was called for. */
    @ParameterizedTest
    @EnumSource(value = Use.class, names = {"CREATE", "CREATE_AGAIN", "REMOVE"}, mode = EnumSource.Mode.EXCLUDE)
    void shouldUseTheFileOfTheHandleWhateverHasItsName(Use use) throws Exception {
        FutureTask<NfsStatus> waiting = begin(use);
        client.rename(top, "file", top, "moved").expect(NfsStatus.OK);
        FileHandle replacement = client.create(top, "file", "secret");
        assertEquals(NfsStatus.OK, afterLease(waiting));
        assertEquals("secret", client.read(replacement));
        assertEquals(0644, client.attributes(replacement).mode());
    }
}
