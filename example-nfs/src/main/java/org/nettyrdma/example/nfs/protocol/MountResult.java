package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/**
 * A successful MNT: {@code mountres3_ok} (RFC 1813, section 5.2.1).
 *
 * @param handle  the directory
 * @param flavors numbers of the authentication flavors that the server takes, best first
 */
public record MountResult(FileHandle handle, List<Integer> flavors) implements WireForm {

    static final int MAX_FLAVORS = 32;

    /**
     * Keeps a copy of the flavors.
     *
     * @param handle  the directory
     * @param flavors the flavors
     */
    public MountResult {
        flavors = List.copyOf(flavors);
    }

    /**
     * Reads the result.
     *
     * @param in the result, behind the status
     * @return the result
     */
    public static MountResult read(ByteBuf in) {
        FileHandle handle = FileHandle.read(in);
        long count = Xdr.readUnsignedInt(in, "auth_flavors");
        if (count > MAX_FLAVORS) {
            throw new XdrException("auth_flavors: " + count + " (expected: 0.." + MAX_FLAVORS + ')');
        }
        List<Integer> flavors = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            flavors.add(Xdr.readInt(in, "auth_flavors"));
        }
        return new MountResult(handle, flavors);
    }

    @Override
    public void write(ByteBuf out) {
        handle.write(out);
        out.writeInt(flavors.size());
        flavors.forEach(out::writeInt);
    }
}
