package org.nettyrdma.example.nfs.server;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.util.OptionalInt;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** How one kind of file system keeps attributes. Never follows a symbolic link. Thread safe. */
interface AttributeStore {

    int OWNER_READ = 0400;
    int OWNER_WRITE = 0200;

    FileStatus read(Path path) throws IOException;

    /** Sets the mode of anything but a symbolic link, as far as the file system has its bits. */
    void setMode(Path path, int mode) throws IOException;

    /** Sets owner and group; {@link Credentials#NO_ID} is refused, by which an operating system would change nothing. */
    void setOwner(Path path, OptionalInt userId, OptionalInt groupId) throws IOException;

    /**
     * Does once more what the mode of a file may have kept its owner from, with another bit in it meanwhile. The caller has the
     * name lock alone: nobody else sees that mode, or changes it.
     *
     * @param failure how it failed, which is thrown if the file has that bit
     */
    default <T> T withOwnerBit(Path path, int bit, IOException failure, NfsCall.Step<T> step) throws IOException {
        int mode = read(path).attributes().mode();
        if ((mode & bit) != 0) {
            throw failure;
        }
        setMode(path, mode | bit);
        try {
            return step.run();
        } finally {
            setMode(path, mode);
        }
    }

    static void requireSomebody(OptionalInt userId, OptionalInt groupId) throws NfsException {
        boolean isNobody = userId.isPresent() && userId.getAsInt() == Credentials.NO_ID
                || groupId.isPresent() && groupId.getAsInt() == Credentials.NO_ID;
        AccessControl.require(!isNobody, NfsStatus.INVAL);
    }

    /** Sets times; {@code null} leaves one as it is. */
    default void setTimes(Path path, FileTime accessTime, FileTime modifyTime) throws IOException {
        Files.getFileAttributeView(path, BasicFileAttributeView.class, NOFOLLOW_LINKS)
                .setTimes(modifyTime, accessTime, null);
    }

    /** Whether the file system itself moves the change time on with every change; where not, {@link FileNode} does. */
    boolean keepsChangeTime();

    /** Whether {@code ..} in a path is the parent that a directory has, and not what is left of the path before it. */
    boolean knowsParents();

    /** Largest size that a file may be given. */
    long maxFileBytes();
}
