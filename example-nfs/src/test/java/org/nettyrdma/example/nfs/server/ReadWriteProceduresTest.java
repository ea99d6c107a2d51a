package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.protocol.WriteArguments;
import org.nettyrdma.example.nfs.server.NfsTestClient.Data;
import org.nettyrdma.example.nfs.server.NfsTestClient.Written;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class ReadWriteProceduresTest extends NfsTest {

    private static final int MIB = 1024 * 1024;

    ReadWriteProceduresTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private NfsTestClient.Reply commit(FileHandle file, long offset, long count) {
        return client.call(NfsProcedure.COMMIT, new CommitArguments(file, offset, count));
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @Test
    void shouldReadWhatWasWritten() throws IOException {
        FileHandle file = client.create(top, "file");
        for (int length : List.of(0, 1, 2, 3, 4, 5, 1023, 1024, 4097, 65536, MIB)) {
            byte[] bytes = random(length);
            Written written = client.write(file, 0, bytes, StableHow.UNSTABLE).ok(Written::read);
            assertEquals(length, written.count());
            assertEquals(StableHow.UNSTABLE.code(), written.stable());
            Data data = client.readReply(file, 0, length).ok(Data::read);
            assertArrayEquals(bytes, data.bytes());
            assertEquals(length, data.count());
            assertTrue(data.endOfFile());
            assertArrayEquals(bytes, Files.readAllBytes(root.resolve("file")));
        }
    }

    @Test
    void shouldAlwaysReplyAttributesAndTheDataItemToRead() {
        FileHandle file = client.create(top, "file", "hello");
        NfsTestClient.Reply reply = client.readReply(file, 0, 100);
        Data data = reply.ok(Data::read);
        assertEquals(5, data.attributes().size());
        // status, attributes, count, eof and length: the client computes this size beforehand
        assertEquals(List.of(new DataItem(4 + 4 + 84 + 4 + 4 + 4, 5)), reply.items());
        assertEquals(104 + 8, reply.body().readableBytes());
        assertNotNull(client.readReply(file, 5, 100).ok(Data::read).attributes());
    }

    @Test
    void shouldTellTheEndOfTheFile() {
        FileHandle file = client.create(top, "file", "hello");
        assertFalse(client.readReply(file, 0, 4).ok(Data::read).endOfFile());
        assertTrue(client.readReply(file, 0, 5).ok(Data::read).endOfFile());
        assertTrue(client.readReply(file, 3, 100).ok(Data::read).endOfFile());
        assertEquals(0, client.readReply(file, 5, 100).ok(Data::read).count());
        assertTrue(client.readReply(file, 1000, 100).ok(Data::read).endOfFile());
        assertTrue(client.readReply(file, -1, 100).ok(Data::read).endOfFile());
        assertFalse(client.readReply(file, 0, 0).ok(Data::read).endOfFile());
    }

    @Test
    void shouldCutLongReadsAndWrites() throws IOException {
        restart(export(), options().withMaxTransferBytes(4096, 8192));
        FileHandle file = client.create(client.mount("/"), "file");
        byte[] bytes = random(10_000);
        assertEquals(8192, client.write(file, 0, bytes, StableHow.UNSTABLE).ok(Written::read).count());
        Data data = client.readReply(file, 0, 0xFFFF_FFFFL).ok(Data::read);
        assertArrayEquals(Arrays.copyOf(bytes, 4096), data.bytes());
        assertFalse(data.endOfFile());
    }

    @Test
    void shouldWriteAnywhere() {
        FileHandle file = client.create(top, "file");
        client.write(file, 10, "later");
        client.write(file, 0, "early");
        client.write(file, 12, "TT");
        assertEquals("early\0\0\0\0\0laTTr", client.read(file));
    }

    @Test
    void shouldNotLetAWriteThatComesAgainUndoALaterOne() throws IOException {
        FileHandle file = client.create(top, "file");
        byte[] before = random(MIB);
        byte[] after = random(MIB - 1);
        NfsTestClient reconnected = as(NfsTestClient.user(USER));
        Written answer = write(client, 1000, file, before).ok(Written::read);
        write(reconnected, 1001, file, after).ok(Written::read);

        assertEquals(answer, write(client, 1000, file, before).ok(Written::read));

        byte[] expected = before.clone();
        System.arraycopy(after, 0, expected, 0, after.length);
        assertArrayEquals(expected, Files.readAllBytes(root.resolve("file")));
    }

    private static NfsTestClient.Reply write(NfsTestClient by, int xid, FileHandle file, byte[] data) {
        return by.call(xid, NfsProcedure.WRITE,
                new WriteArguments(file, 0, data.length, StableHow.UNSTABLE, Unpooled.wrappedBuffer(data)));
    }

    @Test
    void shouldKeepHoles() {
        FileHandle file = client.create(top, "file");
        client.write(file, 3 * MIB + 1, "end");
        assertEquals(3 * MIB + 4, client.attributes(file).size());
        assertArrayEquals(new byte[100], client.readReply(file, MIB, 100).ok(Data::read).bytes());
    }

    @Test
    void shouldWriteAsStableAsAsked() {
        FileHandle file = client.create(top, "file");
        for (StableHow stable : StableHow.values()) {
            assertEquals(stable.code(), client.write(file, 0, random(100), stable).ok(Written::read).stable());
        }
    }

    @Test
    void shouldKeepTheVerifierUntilRestart() throws IOException {
        FileHandle file = client.create(top, "file");
        long verifier = client.write(file, 0, random(100), StableHow.UNSTABLE).ok(Written::read).verifier();
        assertEquals(verifier, client.write(file, 0, random(100), StableHow.FILE_SYNC).ok(Written::read).verifier());
        long committed = commit(file, 0, 0).ok(in -> {
            assertNotNull(WccData.read(in).after());
            return Xdr.readHyper(in, "verf");
        });
        assertEquals(verifier, committed);
        restart(export(), options());
        FileHandle again = client.lookup(client.mount("/"), "file").handle();
        assertNotEquals(verifier, client.write(again, 0, random(100), StableHow.UNSTABLE).ok(Written::read).verifier());
    }

    /** Between before and after others may have written, which the client would take for its own change. */
    @Test
    void shouldTellAttributesAfterAWriteOrCommitOnly() {
        FileHandle file = client.create(top, "file", "hello");
        WccData written = client.write(file, 5, random(3), StableHow.UNSTABLE).ok(Written::read).file();
        assertNull(written.before());
        assertEquals(8, written.after().size());
        WccData committed = commit(file, 0, 0).ok(in -> {
            WccData changes = WccData.read(in);
            Xdr.readHyper(in, "verf");
            return changes;
        });
        assertNull(committed.before());
        assertEquals(8, committed.after().size());
    }

    @Test
    void shouldRefuseReads() {
        assertAttributes(client.readReply(top, 0, 1), NfsStatus.INVAL);
        assertNoAttributes(client.readReply(forged(top), 0, 1), NfsStatus.BADHANDLE);
        assertNoAttributes(client.readReply(staleHandle(), 0, 1), NfsStatus.STALE);
        FileHandle file = client.create(top, "file");
        client.mode(file, 0640);
        assertAttributes(as(NfsTestClient.user(OTHER_USER)).readReply(file, 0, 1), NfsStatus.ACCES);
    }

    @Test
    void shouldRefuseWrites() {
        FileHandle file = client.create(top, "file");
        byte[] bytes = random(10);
        assertSharedChanges(client.write(top, 0, bytes, StableHow.UNSTABLE), NfsStatus.INVAL);
        assertNoChanges(client.write(forged(top), 0, bytes, StableHow.UNSTABLE), NfsStatus.BADHANDLE);
        assertNoChanges(client.write(staleHandle(), 0, bytes, StableHow.UNSTABLE), NfsStatus.STALE);
        assertSharedChanges(client.write(file, -1, bytes, StableHow.UNSTABLE), NfsStatus.FBIG);
        assertSharedChanges(client.write(file, Long.MAX_VALUE - 5, bytes, StableHow.UNSTABLE), NfsStatus.FBIG);
        assertSharedChanges(as(NfsTestClient.user(OTHER_USER)).write(file, 0, bytes, StableHow.UNSTABLE), NfsStatus.ACCES);
        assertSharedChanges(client.call(NfsProcedure.WRITE,
                new WriteArguments(file, 0, 11, StableHow.UNSTABLE, Unpooled.wrappedBuffer(bytes))), NfsStatus.INVAL);
        assertEquals("", client.read(file));
    }

    @Test
    void shouldPutTheReplyOfAReadTogetherOnce() {
        String large = "hello".repeat(2000); // small ones are copied behind the header
        assertEquals(large, client.read(client.create(top, "file", large)));
        assertEquals(3, client.maxReplyPieces(), "header, results and data in the program's own buffer");
    }

    @Test
    void shouldTellWhenAFileGetsTooLarge() {
        FileHandle file = client.create(top, "file");
        assertSharedChanges(client.write(file, 1L << 61, random(10), StableHow.UNSTABLE), NfsStatus.FBIG);
    }

    @Test
    void shouldTellWhenTheFileSystemIsFull() {
        assumeTrue(fileSystem == TestFileSystem.MEMORY, "a disk is too large to fill");
        FileHandle file = client.create(top, "file", "hello");
        client.write(client.create(top, "large"), TestFileSystem.MAX_BYTES / 2, "large");
        assertSharedChanges(client.write(file, TestFileSystem.MAX_BYTES - 10, random(10), StableHow.UNSTABLE), NfsStatus.NOSPC);
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldLetTheOwnerReadAndWriteWhateverTheMode() {
        FileHandle file = client.create(top, "file", "hello");
        client.mode(file, 0);
        assumeFilesCanBeGivenAway(); // else the operating system refuses this process to open the file
        client.write(file, 0, "J");
        assertEquals("Jello", client.read(file));
    }

    @Test
    void shouldLetWhoMayExecuteReadForThat() {
        FileHandle file = client.create(top, "file", "program");
        client.mode(file, 0711);
        assertEquals("program", as(NfsTestClient.user(OTHER_USER)).read(file));
    }

    @Test
    void shouldRefuseCommits() {
        assertSharedChanges(commit(top, 0, 0), NfsStatus.INVAL);
        assertNoChanges(commit(forged(top), 0, 0), NfsStatus.BADHANDLE);
        assertNoChanges(commit(staleHandle(), 0, 0), NfsStatus.STALE);
    }

    @Test
    void shouldCloseFilesBeyondTheLimitAndAfterRemove() throws IOException {
        restart(export(), options().withOpenFiles(2, 60_000).withAsync(true)); // with which no directory is open
        FileHandle directory = client.mount("/");
        for (int i = 0; i < 5; i++) {
            client.create(directory, "file" + i, "content" + i);
        }
        assertEquals(2, service.openFiles());
        for (int i = 0; i < 5; i++) {
            assertEquals("content" + i, client.read(client.lookup(directory, "file" + i).handle()));
            client.remove(directory, "file" + i).ok(WccData::read);
        }
        assertEquals(0, service.openFiles());
    }

    @Test
    void shouldCloseIdleFiles() throws Exception {
        restart(export(), options().withOpenFiles(10, 20));
        client.create(client.mount("/"), "file", "hello");
        long giveUpNanos = System.nanoTime() + 30_000_000_000L;
        while (service.openFiles() > 0) {
            assertTrue(System.nanoTime() < giveUpNanos);
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldServeTheNextCallAfterAnInterrupt() {
        FileHandle file = client.create(top, "file", "hello");
        client.read(file);
        Thread.currentThread().interrupt();
        NfsStatus status = client.readReply(file, 0, 5).status();
        assertTrue(Thread.interrupted() || fileSystem == TestFileSystem.MEMORY);
        assertEquals(NfsStatus.JUKEBOX, status);
        assertEquals("hello", client.read(file));
    }
}
