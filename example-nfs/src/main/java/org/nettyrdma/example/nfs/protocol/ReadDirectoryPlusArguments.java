package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The arguments of READDIRPLUS (RFC 1813, section 3.3.17).
 *
 * @param directory      the directory
 * @param cookie         where to go on, from an entry of an earlier result; 0 at the start
 * @param cookieVerifier what came with that result; 0 at the start
 * @param directoryCount most bytes of file numbers, names and cookies in the result
 * @param maxCount       most bytes of the result
 */
public record ReadDirectoryPlusArguments(FileHandle directory, long cookie, long cookieVerifier,
                                         long directoryCount, long maxCount) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static ReadDirectoryPlusArguments read(ByteBuf in) {
        return new ReadDirectoryPlusArguments(FileHandle.read(in),
                Xdr.readHyper(in, "READDIRPLUS3args.cookie"),
                Xdr.readHyper(in, "READDIRPLUS3args.cookieverf"),
                Xdr.readUnsignedInt(in, "READDIRPLUS3args.dircount"),
                Xdr.readUnsignedInt(in, "READDIRPLUS3args.maxcount"));
    }

    @Override
    public void write(ByteBuf out) {
        directory.write(out);
        out.writeLong(cookie);
        out.writeLong(cookieVerifier);
        out.writeInt((int) directoryCount);
        out.writeInt((int) maxCount);
    }
}
