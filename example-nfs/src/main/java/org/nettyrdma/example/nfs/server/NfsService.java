package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.DuplicateRequestCache;
import org.nettyrdma.codec.oncrpc.RpcProgram;

/**
 * Serves one directory by NFS version 3 and MOUNT version 3 (RFC 1813). Knows no transport: the two programs go into
 * {@link org.nettyrdma.codec.oncrpc.RpcServerHandler}s, the same ones for any number of connections over RDMA and TCP.
 *
 * <p><b>Who may do what.</b> Callers say who they are with AUTH_SYS, and are believed; without it they are anonymous, as
 * is who is {@linkplain Squash squashed}. The modes of the files decide, and besides them what the operating system lets
 * this process do. New files belong to the caller where this process may give files away (on the default file system that takes
 * root), else to the user of this process; then they get no set-id bits, and the caller may use them as far as their modes let
 * others. The number 2^32 - 1 is nobody's: calls of such a user or group are refused, and no file is given to it. Nor is a file
 * given to who is squashed.
 *
 * <p><b>What stays inside.</b> Symbolic links are never followed, and handles carry a checksum under a secret key. Handles stay
 * good when files are renamed, and after a restart where there is a {@linkplain NfsServiceOptions#stateDirectory() state
 * directory}: of the machine, too, where the creation time of the files is known, or their device keeps its number.
 *
 * <p><b>Limits.</b> No special files can be created, because Java cannot. The target of a symbolic link loses slashes that are
 * doubled or at its end, because Java keeps none. Outside of the default file system there are no set-id and sticky bits and
 * no links to symbolic links. The cache of replies does not outlive a restart. Data is on the disk when WRITE or COMMIT says so,
 * names and attributes before the reply of what changed them, unless {@linkplain NfsServiceOptions#async() not asked for}. Java
 * forces no attributes of symbolic links and special files, only the names; nothing that this process may not read; and
 * directories on the file systems of Unix alone. Where the creation time of a file is not known,
 * or changes, as on an overlay, the handle of a removed file may be that of a new one with its number. Another process on this
 * machine that may write to the export can, by replacing directories by links at the right moment, make the server change
 * names outside of it, and modes by replacing a file that it may not read; do not export directories that untrusted local
 * users may write to.
 *
 * <p><b>Threads.</b> Everything here may be used from any thread. Calls block as long as the file system does, so
 * where it is slow give the handlers an executor.
 */
public final class NfsService implements AutoCloseable {

    private static final int CLOSES_PER_IDLE_TIME = 2;
    /**
     * About 8 MiB. With too few a client that reconnects under load sees errors like {@code NFS3ERR_EXIST}, or a WRITE of before
     * undoes a later one.
     */
    private static final int DUPLICATE_CACHE_ENTRIES = 16_384;

    private final NfsStatistics statistics = new NfsStatistics();
    private final DuplicateRequestCache duplicates;
    private final OpenFiles openFiles;
    private final RpcProgram nfsProgram;
    private final RpcProgram mountProgram;
    private final ScheduledExecutorService idleFiles;

    /**
     * Starts serving a directory.
     *
     * @param export  the directory
     * @param options settings
     * @throws IOException if the directory cannot be read, or the state directory is inside of it or cannot be used
     */
    public NfsService(Export export, NfsServiceOptions options) throws IOException {
        Path root = export.root().toRealPath();
        byte[] key = options.stateDirectory() == null ? StateDirectory.newKey()
                : StateDirectory.key(options.stateDirectory(), root);
        FileTree tree = new FileTree(root, attributeStore(root, export), new FileHandles(key),
                options.searchLimit(), options.knownFileBytes());
        WriteVerifier verifier = new WriteVerifier();
        openFiles = new OpenFiles(tree, verifier, options.openFiles(), options.openFileIdleMillis());
        ProcedureTable procedures = new ProcedureTable(tree, export, openFiles, options, verifier);
        duplicates = new DuplicateRequestCache(DUPLICATE_CACHE_ENTRIES, DuplicateRequestCache.DEFAULT_MAX_BYTES,
                DuplicateRequestCache.DEFAULT_MAX_AGE_MILLIS);
        nfsProgram = duplicates.guard(new NfsProgram(export, tree, procedures, statistics, options.maxReadBytes()));
        mountProgram = new MountProgram(export, tree);
        idleFiles = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "nfs-idle-files");
            thread.setDaemon(true);
            return thread;
        });
        long periodMillis = Math.max(1, options.openFileIdleMillis() / CLOSES_PER_IDLE_TIME);
        idleFiles.scheduleWithFixedDelay(openFiles::closeIdle, periodMillis, periodMillis, TimeUnit.MILLISECONDS);
    }

    static AttributeStore attributeStore(Path root, Export export) throws IOException {
        boolean isUnix = root.getFileSystem() == FileSystems.getDefault()
                && root.getFileSystem().supportedFileAttributeViews().contains("unix");
        return isUnix ? new UnixAttributes(root, export.readOnly()) : new PortableAttributes(root);
    }

    /**
     * The NFS program.
     *
     * @return program 100003, version 3
     */
    public RpcProgram nfsProgram() {
        return nfsProgram;
    }

    /**
     * The MOUNT program.
     *
     * @return program 100005, version 3
     */
    public RpcProgram mountProgram() {
        return mountProgram;
    }

    /**
     * What was counted.
     *
     * @return the numbers, which go on counting
     */
    public NfsStatistics statistics() {
        return statistics;
    }

    /**
     * What answers calls that clients send again.
     *
     * @return the cache of this service
     */
    public DuplicateRequestCache duplicates() {
        return duplicates;
    }

    int openFiles() {
        return openFiles.size();
    }

    /** Closes the files that are open. Calls still served open theirs again, so close the connections before. */
    @Override
    public void close() {
        idleFiles.shutdown();
        openFiles.close();
    }
}
