package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The arguments of READ (RFC 1813, section 3.3.6).
 *
 * @param file   the file
 * @param offset first byte to read, an unsigned 64-bit number
 * @param count  how many bytes to read, 0 to 4294967295
 */
public record ReadArguments(FileHandle file, long offset, long count) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static ReadArguments read(ByteBuf in) {
        return new ReadArguments(FileHandle.read(in),
                Xdr.readHyper(in, "READ3args.offset"),
                Xdr.readUnsignedInt(in, "READ3args.count"));
    }

    @Override
    public void write(ByteBuf out) {
        file.write(out);
        out.writeLong(offset);
        out.writeInt((int) count);
    }
}
