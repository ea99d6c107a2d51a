package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * How full a file system is: the end of a successful FSSTAT (RFC 1813, section 3.3.18).
 *
 * @param totalBytes       size of the file system
 * @param freeBytes        free space
 * @param availableBytes   free space for the caller
 * @param totalFiles       most files it can have
 * @param freeFiles        how many more it can have
 * @param availableFiles   how many more the caller can create
 * @param invariantSeconds for how many seconds this will not change, 0 for unknown
 */
public record FileSystemStatus(long totalBytes, long freeBytes, long availableBytes, long totalFiles, long freeFiles,
                               long availableFiles, long invariantSeconds) implements WireForm {

    /**
     * Reads the result from behind the post-operation attributes on.
     *
     * @param in the result
     * @return the result
     */
    public static FileSystemStatus read(ByteBuf in) {
        return new FileSystemStatus(Xdr.readHyper(in, "FSSTAT3resok.tbytes"),
                Xdr.readHyper(in, "FSSTAT3resok.fbytes"),
                Xdr.readHyper(in, "FSSTAT3resok.abytes"),
                Xdr.readHyper(in, "FSSTAT3resok.tfiles"),
                Xdr.readHyper(in, "FSSTAT3resok.ffiles"),
                Xdr.readHyper(in, "FSSTAT3resok.afiles"),
                Xdr.readUnsignedInt(in, "FSSTAT3resok.invarsec"));
    }

    @Override
    public void write(ByteBuf out) {
        out.writeLong(totalBytes);
        out.writeLong(freeBytes);
        out.writeLong(availableBytes);
        out.writeLong(totalFiles);
        out.writeLong(freeFiles);
        out.writeLong(availableFiles);
        out.writeInt((int) invariantSeconds);
    }
}
