package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The attributes of a file: {@code fattr3} (RFC 1813, section 2.6).
 *
 * @param type         what kind of file it is
 * @param mode         permission, set-id and sticky bits, octal 0 to 7777
 * @param linkCount    how many names the file has
 * @param userId       number of its owner
 * @param groupId      number of its group
 * @param size         its size in bytes
 * @param used         bytes of storage it takes
 * @param device       its device number if it is a device, else {@link DeviceNumber#NONE}
 * @param fileSystemId number of the file system it is on
 * @param fileId       its number within that file system
 * @param accessTime   when it was last read
 * @param modifyTime   when its content last changed
 * @param changeTime   when its content or an attribute last changed
 */
public record Fattr(FileType type, int mode, int linkCount, int userId, int groupId, long size, long used,
                    DeviceNumber device, long fileSystemId, long fileId,
                    NfsTime accessTime, NfsTime modifyTime, NfsTime changeTime) implements WireForm {

    /** Bytes on the wire. */
    public static final int LENGTH = 84;

    /** The bits that {@link #mode()} may have. */
    public static final int MODE_MASK = 07777;

    /**
     * Whether this is a directory.
     *
     * @return {@code true} if so
     */
    public boolean isDirectory() {
        return type == FileType.DIRECTORY;
    }

    /**
     * The part that shows whether the file changed.
     *
     * @return size, modify time and change time
     */
    public WccAttr toWccAttr() {
        return new WccAttr(size, modifyTime, changeTime);
    }

    /**
     * The same with another change time.
     *
     * @param newChangeTime when content or an attribute last changed
     * @return the attributes
     */
    public Fattr withChangeTime(NfsTime newChangeTime) {
        return new Fattr(type, mode, linkCount, userId, groupId, size, used, device, fileSystemId, fileId,
                accessTime, modifyTime, newChangeTime);
    }

    /**
     * Reads attributes.
     *
     * @param in the message
     * @return the attributes
     */
    public static Fattr read(ByteBuf in) {
        return new Fattr(FileType.read(in), Xdr.readInt(in, "fattr3.mode"), Xdr.readInt(in, "fattr3.nlink"),
                Xdr.readInt(in, "fattr3.uid"), Xdr.readInt(in, "fattr3.gid"),
                Xdr.readHyper(in, "fattr3.size"), Xdr.readHyper(in, "fattr3.used"), DeviceNumber.read(in),
                Xdr.readHyper(in, "fattr3.fsid"), Xdr.readHyper(in, "fattr3.fileid"),
                NfsTime.read(in), NfsTime.read(in), NfsTime.read(in));
    }

    @Override
    public void write(ByteBuf out) {
        out.writeInt(type.code());
        out.writeInt(mode);
        out.writeInt(linkCount);
        out.writeInt(userId);
        out.writeInt(groupId);
        out.writeLong(size);
        out.writeLong(used);
        device.write(out);
        out.writeLong(fileSystemId);
        out.writeLong(fileId);
        accessTime.write(out);
        modifyTime.write(out);
        changeTime.write(out);
    }

    /**
     * Reads {@code post_op_attr}, attributes that may be absent.
     *
     * @param in the message
     * @return the attributes or {@code null}
     */
    public static Fattr readOptional(ByteBuf in) {
        return Xdr.readBoolean(in, "post_op_attr.attributes_follow") ? read(in) : null;
    }
}
