package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The body of an AUTH_SYS credential ({@code authsys_parms}, RFC 5531, appendix A): who the caller claims to be. Nothing
 * proves it.
 *
 * @param stamp       an arbitrary number
 * @param machineName name of the caller's machine, at most {@value #MAX_MACHINE_NAME_BYTES} bytes as UTF-8
 * @param userId      effective user, an unsigned 32-bit number
 * @param groupId     effective group, an unsigned 32-bit number
 * @param groupIds    further groups, at most {@value #MAX_GROUPS}, unsigned 32-bit numbers
 */
public record AuthSys(int stamp, String machineName, int userId, int groupId, List<Integer> groupIds) {

    /** Most bytes of a machine name. */
    public static final int MAX_MACHINE_NAME_BYTES = 255;

    /** Most groups besides the effective one. */
    public static final int MAX_GROUPS = 16;

    /**
     * Creates a credential's body.
     *
     * @param stamp       an arbitrary number
     * @param machineName name of the caller's machine
     * @param userId      effective user
     * @param groupId     effective group
     * @param groupIds    further groups, copied
     * @throws IllegalArgumentException if the machine name or the list of groups is too long
     */
    public AuthSys {
        int nameBytes = machineName.getBytes(StandardCharsets.UTF_8).length;
        if (nameBytes > MAX_MACHINE_NAME_BYTES) {
            throw new IllegalArgumentException("machineName is " + nameBytes + " bytes long, limit " + MAX_MACHINE_NAME_BYTES);
        }
        groupIds = List.copyOf(groupIds);
        if (groupIds.size() > MAX_GROUPS) {
            throw new IllegalArgumentException("groupIds has " + groupIds.size() + " elements, limit " + MAX_GROUPS);
        }
    }

    /**
     * Wraps this body into a credential.
     *
     * @return the credential
     */
    public OpaqueAuth toOpaqueAuth() {
        ByteBuf body = Unpooled.buffer(OpaqueAuth.MAX_BODY_BYTES);
        Xdr.writeInt(body, stamp);
        Xdr.writeString(body, machineName);
        Xdr.writeInt(body, userId);
        Xdr.writeInt(body, groupId);
        Xdr.writeInt(body, groupIds.size());
        groupIds.forEach(body::writeInt);
        return new OpaqueAuth(AuthFlavor.AUTH_SYS.code(), ByteBufUtil.getBytes(body));
    }

    /**
     * Reads the body of a credential. A second call with the same credential returns the first one's result. Any thread.
     *
     * @param credential an AUTH_SYS credential
     * @return its body
     * @throws XdrException             if the body breaks a limit, is too short or has bytes left over
     * @throws IllegalArgumentException if the credential is of another flavor
     */
    public static AuthSys from(OpaqueAuth credential) {
        if (credential.flavor() != AuthFlavor.AUTH_SYS.code()) {
            throw new IllegalArgumentException("flavor: " + credential.flavor() + " (expected: AUTH_SYS)");
        }
        AuthSys decoded = credential.authSys();
        if (decoded == null) {
            decoded = read(Unpooled.wrappedBuffer(credential.bodyWithoutCopy()));
            credential.setAuthSys(decoded);
        }
        return decoded;
    }

    static boolean isWellFormed(OpaqueAuth credential) {
        try {
            from(credential);
            return true;
        } catch (XdrException e) {
            return false;
        }
    }

    private static AuthSys read(ByteBuf in) {
        int stamp = Xdr.readInt(in, "AUTH_SYS stamp");
        String machineName = Xdr.readString(in, MAX_MACHINE_NAME_BYTES, "AUTH_SYS machine name");
        int userId = Xdr.readInt(in, "AUTH_SYS user");
        int groupId = Xdr.readInt(in, "AUTH_SYS group");
        int count = Xdr.readArrayLength(in, MAX_GROUPS, Integer.BYTES, "AUTH_SYS groups");
        List<Integer> groupIds = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            groupIds.add(in.readInt());
        }
        if (in.isReadable()) {
            throw new XdrException("AUTH_SYS body has " + in.readableBytes() + " bytes behind its groups");
        }
        return new AuthSys(stamp, machineName, userId, groupId, groupIds);
    }
}
