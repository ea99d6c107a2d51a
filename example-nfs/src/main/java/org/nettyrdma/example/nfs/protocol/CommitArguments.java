package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The arguments of COMMIT (RFC 1813, section 3.3.21).
 *
 * @param file   the file
 * @param offset first byte to make stable, an unsigned 64-bit number
 * @param count  how many bytes, 0 to 4294967295; 0 is all to the end of the file
 */
public record CommitArguments(FileHandle file, long offset, long count) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static CommitArguments read(ByteBuf in) {
        return new CommitArguments(FileHandle.read(in),
                Xdr.readHyper(in, "COMMIT3args.offset"),
                Xdr.readUnsignedInt(in, "COMMIT3args.count"));
    }

    @Override
    public void write(ByteBuf out) {
        file.write(out);
        out.writeLong(offset);
        out.writeInt((int) count);
    }
}
