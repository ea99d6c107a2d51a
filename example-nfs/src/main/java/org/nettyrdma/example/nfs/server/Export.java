package org.nettyrdma.example.nfs.server;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * A directory that clients may mount.
 *
 * @param root              the directory, on any file system
 * @param name              what clients mount it as: a path that begins with {@code /}, without a {@code /} at its end
 *                          unless that is all of it
 * @param readOnly          whether everything that would change a file is refused with {@code NFS3ERR_ROFS}
 * @param squash            who is served as the anonymous user
 * @param anonymousUserId   number of the anonymous user
 * @param anonymousGroupId  number of the anonymous user's group
 * @param anonymousGroupIds numbers of the anonymous user's further groups
 */
public record Export(Path root, String name, boolean readOnly, Squash squash, int anonymousUserId, int anonymousGroupId,
                     List<Integer> anonymousGroupIds) {

    /** Number of the anonymous user and group unless another is given: {@code nobody} and {@code nogroup} on most systems. */
    public static final int ANONYMOUS_ID = 65534;

    /**
     * Checks the name.
     *
     * @param root              the directory
     * @param name              what clients mount
     * @param readOnly          whether changes are refused
     * @param squash            who becomes the anonymous user
     * @param anonymousUserId   the anonymous user
     * @param anonymousGroupId  its group
     * @param anonymousGroupIds its further groups
     * @throws IllegalArgumentException if {@code name} does not begin with {@code /} or ends with a further one, or a number
     *                                  is 2^32 - 1, which is nobody's
     */
    public Export {
        Objects.requireNonNull(root, "root");
        Objects.requireNonNull(squash, "squash");
        if (!name.startsWith("/") || name.length() > 1 && name.endsWith("/")) {
            throw new IllegalArgumentException("name: " + name + " (expected: / or /some/path)");
        }
        anonymousGroupIds = List.copyOf(anonymousGroupIds);
        if (anonymousUserId == Credentials.NO_ID || anonymousGroupId == Credentials.NO_ID
                || anonymousGroupIds.contains(Credentials.NO_ID)) {
            throw new IllegalArgumentException("anonymous user and groups: " + Integer.toUnsignedString(anonymousUserId) + ", "
                    + Integer.toUnsignedString(anonymousGroupId) + ", "
                    + anonymousGroupIds.stream().map(Integer::toUnsignedString).toList() + " (expected: less than 4294967295)");
        }
    }

    /**
     * Exports a directory as {@code /} for reading and writing, root squashed.
     *
     * @param root the directory
     * @return the export
     */
    public static Export of(Path root) {
        return new Export(root, "/", false, Squash.ROOT, ANONYMOUS_ID, ANONYMOUS_ID, List.of());
    }

    /**
     * The same under another name.
     *
     * @param newName what clients mount it as
     * @return the export
     */
    public Export withName(String newName) {
        return new Export(root, newName, readOnly, squash, anonymousUserId, anonymousGroupId, anonymousGroupIds);
    }

    /**
     * The same with changes refused or allowed.
     *
     * @param newReadOnly whether changes are refused
     * @return the export
     */
    public Export withReadOnly(boolean newReadOnly) {
        return new Export(root, name, newReadOnly, squash, anonymousUserId, anonymousGroupId, anonymousGroupIds);
    }

    /**
     * The same with other callers squashed.
     *
     * @param newSquash who becomes the anonymous user
     * @return the export
     */
    public Export withSquash(Squash newSquash) {
        return new Export(root, name, readOnly, newSquash, anonymousUserId, anonymousGroupId, anonymousGroupIds);
    }

    /**
     * The same with another anonymous user, who is in no further groups.
     *
     * @param userId  number of the anonymous user
     * @param groupId number of its group
     * @return the export
     */
    public Export withAnonymous(int userId, int groupId) {
        return withAnonymous(userId, groupId, List.of());
    }

    /**
     * The same with another anonymous user.
     *
     * @param userId   number of the anonymous user
     * @param groupId  number of its group
     * @param groupIds numbers of its further groups
     * @return the export
     */
    public Export withAnonymous(int userId, int groupId, List<Integer> groupIds) {
        return new Export(root, name, readOnly, squash, userId, groupId, groupIds);
    }
}
