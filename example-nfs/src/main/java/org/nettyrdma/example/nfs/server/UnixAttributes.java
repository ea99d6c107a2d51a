package org.nettyrdma.example.nfs.server;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.example.nfs.protocol.DeviceNumber;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;

/**
 * Attributes of the operating system's file systems, from the JDK's {@code unix} view: one system call per read. The
 * {@code owner} and {@code group} of that view are left alone, because finding their names is slow and needs nobody here.
 */
final class UnixAttributes implements AttributeStore {

    private static final String NAMES =
            "unix:mode,ino,dev,rdev,nlink,uid,gid,size,lastAccessTime,lastModifiedTime,ctime,creationTime";
    private static final int FORMAT_MASK = 0170000;
    private static final int PROBED_ENTRIES = 64;

    /**
     * The file system whose files tell when they were created, which makes their generation; 0 if none does. These files are
     * known without the number of their device, which is another one when the machine has started again: that of btrfs, ZFS and
     * the like always, and that of a disk where disks are found in another order. Of another file system in its place, a file
     * with the same number has another generation.
     */
    private final long birthTimeDevice;

    UnixAttributes(Path root, boolean readOnly) throws IOException {
        birthTimeDevice = !isOverlay(root) && hasBirthTimes(root, readOnly) ? (Long) Files.getAttribute(root, "unix:dev") : 0;
    }

    /**
     * Whether a file may get another creation time and stay the same: an overlay shows that of the copy as soon as it copies what
     * is changed the first time. A handle from before would be stale.
     */
    private static boolean isOverlay(Path root) {
        try {
            return Files.getFileStore(root).type().equals("overlay");
        } catch (IOException e) {
            return false; // the mount table, which tells the type, is not there or knows nothing of the root
        }
    }

    @Override
    public FileStatus read(Path path) throws IOException {
        Map<String, Object> values = Files.readAttributes(path, NAMES, NOFOLLOW_LINKS);
        int mode = (Integer) values.get("mode");
        long device = (Long) values.get("dev");
        long inode = (Long) values.get("ino");
        long size = (Long) values.get("size");
        FileType type = type(mode);
        Fattr attributes = new Fattr(type, mode & Fattr.MODE_MASK, (Integer) values.get("nlink"),
                (Integer) values.get("uid"), (Integer) values.get("gid"), size, size,
                deviceNumber(type, (Long) values.get("rdev")), device, inode,
                NfsTime.of((FileTime) values.get("lastAccessTime")),
                NfsTime.of((FileTime) values.get("lastModifiedTime")),
                NfsTime.of((FileTime) values.get("ctime")));
        FileTime birthTime = (FileTime) values.get("creationTime");
        FileId id = device == birthTimeDevice ? new FileId(0, inode, Long.hashCode(birthTime.to(TimeUnit.NANOSECONDS)))
                : new FileId(device, inode, 0);
        return new FileStatus(id, attributes);
    }

    @Override
    public void setMode(Path path, int mode) throws IOException {
        try {
            Files.setAttribute(path, "unix:mode", mode, NOFOLLOW_LINKS);
        } catch (FileSystemException e) {
            // Nobody who keeps to the name lock puts a link here behind this look.
            FileType type = isUnreadable(e) ? read(path).attributes().type() : null;
            if (type != FileType.REGULAR && type != FileType.DIRECTORY) {
                throw e;
            }
            Files.setAttribute(path, "unix:mode", mode);
        }
    }

    /** Where the owner may not read the file, which the JDK opens for that, lets the owner do so meanwhile. */
    @Override
    public void setTimes(Path path, FileTime accessTime, FileTime modifyTime) throws IOException {
        try {
            AttributeStore.super.setTimes(path, accessTime, modifyTime);
        } catch (FileSystemException e) {
            if (!isUnreadable(e)) {
                throw e;
            }
            withOwnerBit(path, OWNER_READ, e, () -> {
                AttributeStore.super.setTimes(path, accessTime, modifyTime);
                return null;
            });
        }
    }

    /**
     * So as not to follow a link the JDK opens the file for reading, which the mode may forbid its owner. Newer ones then try it
     * for writing, which no directory allows.
     */
    private static boolean isUnreadable(FileSystemException failure) {
        return failure instanceof AccessDeniedException || NfsErrors.statusOf(failure) == NfsStatus.ISDIR;
    }

    @Override
    public void setOwner(Path path, OptionalInt userId, OptionalInt groupId) throws IOException {
        AttributeStore.requireSomebody(userId, groupId);
        if (userId.isPresent()) {
            Files.setAttribute(path, "unix:uid", userId.getAsInt(), NOFOLLOW_LINKS);
        }
        if (groupId.isPresent()) {
            Files.setAttribute(path, "unix:gid", groupId.getAsInt(), NOFOLLOW_LINKS);
        }
    }

    @Override
    public boolean keepsChangeTime() {
        return true;
    }

    @Override
    public boolean knowsParents() {
        return true;
    }

    @Override
    public long maxFileBytes() {
        return Long.MAX_VALUE; // the file system knows its own limit, and says so
    }

    private static FileType type(int mode) {
        return switch (mode & FORMAT_MASK) {
            case 0040000 -> FileType.DIRECTORY;
            case 0120000 -> FileType.SYMBOLIC_LINK;
            case 0060000 -> FileType.BLOCK_DEVICE;
            case 0020000 -> FileType.CHARACTER_DEVICE;
            case 0140000 -> FileType.SOCKET;
            case 0010000 -> FileType.FIFO;
            default -> FileType.REGULAR;
        };
    }

    /** Splits a device number as Linux packs it: the low bits of both halves below bit 20, the rest above. */
    private static DeviceNumber deviceNumber(FileType type, long packed) {
        if (type != FileType.BLOCK_DEVICE && type != FileType.CHARACTER_DEVICE) {
            return DeviceNumber.NONE;
        }
        long major = packed >>> 8 & 0xFFF | packed >>> 32 & ~0xFFFL;
        long minor = packed & 0xFF | packed >>> 12 & ~0xFFL;
        return new DeviceNumber((int) major, (int) minor);
    }

    /**
     * Whether the creation time is one. Where kernel, file system or JDK have none, the JDK answers the modify time, which
     * would make a new generation with each write. So look for a file where the two differ, and if there is none make one.
     */
    private static boolean hasBirthTimes(Path root, boolean readOnly) throws IOException {
        if (isBirthTimeKnown(root)) {
            return true;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
            int probed = 0;
            for (Path entry : entries) {
                if (isBirthTimeKnown(entry)) {
                    return true;
                }
                if (++probed == PROBED_ENTRIES) {
                    break;
                }
            }
        }
        return !readOnly && Files.isWritable(root) && isBirthTimeOfNewFileKnown(root);
    }

    /** A full file system is served, too, and one such as {@code /proc} where nobody can create a file. */
    private static boolean isBirthTimeOfNewFileKnown(Path root) {
        try {
            Path file = Files.createTempFile(root, ".birth-time", null);
            try {
                Files.setLastModifiedTime(file, FileTime.fromMillis(0));
                return isBirthTimeKnown(file);
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isBirthTimeKnown(Path path) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class, NOFOLLOW_LINKS);
            return !attributes.creationTime().equals(attributes.lastModifiedTime());
        } catch (IOException e) {
            return false; // gone, or not to be looked at; another file may tell
        }
    }
}
