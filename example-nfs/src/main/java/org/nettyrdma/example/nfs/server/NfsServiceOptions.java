package org.nettyrdma.example.nfs.server;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;

import java.nio.file.Path;
import java.nio.file.Paths;
import org.nettyrdma.example.nfs.protocol.Nfs;

/**
 * Settings of an {@link NfsService}. The {@code with} methods return a changed copy.
 *
 * @param stateDirectory     where the secret key of the file handles is kept, outside of the export; {@code null}, the
 *                           default, makes a new key at each start, so that clients must mount again after a restart
 * @param maxReadBytes       most bytes of one READ, 4096 to 16 MiB, default 1 MiB; a longer READ is cut
 * @param maxWriteBytes      most bytes of one WRITE, 4096 to 16 MiB, default 1 MiB; a longer WRITE is cut
 * @param openFiles          most files kept open between calls, default 256; where it is too small every READ and WRITE
 *                           opens its file
 * @param openFileIdleMillis after how many milliseconds without a call a file is closed, default 10000
 * @param searchLimit        most directory entries looked at when the file of a handle from before a restart is
 *                           searched for, default 200000; files beyond are {@code NFS3ERR_STALE}. Of each directory some
 *                           are looked at first, so that files beside a large one are found
 * @param knownFileBytes     most memory of the files that clients have handles of, in bytes, default 64 MiB, about 150,000
 *                           files, but no more than an eighth of the heap; where it is too small the export is searched for
 *                           files that clients still use
 * @param maxNameBytes       most memory of the names that are made, in bytes, for file systems that keep them in memory and
 *                           do not count them: 2048 for each, and 128 for each name in the target of a symbolic link. Beyond
 *                           that no more can be made, {@code NFS3ERR_NOSPC}. Default: no limit
 * @param async              whether procedures that change names or attributes answer before that is on the disk, as with the
 *                           option of the Linux server of this name: faster, but what a client was told is done is undone
 *                           when the machine loses its power. WRITE and COMMIT keep what they say. Default: {@code false}
 */
public record NfsServiceOptions(Path stateDirectory, int maxReadBytes, int maxWriteBytes, int openFiles,
                                long openFileIdleMillis, int searchLimit, long knownFileBytes, long maxNameBytes,
                                boolean async) {

    private static final int MIN_TRANSFER_BYTES = 4096;
    private static final int MIB = 1024 * 1024;

    /** The default of every setting. */
    public static final NfsServiceOptions DEFAULTS =
            new NfsServiceOptions(null, MIB, MIB, 256, 10_000, 200_000,
            Math.min(64L * MIB, Runtime.getRuntime().maxMemory() / 8), Long.MAX_VALUE, false);

    /**
     * Checks the ranges.
     *
     * @param stateDirectory     where the key is kept
     * @param maxReadBytes       most bytes of one READ
     * @param maxWriteBytes      most bytes of one WRITE
     * @param openFiles          most files kept open
     * @param openFileIdleMillis when idle files are closed
     * @param searchLimit        most entries searched
     * @param knownFileBytes     most memory of known files
     * @param maxNameBytes       most memory of names
     * @param async              whether not to wait for the disk with names and attributes
     * @throws IllegalArgumentException if a setting is out of its range; the message names it
     */
    public NfsServiceOptions {
        checkInRange(maxReadBytes, MIN_TRANSFER_BYTES, Nfs.MAX_DATA_BYTES, "maxReadBytes");
        checkInRange(maxWriteBytes, MIN_TRANSFER_BYTES, Nfs.MAX_DATA_BYTES, "maxWriteBytes");
        checkPositive(openFiles, "openFiles");
        checkPositive(openFileIdleMillis, "openFileIdleMillis");
        checkPositive(searchLimit, "searchLimit");
        checkPositive(knownFileBytes, "knownFileBytes");
        checkPositive(maxNameBytes, "maxNameBytes");
    }

    /**
     * The usual place of the state of one export: {@code $XDG_STATE_HOME}, or {@code ~/.local/state}, then a directory named
     * after the path of the export.
     *
     * @param exportRoot the exported directory, on the default file system
     * @return the path; nothing is created
     */
    public static Path defaultStateDirectory(Path exportRoot) {
        String stateHome = System.getenv("XDG_STATE_HOME");
        Path base = stateHome == null || stateHome.isEmpty()
                ? Paths.get(System.getProperty("user.home"), ".local", "state") : Paths.get(stateHome);
        String path = exportRoot.toAbsolutePath().normalize().toString();
        return base.resolve("netty-rdma-nfs").resolve(Long.toHexString(NameHash.of(path)));
    }

    /**
     * Another state directory.
     *
     * @param directory where the key is kept, or {@code null} for a new key at each start
     * @return the settings
     */
    public NfsServiceOptions withStateDirectory(Path directory) {
        return new NfsServiceOptions(directory, maxReadBytes, maxWriteBytes, openFiles, openFileIdleMillis, searchLimit,
                knownFileBytes, maxNameBytes, async);
    }

    /**
     * Other limits of READ and WRITE.
     *
     * @param readBytes  most bytes of one READ
     * @param writeBytes most bytes of one WRITE
     * @return the settings
     */
    public NfsServiceOptions withMaxTransferBytes(int readBytes, int writeBytes) {
        return new NfsServiceOptions(stateDirectory, readBytes, writeBytes, openFiles, openFileIdleMillis, searchLimit,
                knownFileBytes, maxNameBytes, async);
    }

    /**
     * Another cache of open files.
     *
     * @param files      most files kept open
     * @param idleMillis when idle files are closed
     * @return the settings
     */
    public NfsServiceOptions withOpenFiles(int files, long idleMillis) {
        return new NfsServiceOptions(stateDirectory, maxReadBytes, maxWriteBytes, files, idleMillis, searchLimit, knownFileBytes,
                maxNameBytes, async);
    }

    /**
     * Another limit of searches.
     *
     * @param entries most directory entries looked at
     * @return the settings
     */
    public NfsServiceOptions withSearchLimit(int entries) {
        return new NfsServiceOptions(stateDirectory, maxReadBytes, maxWriteBytes, openFiles, openFileIdleMillis, entries,
                knownFileBytes, maxNameBytes, async);
    }

    /**
     * Another bound of the files that are known.
     *
     * @param bytes most memory they take
     * @return the settings
     */
    public NfsServiceOptions withKnownFileBytes(long bytes) {
        return new NfsServiceOptions(stateDirectory, maxReadBytes, maxWriteBytes, openFiles, openFileIdleMillis, searchLimit,
                bytes, maxNameBytes, async);
    }

    /**
     * Another bound of the names that are made.
     *
     * @param bytes most memory they take
     * @return the settings
     */
    public NfsServiceOptions withMaxNameBytes(long bytes) {
        return new NfsServiceOptions(stateDirectory, maxReadBytes, maxWriteBytes, openFiles, openFileIdleMillis, searchLimit,
                knownFileBytes, bytes, async);
    }

    /**
     * Whether to wait for the disk with names and attributes.
     *
     * @param isAsync {@code true} not to wait
     * @return the settings
     */
    public NfsServiceOptions withAsync(boolean isAsync) {
        return new NfsServiceOptions(stateDirectory, maxReadBytes, maxWriteBytes, openFiles, openFileIdleMillis, searchLimit,
                knownFileBytes, maxNameBytes, isAsync);
    }
}
