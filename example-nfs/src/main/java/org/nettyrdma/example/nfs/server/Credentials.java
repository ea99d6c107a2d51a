package org.nettyrdma.example.nfs.server;

import java.util.List;
import org.nettyrdma.codec.oncrpc.AuthFlavor;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;

/**
 * Whom a call is served as, after squashing.
 *
 * @param userId   number of the user
 * @param groupId  number of the user's group
 * @param groupIds numbers of the user's further groups
 */
record Credentials(int userId, int groupId, List<Integer> groupIds) {

    /** 2^32 - 1. No user or group has it: to chown(2) it says that an owner stays as it is, and to setuid(2) that it fails. */
    static final int NO_ID = -1;

    private static final int ROOT_ID = 0;

    /**
     * Reads the credential of a call.
     *
     * @return whom to serve it as, or {@code null} if this server does not take credentials of this flavor, or one of its
     *         numbers is nobody's
     * @throws org.nettyrdma.codec.oncrpc.XdrException if the credential is malformed
     */
    static Credentials of(OpaqueAuth credential, Export export) {
        if (credential.flavor() == AuthFlavor.AUTH_NONE.code()) {
            return anonymous(export);
        }
        if (credential.flavor() != AuthFlavor.AUTH_SYS.code()) {
            return null;
        }
        AuthSys caller = AuthSys.from(credential);
        boolean isSomebody = caller.userId() != NO_ID && caller.groupId() != NO_ID && !caller.groupIds().contains(NO_ID);
        return isSomebody ? squashed(caller, export) : null;
    }

    private static Credentials squashed(AuthSys caller, Export export) {
        return switch (export.squash()) {
            case ALL -> anonymous(export);
            case NONE -> new Credentials(caller.userId(), caller.groupId(), caller.groupIds());
            case ROOT -> caller.userId() == ROOT_ID ? anonymous(export)
                    : new Credentials(caller.userId(), squashedGroup(caller.groupId(), export),
                            squashedGroups(caller.groupIds(), export));
        };
    }

    /** Whether files may be given to a user: not to one whose calls would be served as somebody else's. */
    static boolean isUserOf(Export export, int userId) {
        return isServed(export, userId, export.anonymousUserId());
    }

    /** Whether files may be given to a group, see {@link #isUserOf}. */
    static boolean isGroupOf(Export export, int groupId) {
        return isServed(export, groupId, export.anonymousGroupId()) || export.anonymousGroupIds().contains(groupId);
    }

    private static boolean isServed(Export export, int id, int anonymousId) {
        return id == anonymousId || switch (export.squash()) {
            case ALL -> false;
            case NONE -> true;
            case ROOT -> id != ROOT_ID;
        };
    }

    private static List<Integer> squashedGroups(List<Integer> groupIds, Export export) {
        return groupIds.contains(ROOT_ID)
                ? groupIds.stream().map(groupId -> squashedGroup(groupId, export)).toList() : groupIds;
    }

    private static int squashedGroup(int groupId, Export export) {
        return groupId == ROOT_ID ? export.anonymousGroupId() : groupId;
    }

    private static Credentials anonymous(Export export) {
        return new Credentials(export.anonymousUserId(), export.anonymousGroupId(), export.anonymousGroupIds());
    }

    boolean isRoot() {
        return userId == ROOT_ID;
    }

    boolean isInGroup(int id) {
        return groupId == id || groupIds.contains(id);
    }
}
