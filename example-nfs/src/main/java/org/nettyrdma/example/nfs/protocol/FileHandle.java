package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.Arrays;
import org.nettyrdma.codec.oncrpc.Xdr;

/** Names a file to the server that made it; opaque to everybody else: {@code nfs_fh3} (RFC 1813, section 2.6). */
public final class FileHandle implements WireForm {

    private final byte[] bytes;

    /**
     * Wraps the bytes of a handle.
     *
     * @param bytes the handle; copied
     * @throws IllegalArgumentException if there are more than {@link Nfs#MAX_HANDLE_BYTES}
     */
    public FileHandle(byte[] bytes) {
        if (bytes.length > Nfs.MAX_HANDLE_BYTES) {
            throw new IllegalArgumentException(
                    "bytes.length: " + bytes.length + " (expected: 0.." + Nfs.MAX_HANDLE_BYTES + ')');
        }
        this.bytes = bytes.clone();
    }

    private FileHandle(ByteBuf in) {
        bytes = Xdr.readOpaque(in, Nfs.MAX_HANDLE_BYTES, "nfs_fh3");
    }

    /**
     * The handle.
     *
     * @return a copy of the bytes
     */
    public byte[] toByteArray() {
        return bytes.clone();
    }

    /**
     * The size of the handle without the length word and the padding that it has on the wire.
     *
     * @return its length in bytes
     */
    public int length() {
        return bytes.length;
    }

    /**
     * Reads a handle.
     *
     * @param in the message
     * @return the handle
     */
    public static FileHandle read(ByteBuf in) {
        return new FileHandle(in);
    }

    @Override
    public void write(ByteBuf out) {
        Xdr.writeOpaque(out, bytes);
    }

    /**
     * Reads {@code post_op_fh3}, a handle that may be absent.
     *
     * @param in the message
     * @return the handle or {@code null}
     */
    public static FileHandle readOptional(ByteBuf in) {
        return Xdr.readBoolean(in, "post_op_fh3.handle_follows") ? read(in) : null;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FileHandle handle && Arrays.equals(bytes, handle.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return ByteBufUtil.hexDump(bytes);
    }
}
