package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.server.NfsTestClient.Data;

/** A file that becomes shorter between the look at its size and reading it. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class ShrinkingFileTest extends OpenFileTest {

    private final AtomicReference<Incident> afterSize = new AtomicReference<>();

    ShrinkingFileTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) {
        return new DelegatingChannel(channel) {
            @Override
            public long size() throws IOException {
                long size = super.size();
                once(afterSize);
                return size;
            }
        };
    }

    private Data readWhileTruncatedTo(long size) {
        afterSize.set(() -> {
            try (FileChannel channel = FileChannel.open(root.resolve("file"), StandardOpenOption.WRITE)) {
                channel.truncate(size);
            }
        });
        return client.readReply(file, 0, 5).ok(Data::read);
    }

    @Test
    void shouldTellTheEndThatTheFileHasNow() {
        Data data = readWhileTruncatedTo(2);
        assertEquals(2, data.count());
        assertTrue(data.endOfFile());
    }

    @Test
    void shouldTellTheEndWhereNothingIsLeft() {
        Data data = readWhileTruncatedTo(0);
        assertEquals(0, data.count());
        assertTrue(data.endOfFile());
    }
}
