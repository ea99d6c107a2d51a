package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.StableHow;

/** A file that cannot be opened as long as others are kept open, or at all, as where a process may have no more. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class TooManyOpenFilesTest extends OpenFileTest {

    /** As where others have all descriptors. */
    private boolean isHopeless;

    TooManyOpenFilesTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) throws IOException {
        if (isHopeless || openFiles.size() > 0) {
            channel.close();
            throw new FileSystemException("file", null, "Too many open files");
        }
        return channel;
    }

    @BeforeEach
    void openAnother() {
        assertEquals("other", client.read(client.create(top, "another", "other")));
    }

    @Test
    void shouldReadWithTheDescriptorOfAFileThatWasKept() {
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldWriteWithTheDescriptorOfAFileThatWasKept() {
        assertEquals(1, client.write(file, 0, new byte[1], StableHow.UNSTABLE).ok(NfsTestClient.Written::read).count());
    }

    @Test
    void shouldAskToComeAgainWhereNoneIsKept() {
        isHopeless = true;
        assertEquals(NfsStatus.JUKEBOX, client.readReply(file, 0, 5).status());
        assertEquals(NfsStatus.JUKEBOX, client.write(file, 0, new byte[1], StableHow.UNSTABLE).status());
        isHopeless = false;
        assertEquals("hello", client.read(file));
    }
}
