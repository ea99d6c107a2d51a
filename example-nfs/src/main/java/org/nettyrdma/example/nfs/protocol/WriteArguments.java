package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The arguments of WRITE (RFC 1813, section 3.3.7).
 *
 * @param file   the file
 * @param offset where the first byte goes, an unsigned 64-bit number
 * @param count  how many bytes to write, 0 to 4294967295; a proper call has as many bytes of data
 * @param stable how safe the data has to be
 * @param data   the data; a view of the message it was read from, and not another reference to it
 */
public record WriteArguments(FileHandle file, long offset, long count, StableHow stable, ByteBuf data) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments, whose data is a view of {@code in} and lives no longer
     */
    public static WriteArguments read(ByteBuf in) {
        return new WriteArguments(FileHandle.read(in), Xdr.readHyper(in, "WRITE3args.offset"),
                Xdr.readUnsignedInt(in, "WRITE3args.count"), StableHow.read(in),
                Xdr.readOpaqueSlice(in, Nfs.MAX_DATA_BYTES, "WRITE3args.data"));
    }

    /**
     * Writes the arguments up to and with the length of the data. The data and its padding follow, so that who sends
     * them need not copy them.
     *
     * @param out the arguments of the call
     */
    public void writeWithoutData(ByteBuf out) {
        file.write(out);
        out.writeLong(offset);
        out.writeInt((int) count);
        out.writeInt(stable.code());
        out.writeInt(data.readableBytes());
    }

    @Override
    public void write(ByteBuf out) {
        writeWithoutData(out);
        out.writeBytes(data, data.readerIndex(), data.readableBytes());
        Xdr.writePadding(out, data.readableBytes());
    }
}
