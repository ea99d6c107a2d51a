package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The arguments of READDIR (RFC 1813, section 3.3.16).
 *
 * @param directory      the directory
 * @param cookie         where to go on, from an entry of an earlier result; 0 at the start
 * @param cookieVerifier what came with that result; 0 at the start
 * @param count          most bytes of the result, 0 to 4294967295
 */
public record ReadDirectoryArguments(FileHandle directory, long cookie, long cookieVerifier, long count) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static ReadDirectoryArguments read(ByteBuf in) {
        return new ReadDirectoryArguments(FileHandle.read(in),
                Xdr.readHyper(in, "READDIR3args.cookie"),
                Xdr.readHyper(in, "READDIR3args.cookieverf"),
                Xdr.readUnsignedInt(in, "READDIR3args.count"));
    }

    @Override
    public void write(ByteBuf out) {
        directory.write(out);
        out.writeLong(cookie);
        out.writeLong(cookieVerifier);
        out.writeInt((int) count);
    }
}
