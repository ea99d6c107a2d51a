package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.Files;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** REMOVE and RMDIR (RFC 1813, sections 3.3.12 and 3.3.13). */
final class RemoveProcedures {

    private final FileTree tree;
    private final Export export;
    private final OpenFiles openFiles;
    private final NameQuota names;

    RemoveProcedures(FileTree tree, Export export, OpenFiles openFiles, NameQuota names) {
        this.tree = tree;
        this.export = export;
        this.openFiles = openFiles;
        this.names = names;
    }

    /** Takes the lock itself, since the file is open meanwhile. */
    void removeFile(NfsCall call) throws IOException {
        DirectoryOperationArguments arguments = DirectoryOperationArguments.read(call.arguments());
        AttributeSlot slot = call.changes();
        openFiles.withBlocks(() -> tree.removable(call.caller(), arguments),
                () -> call.locked(tree.exclusiveNames(), () -> removeFile(call, arguments, slot)));
    }

    private void removeFile(NfsCall call, DirectoryOperationArguments arguments, AttributeSlot slot) throws IOException {
        FileObject directory = slot.fillToChange(arguments.directory(), export);
        AccessControl.requireSearch(call.caller(), directory.attributes());
        AccessControl.require(!FileNames.isDot(arguments.name()), NfsStatus.ISDIR);
        FileObject file = tree.child(directory, arguments.name());
        AccessControl.require(!file.attributes().isDirectory(), NfsStatus.ISDIR);
        remove(call, directory, arguments.name(), file);
        slot.write();
    }

    void removeDirectory(NfsCall call) throws IOException {
        DirectoryOperationArguments arguments = DirectoryOperationArguments.read(call.arguments());
        AttributeSlot slot = call.changes();
        FileObject parent = slot.fillToChange(arguments.directory(), export);
        AccessControl.requireSearch(call.caller(), parent.attributes());
        AccessControl.require(!arguments.name().equals(FileNames.SELF), NfsStatus.INVAL);
        AccessControl.require(!arguments.name().equals(FileNames.PARENT), NfsStatus.EXIST); // RFC 1813, section 3.3.13
        FileObject directory = tree.child(parent, arguments.name()).requireDirectory();
        remove(call, parent, arguments.name(), directory);
        slot.write();
    }

    private void remove(NfsCall call, FileObject directory, String name, FileObject file) throws IOException {
        AccessControl.requireRemove(call.caller(), directory.attributes(), file.attributes());
        long nameBytes = names.bytesOf(file);
        call.willChange(directory);
        Files.delete(file.path());
        names.remove(nameBytes);
        tree.removed(directory, name, file);
        openFiles.evict(file.node().id());
    }
}
