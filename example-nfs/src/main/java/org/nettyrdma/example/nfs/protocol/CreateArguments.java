package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The arguments of CREATE (RFC 1813, section 3.3.8).
 *
 * @param where      directory and name of the new file
 * @param mode       what to do where the name exists
 * @param attributes attributes of the new file; not sent with {@link CreateMode#EXCLUSIVE}, and {@link Sattr#NONE} there
 * @param verifier   marks the file with {@link CreateMode#EXCLUSIVE}, else not sent and 0
 */
public record CreateArguments(DirectoryOperationArguments where, CreateMode mode, Sattr attributes, long verifier)
        implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static CreateArguments read(ByteBuf in) {
        DirectoryOperationArguments where = DirectoryOperationArguments.read(in);
        CreateMode mode = CreateMode.read(in);
        return mode == CreateMode.EXCLUSIVE
                ? new CreateArguments(where, mode, Sattr.NONE, Xdr.readHyper(in, "createhow3.verf"))
                : new CreateArguments(where, mode, Sattr.read(in), 0);
    }

    @Override
    public void write(ByteBuf out) {
        where.write(out);
        out.writeInt(mode.code());
        if (mode == CreateMode.EXCLUSIVE) {
            out.writeLong(verifier);
        } else {
            attributes.write(out);
        }
    }
}
