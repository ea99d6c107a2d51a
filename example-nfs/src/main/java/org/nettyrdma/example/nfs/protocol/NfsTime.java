package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * A time: {@code nfstime3} (RFC 1813, section 2.6).
 *
 * @param seconds     seconds since 1970-01-01T00:00:00Z, an unsigned 32-bit number
 * @param nanoseconds nanoseconds, 0 to 999999999 in a proper time
 */
public record NfsTime(int seconds, int nanoseconds) implements WireForm {

    /**
     * Cuts a time to what the wire can carry: times outside of 1970 to 2106 become the nearest end.
     *
     * @param time any time
     * @return the time
     */
    public static NfsTime of(FileTime time) {
        Instant instant = time.toInstant();
        long seconds = instant.getEpochSecond();
        if (seconds < 0) {
            return new NfsTime(0, 0);
        }
        if (seconds > 0xFFFF_FFFFL) {
            return new NfsTime(-1, 999_999_999);
        }
        return new NfsTime((int) seconds, instant.getNano());
    }

    /**
     * The time in Java's terms.
     *
     * @return the time
     */
    public FileTime toFileTime() {
        return FileTime.from(Instant.ofEpochSecond(Integer.toUnsignedLong(seconds), Integer.toUnsignedLong(nanoseconds)));
    }

    /**
     * Reads a time.
     *
     * @param in the message
     * @return the time, just as the peer sent it
     */
    public static NfsTime read(ByteBuf in) {
        return new NfsTime(Xdr.readInt(in, "nfstime3.seconds"), Xdr.readInt(in, "nfstime3.nseconds"));
    }

    @Override
    public void write(ByteBuf out) {
        out.writeInt(seconds);
        out.writeInt(nanoseconds);
    }
}
