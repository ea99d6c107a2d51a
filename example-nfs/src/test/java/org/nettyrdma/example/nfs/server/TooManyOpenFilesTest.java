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

/** A file that cannot be opened as long as others are open, as where a process may have no more. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class TooManyOpenFilesTest extends OpenFileTest {

    TooManyOpenFilesTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) throws IOException {
        if (openFiles.size() > 0) {
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
    void shouldReadWhenAskedAgain() {
        assertEquals(NfsStatus.JUKEBOX, client.readReply(file, 0, 5).status());
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldWriteWhenAskedAgain() {
        assertEquals(NfsStatus.JUKEBOX, client.write(file, 0, new byte[1], StableHow.UNSTABLE).status());
        assertEquals(1, client.write(file, 0, new byte[1], StableHow.UNSTABLE).ok(NfsTestClient.Written::read).count());
    }
}
