package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;

/** A file whose blocks the file system frees slowly, as where they are many and apart, and nobody has it open. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SlowFreeTest extends OpenFileTest {

    private interface Call {
        NfsTestClient.Reply make(NfsTestClient client, FileHandle file, FileHandle directory);
    }

    /** What frees the blocks of the file. */
    enum Use {
        REMOVE((client, file, directory) -> client.remove(directory, "file")),
        REPLACE((client, file, directory) -> client.rename(directory, "other", directory, "file")),
        TRUNCATE((client, file, directory) -> client.setAttributes(file, Sattr.NONE.withSize(0), null)),
        CREATE((client, file, directory) -> client.create(directory, "file", CreateMode.UNCHECKED, Sattr.NONE.withSize(0), 0));

        private final Call call;

        Use(Call call) {
            this.call = call;
        }
    }

    private final CountDownLatch freeing = new CountDownLatch(1);
    private final CountDownLatch freed = new CountDownLatch(1);
    private volatile boolean isRemoved;

    SlowFreeTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) {
        return new DelegatingChannel(channel) {
            @Override
            public FileChannel truncate(long size) throws IOException {
                free();
                return super.truncate(size);
            }
        };
    }

    @Override
    Closeable replaceUnused(Closeable opened) {
        return () -> {
            if (isRemoved) {
                free();
            }
            opened.close();
        };
    }

    private void free() {
        freeing.countDown();
        await(freed);
    }

    @BeforeEach
    void close() {
        client.create(top, "other", "content");
        openFiles.close();
    }

    @ParameterizedTest
    @EnumSource(Use.class)
    void shouldServeNamesMeanwhile(Use use) throws Exception {
        isRemoved = use == Use.REMOVE || use == Use.REPLACE;
        NfsTestClient caller = another();
        FutureTask<NfsStatus> task = new FutureTask<>(() -> use.call.make(caller, file, top).status());
        new Thread(task).start();
        await(freeing);
        client.create(top, "new", "content");
        client.rename(top, "new", top, "renamed").expect(NfsStatus.OK);
        client.remove(top, "renamed").expect(NfsStatus.OK);
        freed.countDown();
        assertEquals(NfsStatus.OK, task.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS));
    }
}
