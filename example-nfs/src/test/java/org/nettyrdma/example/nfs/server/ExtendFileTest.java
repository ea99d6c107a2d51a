package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.WccData;

/** A file that is extended for as long as the test wants. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExtendFileTest extends OpenFileTest {

    private final AtomicReference<Incident> atWrite = new AtomicReference<>();
    private final CountDownLatch mayExtend = new CountDownLatch(1);
    private FutureTask<NfsTestClient.Reply> extended;

    ExtendFileTest(TestFileSystem fileSystem) {
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
        };
    }

    private void begin(Function<NfsTestClient, NfsTestClient.Reply> call) {
        CountDownLatch extending = new CountDownLatch(1);
        atWrite.set(() -> {
            extending.countDown();
            await(mayExtend);
        });
        NfsTestClient caller = another();
        extended = new FutureTask<>(() -> call.apply(caller));
        new Thread(extended).start();
        await(extending);
    }

    private NfsTestClient.Reply end() throws Exception {
        mayExtend.countDown();
        return extended.get(GIVE_UP_NANOS, TimeUnit.NANOSECONDS);
    }

    private void useOtherNames() {
        client.create(top, "other", "content");
        client.rename(top, "other", top, "renamed").expect(NfsStatus.OK);
        assertEquals("content", client.read(client.lookup(top, "renamed").handle()));
    }

    @Test
    void shouldServeOthersWhileAFileIsExtended() throws Exception {
        begin(caller -> caller.setAttributes(file, Sattr.NONE.withSize(7).withMode(0640), null));
        useOtherNames();
        WccData changes = end().ok(WccData::read);
        assertEquals(7, changes.before().size(), "the state before it was extended is not right before what is told");
        assertEquals(7, changes.after().size());
        assertEquals(0640, changes.after().mode());
        assertEquals("hello\0\0", client.read(file));
    }

    @Test
    void shouldServeOthersWhileCreateExtendsAFile() throws Exception {
        begin(caller -> caller.create(top, "file", CreateMode.UNCHECKED, Sattr.NONE.withSize(7).withMode(0600), 0));
        useOtherNames();
        assertEquals(7, end().ok(NfsTestClient.Created::read).attributes().size());
        assertEquals("hello\0\0", client.read(file));
    }

    @Test
    void shouldExtendTheFileThatHasTheNameThen() throws Exception {
        begin(caller -> caller.create(top, "file", CreateMode.UNCHECKED, Sattr.NONE.withSize(7), 0));
        client.rename(top, "file", top, "old").expect(NfsStatus.OK);
        client.create(top, "file", "other");
        end().expect(NfsStatus.OK);
        assertEquals("other\0\0", client.read(client.lookup(top, "file").handle()));
    }

    @Test
    void shouldSayThatAFileIsGoneThatWasRemovedMeanwhile() throws Exception {
        begin(caller -> caller.setAttributes(file, Sattr.NONE.withSize(7), null));
        client.remove(top, "file").expect(NfsStatus.OK);
        end().expect(NfsStatus.STALE);
    }
}
