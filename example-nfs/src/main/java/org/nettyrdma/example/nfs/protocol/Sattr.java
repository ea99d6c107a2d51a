package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * Attributes to set: {@code sattr3} (RFC 1813, section 2.6).
 *
 * @param mode       permission, set-id and sticky bits
 * @param userId     number of the owner
 * @param groupId    number of the group
 * @param size       size in bytes
 * @param accessTime what to do with the time of the last read
 * @param modifyTime what to do with the time of the last change
 */
public record Sattr(OptionalInt mode, OptionalInt userId, OptionalInt groupId, OptionalLong size,
                    TimeChange accessTime, TimeChange modifyTime) implements WireForm {

    /** Changes nothing. */
    public static final Sattr NONE = new Sattr(OptionalInt.empty(), OptionalInt.empty(), OptionalInt.empty(),
            OptionalLong.empty(), TimeChange.NONE, TimeChange.NONE);

    /**
     * Also sets the mode.
     *
     * @param newMode permission, set-id and sticky bits
     * @return the changes with this one
     */
    public Sattr withMode(int newMode) {
        return new Sattr(OptionalInt.of(newMode), userId, groupId, size, accessTime, modifyTime);
    }

    /**
     * Also sets owner and group.
     *
     * @param newUserId  number of the owner
     * @param newGroupId number of the group
     * @return the changes with these
     */
    public Sattr withOwner(int newUserId, int newGroupId) {
        return new Sattr(mode, OptionalInt.of(newUserId), OptionalInt.of(newGroupId), size, accessTime, modifyTime);
    }

    /**
     * Also sets the size.
     *
     * @param newSize size in bytes
     * @return the changes with this one
     */
    public Sattr withSize(long newSize) {
        return new Sattr(mode, userId, groupId, OptionalLong.of(newSize), accessTime, modifyTime);
    }

    /**
     * Also sets the times.
     *
     * @param newAccessTime what to do with the time of the last read
     * @param newModifyTime what to do with the time of the last change
     * @return the changes with these
     */
    public Sattr withTimes(TimeChange newAccessTime, TimeChange newModifyTime) {
        return new Sattr(mode, userId, groupId, size, newAccessTime, newModifyTime);
    }

    /**
     * Reads the changes.
     *
     * @param in the message
     * @return the changes
     */
    public static Sattr read(ByteBuf in) {
        return new Sattr(readOptionalInt(in, "sattr3.mode"), readOptionalInt(in, "sattr3.uid"),
                readOptionalInt(in, "sattr3.gid"),
                readOptionalLong(in, "sattr3.size"), TimeChange.read(in), TimeChange.read(in));
    }

    private static OptionalInt readOptionalInt(ByteBuf in, String field) {
        return Xdr.readBoolean(in, field) ? OptionalInt.of(Xdr.readInt(in, field)) : OptionalInt.empty();
    }

    private static OptionalLong readOptionalLong(ByteBuf in, String field) {
        return Xdr.readBoolean(in, field) ? OptionalLong.of(Xdr.readHyper(in, field)) : OptionalLong.empty();
    }

    @Override
    public void write(ByteBuf out) {
        writeOptionalInt(mode, out);
        writeOptionalInt(userId, out);
        writeOptionalInt(groupId, out);
        Xdr.writeBoolean(out, size.isPresent());
        if (size.isPresent()) {
            out.writeLong(size.getAsLong());
        }
        accessTime.write(out);
        modifyTime.write(out);
    }

    private static void writeOptionalInt(OptionalInt value, ByteBuf out) {
        Xdr.writeBoolean(out, value.isPresent());
        if (value.isPresent()) {
            out.writeInt(value.getAsInt());
        }
    }
}
