package org.nettyrdma.example.nfs.server;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.example.nfs.protocol.FileHandle;

/** Programs that serve the directory as the service does, but for what their channels to files do. */
abstract class OpenFileTest extends NfsTest {

    /** What happens once. */
    interface Incident {
        void happen() throws IOException;
    }

    /** How many are kept open. */
    static final int OPEN_FILES = 8;
    static final long GIVE_UP_NANOS = TimeUnit.SECONDS.toNanos(20);

    private RpcProgram[] programs;
    OpenFiles openFiles;
    FileHandle file;

    OpenFileTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    /** Puts something else into the place of a channel that was opened for the file called "file". */
    abstract FileChannel replace(FileChannel channel) throws IOException;

    /** The same where the file is only to be open. */
    Closeable replaceUnused(Closeable opened) {
        return opened;
    }

    /** The file called "file" is about to be opened. */
    void opening() {
        // nothing holds that up
    }

    @BeforeEach
    void serveFile() throws IOException {
        FileTree tree = newTree();
        WriteVerifier verifier = new WriteVerifier();
        openFiles = new OpenFiles(tree, verifier, OPEN_FILES, TimeUnit.HOURS.toMillis(1), new OpenFiles.Opener() {
            @Override
            public FileChannel open(Path path, OpenOption how) throws IOException {
                boolean isFile = path.endsWith("file");
                if (isFile) {
                    opening();
                }
                FileChannel channel = FileChannel.open(path, how, NOFOLLOW_LINKS);
                return isFile ? replace(channel) : channel;
            }

            @Override
            public Closeable openIn(SecureDirectoryStream<Path> directory, Path name, OpenOption how) throws IOException {
                if (name.endsWith("file")) {
                    opening();
                }
                Closeable opened = OpenFiles.Opener.super.openIn(directory, name, how);
                return name.endsWith("file") ? replaceUnused(opened) : opened;
            }
        });
        programs = newPrograms(tree, openFiles, verifier, options());
        client.create(top, "file", "hello");
        client = another();
        top = client.mount("/");
        file = client.lookup(top, "file").handle();
    }

    @AfterEach
    void closeFiles() {
        openFiles.close();
    }

    /** A client of the same user, for another thread. */
    NfsTestClient another() {
        return another(NfsTestClient.user(USER));
    }

    NfsTestClient another(AuthSys user) {
        return closeAtTheEnd(new NfsTestClient(user.toOpaqueAuth(), programs));
    }

    static void once(AtomicReference<Incident> incident) throws IOException {
        Incident now = incident.getAndSet(null);
        if (now != null) {
            now.happen();
        }
    }

    static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(GIVE_UP_NANOS, TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits until a thread waits for something, or has done. */
    static void awaitWaiting(Thread thread, Future<?> task) {
        long giveUpNanos = System.nanoTime() + GIVE_UP_NANOS;
        while (thread.getState() != Thread.State.WAITING && !task.isDone()) {
            assertTrue(System.nanoTime() - giveUpNanos < 0, "still running");
            Thread.onSpinWait();
        }
    }
}
