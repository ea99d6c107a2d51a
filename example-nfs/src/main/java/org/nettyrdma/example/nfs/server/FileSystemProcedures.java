package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileSystemInfo;
import org.nettyrdma.example.nfs.protocol.FileSystemStatus;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.PathConfiguration;

/** FSSTAT, FSINFO and PATHCONF (RFC 1813, sections 3.3.18 to 3.3.20). */
final class FileSystemProcedures {

    /** What DirectoryProcedures answers at most, and what FSINFO recommends. */
    static final int MAX_DIRECTORY_BYTES = 64 * 1024;

    private static final int BLOCK_BYTES = 4096;
    /** What ext4 has; file systems that take fewer answer NFS3ERR_MLINK. */
    private static final int MAX_LINKS = 65_000;

    private final FileTree tree;
    private final NameQuota names;
    private final FileSystemInfo info;

    FileSystemProcedures(FileTree tree, NameQuota names, NfsServiceOptions options) {
        this.tree = tree;
        this.names = names;
        info = new FileSystemInfo(options.maxReadBytes(), options.maxReadBytes(), BLOCK_BYTES,
                options.maxWriteBytes(), options.maxWriteBytes(), BLOCK_BYTES, MAX_DIRECTORY_BYTES, tree.store().maxFileBytes(),
                new NfsTime(0, 1), FileSystemInfo.HARD_LINKS | FileSystemInfo.SYMBOLIC_LINKS | FileSystemInfo.HOMOGENEOUS
                        | FileSystemInfo.CAN_SET_TIME);
    }

    void status(NfsCall call) throws IOException {
        FileObject file = locate(call);
        // Java follows a symbolic link here; one is in the file system of its directory.
        boolean isLink = file.attributes().type() == FileType.SYMBOLIC_LINK;
        FileStore store = Files.getFileStore(isLink ? file.path().getParent() : file.path());
        new FileSystemStatus(store.getTotalSpace(), store.getUnallocatedSpace(), store.getUsableSpace(),
                names.most(), names.free(), names.free(), 0).write(call.out());
    }

    void information(NfsCall call) throws IOException {
        locate(call);
        info.write(call.out());
    }

    void pathConfiguration(NfsCall call) throws IOException {
        locate(call);
        new PathConfiguration(MAX_LINKS, FileNames.MAX_BYTES, true, true, false, true).write(call.out());
    }

    private FileObject locate(NfsCall call) throws IOException {
        FileHandle handle = FileHandle.read(call.arguments());
        AttributeSlot slot = call.attributes();
        FileObject file = slot.fill(tree.locate(handle));
        slot.write();
        return file;
    }
}
