package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.nio.channels.GatheringByteChannel;
import java.nio.file.Path;

/**
 * Copies files, directories and links between a local file system with POSIX permissions and an NFS server, with modes and
 * times of change. Symbolic links stay symbolic links, and names of one file stay names of one file. What has the name of a
 * copy already is replaced in one step when the copy is whole, so a copy that fails or is interrupted leaves it as it was; a
 * directory is completed. Devices, sockets and pipes are skipped. Names are copied byte by byte; what this machine cannot have
 * as a name is skipped.
 *
 * <p>Nothing that a server says leads a copy to this machine out of its target. Symbolic links are never followed there,
 * whether the copy made them or they were there before: one in the place of a file is replaced, and one in the place of a
 * directory fails. So do two names in a directory that are the same to the local file system.
 *
 * <p>Directories are walked on the calling thread, and files are copied on threads of their own. The modes and times of
 * directories come last, because creating a name in a directory changes its time and a mode may forbid it. What fails for
 * one of many files is told to {@link CopyListener#failed}, which may let the copy go on with the rest. After a failure that it
 * throws, or that is of all files, nothing new is begun, and it is thrown once all that was begun has ended.
 */
public final class TreeCopy {

    private TreeCopy() {
    }

    /**
     * Copies from this machine to the server. Waits until that is done.
     *
     * @param files the server
     * @param source file, directory or symbolic link
     * @param directory directory on the server that exists
     * @param name the name in that directory
     * @param options how much to do at once
     * @throws IOException why it failed; what was copied before stays
     */
    public static void put(RemoteFiles files, Path source, RemoteFile directory, String name, CopyOptions options)
            throws IOException {
        try (CopyJobs jobs = new CopyJobs(options.filesAtOnce())) {
            new PutTree(files, options, jobs).run(source, directory, name);
        }
    }

    /**
     * Copies from the server to this machine. Waits until that is done.
     *
     * @param files the server
     * @param source file, directory or symbolic link
     * @param target path of the copy, whose parent exists
     * @param options how much to do at once
     * @throws IOException why it failed; what was copied before stays
     */
    public static void get(RemoteFiles files, RemoteFile source, Path target, CopyOptions options) throws IOException {
        try (CopyJobs jobs = new CopyJobs(options.filesAtOnce())) {
            new GetTree(files, options, jobs).run(source, target);
        }
    }

    /**
     * Writes the content of a file on the server to a channel. Waits until that is done.
     *
     * @param files the server
     * @param source a file
     * @param target a blocking channel; stays open
     * @param targetName what an exception calls the channel when it cannot be written
     * @param options how much to do at once
     * @throws IOException why it failed
     */
    public static void read(RemoteFiles files, RemoteFile source, GatheringByteChannel target, String targetName,
            CopyOptions options) throws IOException {
        new Download(files, source, target, targetName, options).run();
    }
}
