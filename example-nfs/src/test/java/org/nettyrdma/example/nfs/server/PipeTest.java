package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** A pipe without a writer, which clients move to where a file is: to open it would keep a thread for ever. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PipeTest extends OpenFileTest {

    private interface Call {
        NfsTestClient.Reply make(NfsTestClient client, FileHandle file, FileHandle directory);
    }

    /** What opens the file without the name lock. */
    enum Use {
        READ((client, file, directory) -> client.readReply(file, 0, 5)),
        REMOVE((client, file, directory) -> client.remove(directory, "file"));

        private final Call call;

        Use(Call call) {
            this.call = call;
        }
    }

    /** How the pipe gets the name of the file. */
    enum Move {
        RENAME((client, pipe, directory) -> client.rename(directory, "pipe", directory, "file")),
        LINK((client, pipe, directory) -> {
            client.rename(directory, "file", directory, "moved").expect(NfsStatus.OK);
            return client.link(pipe, directory, "file");
        });

        private final Call call;

        Move(Call call) {
            this.call = call;
        }
    }

    private final CountDownLatch opening = new CountDownLatch(1);
    private final CountDownLatch moved = new CountDownLatch(1);
    private volatile boolean isHeldUp;
    private FileHandle pipe;

    PipeTest() {
        super(TestFileSystem.DIRECTORY); // only the operating system has pipes
    }

    @Override
    FileChannel replace(FileChannel channel) {
        return channel;
    }

    @Override
    void opening() {
        if (isHeldUp) {
            opening.countDown();
            await(moved);
        }
    }

    @BeforeEach
    void makePipe() throws Exception {
        assertEquals(0, new ProcessBuilder("mkfifo", "--mode=666", root.resolve("pipe").toString()).start().waitFor());
        pipe = client.lookup(top, "pipe").handle();
        openFiles.close();
        isHeldUp = true;
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotComeIntoThePlaceOfAFileThatIsBeingRead(Move move) throws Exception {
        FutureTask<NfsStatus> reading = begin(Use.READ);
        assertEquals(NfsStatus.JUKEBOX, move.call.make(client, pipe, top).status());
        assertEquals(NfsStatus.OK, end(reading));
    }

    @ParameterizedTest
    @EnumSource(Use.class)
    void shouldMoveWhenTheFileIsOpen(Use use) throws Exception {
        FutureTask<NfsStatus> using = begin(use);
        assertEquals(NfsStatus.JUKEBOX, client.rename(top, "pipe", top, "other").status());
        assertEquals(NfsStatus.OK, end(using));
        assertEquals(NfsStatus.OK, client.rename(top, "pipe", top, "other").status());
    }

    private FutureTask<NfsStatus> begin(Use use) {
        NfsTestClient caller = another();
        FutureTask<NfsStatus> task = new FutureTask<>(() -> use.call.make(caller, file, top).status());
        Thread thread = new Thread(task);
        thread.setDaemon(true); // one that opens the pipe never ends
        thread.start();
        await(opening);
        return task;
    }

    private NfsStatus end(FutureTask<NfsStatus> task) throws Exception {
        moved.countDown();
        return task.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS);
    }
}
