package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * What the server can do: the end of a successful FSINFO (RFC 1813, section 3.3.19).
 *
 * @param maxReadBytes            most bytes of one READ
 * @param preferredReadBytes      best size of a READ in bytes
 * @param readMultiple            sizes of READ should be a multiple of this
 * @param maxWriteBytes           most bytes of one WRITE
 * @param preferredWriteBytes     best size of a WRITE in bytes
 * @param writeMultiple           sizes of WRITE should be a multiple of this
 * @param preferredDirectoryBytes best size of a READDIR in bytes
 * @param maxFileBytes            largest file
 * @param timeResolution          step of the file times
 * @param properties              a set of {@link #HARD_LINKS}, {@link #SYMBOLIC_LINKS}, {@link #HOMOGENEOUS} and
 *                                {@link #CAN_SET_TIME}
 */
public record FileSystemInfo(long maxReadBytes, long preferredReadBytes, long readMultiple, long maxWriteBytes,
                             long preferredWriteBytes, long writeMultiple, long preferredDirectoryBytes,
                             long maxFileBytes, NfsTime timeResolution, int properties) implements WireForm {

    /** The server has hard links. */
    public static final int HARD_LINKS = 0x01;

    /** The server has symbolic links. */
    public static final int SYMBOLIC_LINKS = 0x02;

    /** PATHCONF gives the same answer for every file. */
    public static final int HOMOGENEOUS = 0x08;

    /** SETATTR can set times. */
    public static final int CAN_SET_TIME = 0x10;

    /**
     * Reads the result from behind the post-operation attributes on.
     *
     * @param in the result
     * @return the result
     */
    public static FileSystemInfo read(ByteBuf in) {
        return new FileSystemInfo(Xdr.readUnsignedInt(in, "FSINFO3resok.rtmax"),
                Xdr.readUnsignedInt(in, "FSINFO3resok.rtpref"),
                Xdr.readUnsignedInt(in, "FSINFO3resok.rtmult"),
                Xdr.readUnsignedInt(in, "FSINFO3resok.wtmax"),
                Xdr.readUnsignedInt(in, "FSINFO3resok.wtpref"),
                Xdr.readUnsignedInt(in, "FSINFO3resok.wtmult"),
                Xdr.readUnsignedInt(in, "FSINFO3resok.dtpref"),
                Xdr.readHyper(in, "FSINFO3resok.maxfilesize"),
                NfsTime.read(in),
                Xdr.readInt(in, "FSINFO3resok.properties"));
    }

    @Override
    public void write(ByteBuf out) {
        out.writeInt((int) maxReadBytes);
        out.writeInt((int) preferredReadBytes);
        out.writeInt((int) readMultiple);
        out.writeInt((int) maxWriteBytes);
        out.writeInt((int) preferredWriteBytes);
        out.writeInt((int) writeMultiple);
        out.writeInt((int) preferredDirectoryBytes);
        out.writeLong(maxFileBytes);
        timeResolution.write(out);
        out.writeInt(properties);
    }
}
