package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.server.NfsTestClient.Written;

/** A file system that has room for the beginning of what is written. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class PartialWriteTest extends OpenFileTest {

    private static final Map<String, NfsStatus> REFUSALS = Map.of("File too large", NfsStatus.FBIG,
            "No space left on device", NfsStatus.NOSPC, "Disk quota exceeded", NfsStatus.DQUOT);
    private static final int ROOM_BYTES = 7;

    private volatile String reason;

    PartialWriteTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    FileChannel replace(FileChannel channel) {
        return new DelegatingChannel(channel) {
            @Override
            public int write(ByteBuffer from, long position) throws IOException {
                int bytes = (int) Math.min(from.remaining(), ROOM_BYTES - position);
                if (bytes <= 0) {
                    throw new IOException(reason);
                }
                int end = from.limit();
                from.limit(from.position() + bytes);
                int written = super.write(from, position);
                from.limit(end);
                return written;
            }
        };
    }

    @Test
    void shouldTellHowMuchThereWasRoomFor() {
        REFUSALS.forEach((text, status) -> {
            reason = text;
            for (StableHow stable : StableHow.values()) {
                Written written = client.write(file, 2, new byte[20], stable).ok(Written::read);
                assertEquals(ROOM_BYTES - 2, written.count());
                assertEquals(stable.code(), written.stable());
                assertEquals(ROOM_BYTES, written.file().after().size());
            }
            assertEquals("he\0\0\0\0\0", client.read(file));
            assertEquals(status, client.write(file, ROOM_BYTES, new byte[13], StableHow.UNSTABLE).status());
        });
    }

    /** Nobody knows what became of the rest. */
    @Test
    void shouldFailAsAWholeWhereTheDiskFails() {
        reason = "Input/output error";
        assertEquals(NfsStatus.IO, client.write(file, 2, new byte[20], StableHow.UNSTABLE).status());
    }
}
