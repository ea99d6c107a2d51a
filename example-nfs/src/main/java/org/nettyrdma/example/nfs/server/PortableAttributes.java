package org.nettyrdma.example.nfs.server;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.security.Principal;
import java.util.OptionalInt;
import java.util.Set;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.PosixMode;
import org.nettyrdma.example.nfs.protocol.DeviceNumber;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.NfsTime;

/**
 * Attributes of any other file system, Jimfs above all. Users and groups are principals whose names are decimal numbers;
 * one with another name counts as number 0. Where there is no {@code posix} view everything belongs to number 0 and
 * everybody may read and write it. Files are known by their {@link BasicFileAttributes#fileKey()}; where there is none,
 * by their path, so that renaming one makes its handles stale.
 */
final class PortableAttributes implements AttributeStore {

    private static final long DEVICE = 1;
    private static final int MODE_WITHOUT_POSIX = 0666;
    private static final int DIRECTORY_MODE_WITHOUT_POSIX = 0777;
    /** As every Unix shows links, whose modes say nothing; Jimfs shows that of a new file. */
    private static final int LINK_MODE = 0777;

    private final boolean hasPosix;
    private final boolean hasLinkCount;
    /** Jimfs fails in odd ways when a size needs more blocks than an int counts, so sizes end at the space that there is. */
    private final long maxFileBytes;

    PortableAttributes(Path root) throws IOException {
        Set<String> views = root.getFileSystem().supportedFileAttributeViews();
        hasPosix = views.contains("posix");
        hasLinkCount = views.contains("unix");
        long totalBytes = Files.getFileStore(root).getTotalSpace();
        maxFileBytes = totalBytes > 0 ? totalBytes : Long.MAX_VALUE;
    }

    @Override
    public FileStatus read(Path path) throws IOException {
        PosixFileAttributes posix = hasPosix ? Files.readAttributes(path, PosixFileAttributes.class, NOFOLLOW_LINKS) : null;
        BasicFileAttributes basic =
                hasPosix ? posix : Files.readAttributes(path, BasicFileAttributes.class, NOFOLLOW_LINKS);
        FileType type = type(basic);
        int modeWithoutPosix = type == FileType.DIRECTORY ? DIRECTORY_MODE_WITHOUT_POSIX : MODE_WITHOUT_POSIX;
        int mode = posix == null ? modeWithoutPosix : PosixMode.of(posix.permissions());
        long inode = inode(basic.fileKey(), path);
        FileTime modifyTime = basic.lastModifiedTime();
        FileTime changeTime = modifyTime.compareTo(basic.creationTime()) < 0 ? basic.creationTime() : modifyTime;
        long size = type == FileType.SYMBOLIC_LINK ? targetBytes(path) : basic.size();
        Fattr attributes = new Fattr(type, type == FileType.SYMBOLIC_LINK ? LINK_MODE : mode, linkCount(path, type),
                posix == null ? 0 : number(posix.owner()), posix == null ? 0 : number(posix.group()),
                size, size, DeviceNumber.NONE, DEVICE, inode,
                NfsTime.of(basic.lastAccessTime()), NfsTime.of(modifyTime), NfsTime.of(changeTime));
        return new FileStatus(new FileId(DEVICE, inode, 0), attributes);
    }

    @Override
    public void setMode(Path path, int mode) throws IOException {
        if (hasPosix) {
            posixView(path).setPermissions(PosixMode.toPermissions(mode));
        }
    }

    @Override
    public void setOwner(Path path, OptionalInt userId, OptionalInt groupId) throws IOException {
        AttributeStore.requireSomebody(userId, groupId);
        if (!hasPosix) {
            return;
        }
        UserPrincipalLookupService principals = path.getFileSystem().getUserPrincipalLookupService();
        if (userId.isPresent()) {
            posixView(path).setOwner(principals.lookupPrincipalByName(Integer.toUnsignedString(userId.getAsInt())));
        }
        if (groupId.isPresent()) {
            posixView(path).setGroup(principals.lookupPrincipalByGroupName(Integer.toUnsignedString(groupId.getAsInt())));
        }
    }

    @Override
    public boolean keepsChangeTime() {
        return false;
    }

    @Override
    public boolean knowsParents() {
        return false;
    }

    @Override
    public long maxFileBytes() {
        return maxFileBytes;
    }

    private static PosixFileAttributeView posixView(Path path) {
        return Files.getFileAttributeView(path, PosixFileAttributeView.class, NOFOLLOW_LINKS);
    }

    private static FileType type(BasicFileAttributes attributes) {
        if (attributes.isDirectory()) {
            return FileType.DIRECTORY;
        }
        if (attributes.isSymbolicLink()) {
            return FileType.SYMBOLIC_LINK;
        }
        // Java does not tell one special file from another; a pipe is the one that clients leave alone.
        return attributes.isRegularFile() ? FileType.REGULAR : FileType.FIFO;
    }

    /** The size of a link, as programs expect it that make room for its target; Jimfs says 0. */
    private static long targetBytes(Path link) throws IOException {
        return NameText.encode(LocalNames.textOf(Files.readSymbolicLink(link))).length;
    }

    /** One more than the key, which begins at 0 in Jimfs: programs take a file number of 0 for a deleted file. */
    private static long inode(Object fileKey, Path path) {
        return fileKey instanceof Number number ? number.longValue() + 1
                : NameHash.of((fileKey == null ? path.toAbsolutePath() : fileKey).toString());
    }

    private int linkCount(Path path, FileType type) throws IOException {
        if (hasLinkCount) {
            return (Integer) Files.getAttribute(path, "unix:nlink", NOFOLLOW_LINKS);
        }
        return type == FileType.DIRECTORY ? 2 : 1;
    }

    private static int number(Principal principal) {
        try {
            return Integer.parseUnsignedInt(principal.getName());
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
