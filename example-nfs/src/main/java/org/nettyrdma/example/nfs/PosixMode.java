package org.nettyrdma.example.nfs;

import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** Permissions as Java has them, from modes of the protocol, and back. Stateless; any thread. */
public final class PosixMode {

    /** In the order of the bits, highest first; that is also the order of the constants. */
    private static final PosixFilePermission[] PERMISSIONS = PosixFilePermission.values();

    private PosixMode() {
    }

    /**
     * The mode of permissions.
     *
     * @param permissions what Java has
     * @return octal 0 to 0777
     */
    public static int of(Set<PosixFilePermission> permissions) {
        int mode = 0;
        for (PosixFilePermission permission : PERMISSIONS) {
            mode = mode << 1 | (permissions.contains(permission) ? 1 : 0);
        }
        return mode;
    }

    /**
     * The permissions of a mode.
     *
     * @param mode any bits; those that are no permissions, such as set-user-id, are left out
     * @return a new set
     */
    public static Set<PosixFilePermission> toPermissions(int mode) {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (int i = 0; i < PERMISSIONS.length; i++) {
            if ((mode >> PERMISSIONS.length - 1 - i & 1) != 0) {
                permissions.add(PERMISSIONS[i]);
            }
        }
        return permissions;
    }

    /**
     * What to create a file with that is never open to more users than a mode says.
     *
     * @param file a path of its file system
     * @param mode the permissions that it has at most
     * @return one attribute, or none where the file system has no permissions
     */
    public static FileAttribute<?>[] attributes(Path file, int mode) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(toPermissions(mode))} : new FileAttribute<?>[0];
    }
}
