package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.LinkArguments;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.RenameArguments;

/**
 * RENAME and LINK (RFC 1813, sections 3.3.14 and 3.3.15). Where the new name of RENAME is taken by a file that cannot
 * make room, the answer is what rename(2) says (ISDIR, NOTDIR, NOTEMPTY), as from the Linux server; section
 * 3.3.14 would have EXIST for all of them, which tells a client less. Whether two names are on one file system (XDEV) only the
 * operating system knows: an overlay may show its files as on another one than their directory.
 */
final class RenameProcedures {

    private final FileTree tree;
    private final Export export;
    private final OpenFiles openFiles;
    private final NameQuota names;

    RenameProcedures(FileTree tree, Export export, OpenFiles openFiles, NameQuota names) {
        this.tree = tree;
        this.export = export;
        this.openFiles = openFiles;
        this.names = names;
    }

    /** Takes the lock itself, since a file that is replaced is open meanwhile. */
    void rename(NfsCall call) throws IOException {
        RenameArguments arguments = RenameArguments.read(call.arguments());
        AttributeSlot fromSlot = call.changes();
        AttributeSlot toSlot = call.changes();
        openFiles.withBlocks(() -> tree.removable(call.caller(), arguments.to()),
                () -> call.locked(tree.exclusiveNames(), () -> rename(call, arguments, fromSlot, toSlot)));
    }

    private void rename(NfsCall call, RenameArguments arguments, AttributeSlot fromSlot, AttributeSlot toSlot)
            throws IOException {
        FileObject fromDirectory = fromSlot.fill(tree.locate(arguments.from().directory())).requireDirectory();
        FileObject toDirectory = toSlot.fill(tree.locate(arguments.to().directory())).requireDirectory();
        AccessControl.require(!export.readOnly(), NfsStatus.ROFS);
        AccessControl.requireSearch(call.caller(), fromDirectory.attributes());
        AccessControl.requireSearch(call.caller(), toDirectory.attributes());
        String fromName = FileNames.requireOrdinary(arguments.from().name(), NfsStatus.INVAL);
        String toName = FileNames.requireOrdinary(arguments.to().name(), NfsStatus.INVAL);
        FileObject file = tree.child(fromDirectory, fromName);
        FileObject replaced = tree.childOrNull(toDirectory, toName);
        boolean isSameFile = replaced != null && replaced.node() == file.node();
        if (!isSameFile) { // nothing happens, and takes no permission: both names stay, says RFC 1813, section 3.3.14
            requireAllowed(call.caller(), fromDirectory, file, toDirectory, replaced);
            openFiles.requireMovable(file);
            call.willChange(toDirectory);
            if (fromDirectory.node() != toDirectory.node()) {
                call.willChange(fromDirectory);
            }
            move(fromDirectory, fromName, file, toDirectory, toName, replaced);
        }
        fromSlot.write();
        toSlot.write();
    }

    private void requireAllowed(Credentials caller, FileObject fromDirectory, FileObject file, FileObject toDirectory,
                                FileObject replaced) throws IOException {
        AccessControl.requireRemove(caller, fromDirectory.attributes(), file.attributes());
        if (replaced == null) {
            AccessControl.requireAdd(caller, toDirectory.attributes());
        } else {
            AccessControl.requireRemove(caller, toDirectory.attributes(), replaced.attributes());
        }
        boolean isDirectory = file.attributes().isDirectory();
        if (isDirectory) {
            AccessControl.require(!tree.isBelow(toDirectory, file), NfsStatus.INVAL);
            if (fromDirectory.node() != toDirectory.node()) {
                AccessControl.requireMove(caller, file.attributes());
            }
        }
        if (replaced != null) {
            boolean replacesDirectory = replaced.attributes().isDirectory();
            AccessControl.require(!isDirectory || replacesDirectory, NfsStatus.NOTDIR);
            AccessControl.require(isDirectory || !replacesDirectory, NfsStatus.ISDIR);
        }
    }

    private void move(FileObject fromDirectory, String fromName, FileObject file, FileObject toDirectory, String toName,
                      FileObject replaced) throws IOException {
        Path target = LocalNames.child(toDirectory.path(), toName);
        long replacedBytes = replaced == null ? 0 : names.bytesOf(replaced);
        // Some file systems replace only when told so; the others do so whenever the move is atomic.
        Files.move(file.path(), target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        names.remove(replacedBytes);
        if (replaced != null) {
            tree.removed(toDirectory, toName, replaced);
            openFiles.evict(replaced.node().id());
        }
        tree.renamed(fromDirectory, fromName, file, toDirectory, toName);
    }

    /** Takes the lock itself: the file is opened, too, since its count of names changes. */
    void link(NfsCall call) throws IOException {
        LinkArguments arguments = LinkArguments.read(call.arguments());
        AttributeSlot fileSlot = call.attributes(); // which failures without the lock tell, too
        AttributeSlot directorySlot = call.changes();
        openFiles.withoutLease(tree.idOf(arguments.file()), false, call.caller(),
                () -> call.locked(tree.exclusiveNames(), () -> link(call, arguments, fileSlot, directorySlot)));
    }

    private void link(NfsCall call, LinkArguments arguments, AttributeSlot fileSlot, AttributeSlot directorySlot)
            throws IOException {
        FileObject file = fileSlot.fill(tree.locate(arguments.file()));
        FileObject directory = directorySlot.fillToChange(arguments.link().directory(), export);
        String name = FileNames.requireOrdinary(arguments.link().name(), NfsStatus.EXIST);
        AccessControl.requireSearch(call.caller(), directory.attributes());
        AccessControl.require(!file.attributes().isDirectory(), NfsStatus.INVAL);
        AccessControl.require(tree.childOrNull(directory, name) == null, NfsStatus.EXIST);
        AccessControl.requireAdd(call.caller(), directory.attributes());
        requireLinkable(file);
        openFiles.requireMovable(file);
        long nameBytes = names.bytesOf(file);
        names.requireRoom(nameBytes);
        call.willChangeIfReadable(file);
        call.willChange(directory);
        Files.createLink(LocalNames.child(directory.path(), name), file.path());
        names.add(nameBytes);
        tree.changed(file);
        tree.changed(directory);
        tree.child(directory, name);
        fileSlot.writeNow();
        directorySlot.write();
    }

    /** Java leaves open whether a link to a symbolic link is one to its target; only the operating system's are known. */
    private void requireLinkable(FileObject file) throws NfsException {
        AccessControl.require(file.attributes().type() != FileType.SYMBOLIC_LINK || tree.store() instanceof UnixAttributes,
                NfsStatus.NOTSUPP);
    }
}
