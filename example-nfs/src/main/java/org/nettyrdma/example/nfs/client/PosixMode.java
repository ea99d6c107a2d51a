package org.nettyrdma.example.nfs.client;

import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/** Permissions as Java has them and as NFS has them. */
final class PosixMode {

    /** In the order of the bits, highest first; that is also the order of the constants. */
    private static final PosixFilePermission[] PERMISSIONS = PosixFilePermission.values();

    private PosixMode() {
    }

    static int of(Set<PosixFilePermission> permissions) {
        int mode = 0;
        for (PosixFilePermission permission : PERMISSIONS) {
            mode = mode << 1 | (permissions.contains(permission) ? 1 : 0);
        }
        return mode;
    }

    /** Bits that are no permissions, such as set-user-id, are left out. */
    static Set<PosixFilePermission> toPermissions(int mode) {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (int i = 0; i < PERMISSIONS.length; i++) {
            if ((mode >> PERMISSIONS.length - 1 - i & 1) != 0) {
                permissions.add(PERMISSIONS[i]);
            }
        }
        return permissions;
    }
}
