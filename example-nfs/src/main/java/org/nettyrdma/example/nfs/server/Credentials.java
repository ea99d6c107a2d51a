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

    private static final int ROOT_ID = 0;

    /**
     * Reads the credential of a call.
     *
     * @return whom to serve it as, or {@code null} if this server does not take credentials of this flavor
     * @throws org.nettyrdma.codec.oncrpc.XdrException if the credential is malformed
     */
    static Credentials of(OpaqueAuth credential, Export export) {
        if (credential.flavor() == AuthFlavor.AUTH_NONE.code()) {
            return anonymous(export);
        }
        return credential.flavor() == AuthFlavor.AUTH_SYS.code() ? squashed(AuthSys.from(credential), export) : null;
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

    private static List<Integer> squashedGroups(List<Integer> groupIds, Export export) {
        return groupIds.contains(ROOT_ID)
                ? groupIds.stream().map(groupId -> squashedGroup(groupId, export)).toList() : groupIds;
    }

    private static int squashedGroup(int groupId, Export export) {
        return groupId == ROOT_ID ? export.anonymousGroupId() : groupId;
    }

    private static Credentials anonymous(Export export) {
        return new Credentials(export.anonymousUserId(), export.anonymousGroupId(), List.of());
    }

    boolean isRoot() {
        return userId == ROOT_ID;
    }

    boolean isInGroup(int id) {
        return groupId == id || groupIds.contains(id);
    }
}
