package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.Files;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.AccessArguments;
import org.nettyrdma.example.nfs.protocol.AccessBits;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.SetAttributesArguments;

/** GETATTR, SETATTR and ACCESS (RFC 1813, sections 3.3.1, 3.3.2 and 3.3.4). */
final class AttributeProcedures {

    private final FileTree tree;
    private final Export export;
    private final OpenFiles openFiles;
    private final FileLocks contents;
    private final AttributeChanges changes;

    AttributeProcedures(FileTree tree, Export export, OpenFiles openFiles, FileLocks contents, AttributeChanges changes) {
        this.tree = tree;
        this.export = export;
        this.openFiles = openFiles;
        this.contents = contents;
        this.changes = changes;
    }

    void getAttributes(NfsCall call) throws IOException {
        FileHandle handle = FileHandle.read(call.arguments());
        tree.locate(handle).attributes().write(call.out());
    }

    void setAttributes(NfsCall call) throws IOException {
        new AttributeChange(call).run();
    }

    /**
     * One SETATTR. Takes the locks itself: that of the contents comes first, so that nobody waits for names while a file is
     * written, nor while its size is set. Also to set mode and times Java opens the file.
     */
    private final class AttributeChange {

        private final NfsCall call;
        private final SetAttributesArguments arguments;
        private final AttributeSlot slot;

        private AttributeChange(NfsCall call) {
            this.call = call;
            arguments = SetAttributesArguments.read(call.arguments());
            slot = call.changes();
        }

        private void run() throws IOException {
            boolean forWriting = arguments.attributes().size().isPresent() && !export.readOnly();
            openFiles.withoutLease(tree.idOf(arguments.file()), forWriting, call.caller(), this::withContents);
        }

        private void withContents() throws IOException {
            FileLocks.Held contentsOfFile = contents.exclusive(tree.idOf(arguments.file()));
            try {
                OpenFile toResize = call.locked(tree.exclusiveNames(), this::applyOrOpen);
                if (toResize != null) {
                    resize(toResize);
                    call.locked(tree.exclusiveNames(), this::applyResized);
                }
            } finally {
                contentsOfFile.release();
            }
        }

        /** Returns the file, opened, if it has to be resized first; {@code null} when done. */
        private OpenFile applyOrOpen() throws IOException {
            FileObject file = find();
            AccessControl.require(arguments.guard() == null || arguments.guard().equals(file.attributes().changeTime()),
                    NfsStatus.NOT_SYNC);
            changes.requireAllowed(call.caller(), file, arguments.attributes());
            OpenFile toResize = changes.openToResize(call.caller(), file, arguments.attributes());
            if (toResize == null) {
                apply(file);
            }
            return toResize;
        }

        private void applyResized() throws IOException {
            FileObject file = find();
            changes.requireAllowed(call.caller(), file, arguments.attributes());
            apply(file);
        }

        private FileObject find() throws IOException {
            FileObject file = slot.fill(tree.locate(arguments.file()));
            AccessControl.require(!export.readOnly(), NfsStatus.ROFS);
            return file;
        }

        private void apply(FileObject file) throws IOException {
            call.willChange(file);
            changes.apply(call.caller(), file, arguments.attributes());
            slot.write();
        }

        private void resize(OpenFile toResize) throws IOException {
            try {
                AttributeChanges.resize(toResize, arguments.attributes().size().getAsLong());
            } catch (IOException | RuntimeException e) {
                call.locked(tree.exclusiveNames(), () -> {
                    slot.fill(null); // what was found without the lock is not the state before any more
                    slot.fill(tree.locate(arguments.file()));
                    throw e;
                });
            }
        }
    }

    void access(NfsCall call) throws IOException {
        AccessArguments arguments = AccessArguments.read(call.arguments());
        AttributeSlot slot = call.attributes();
        FileObject file = slot.fill(tree.locate(arguments.file()));
        slot.write();
        Xdr.writeInt(call.out(), AccessControl.grantedBits(call.caller(), file.attributes(),
                arguments.access() & ~deniedBits(file), export.readOnly()));
    }

    /**
     * What the operating system does not let the server do: what belongs to other users where it is not root, file systems that
     * are mounted for reading only, immutable files.
     */
    private static int deniedBits(FileObject file) {
        if (file.attributes().type() == FileType.SYMBOLIC_LINK) {
            return 0; // Java would follow it
        }
        int denied = 0;
        if (!Files.isReadable(file.path())) {
            denied |= AccessBits.READ | AccessBits.EXECUTE; // who executes a file loads it
        }
        if (!Files.isWritable(file.path())) {
            denied |= AccessBits.MODIFY | AccessBits.EXTEND | AccessBits.DELETE;
        }
        return denied;
    }
}
