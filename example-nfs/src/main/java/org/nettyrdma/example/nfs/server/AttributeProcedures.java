package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.AccessArguments;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.SetAttributesArguments;

/** GETATTR, SETATTR and ACCESS (RFC 1813, sections 3.3.1, 3.3.2 and 3.3.4). */
final class AttributeProcedures {

    private final FileTree tree;
    private final Export export;
    private final FileLocks contents;
    private final AttributeChanges changes;

    AttributeProcedures(FileTree tree, Export export, FileLocks contents, AttributeChanges changes) {
        this.tree = tree;
        this.export = export;
        this.contents = contents;
        this.changes = changes;
    }

    void getAttributes(NfsCall call, ByteBuf out) throws IOException {
        FileHandle handle = FileHandle.read(call.arguments());
        tree.locate(handle).attributes().write(out);
    }

    /** Takes the locks itself: that of the contents comes first, so that nobody waits for names while a file is written. */
    void setAttributes(NfsCall call, ByteBuf out) throws IOException {
        SetAttributesArguments arguments = SetAttributesArguments.read(call.arguments());
        AttributeSlot slot = call.changes();
        FileLocks.Held contentsOfFile = contents.exclusive(FileHandles.claimedId(arguments.file()));
        try {
            call.locked(tree.exclusiveNames(), () -> {
                change(call, arguments, slot);
                slot.write(out);
                return null;
            });
        } finally {
            contentsOfFile.release();
        }
    }

    private void change(NfsCall call, SetAttributesArguments arguments, AttributeSlot slot) throws IOException {
        FileObject file = slot.fill(tree.locate(arguments.file()));
        AccessControl.require(!export.readOnly(), NfsStatus.ROFS);
        AccessControl.require(arguments.guard() == null || arguments.guard().equals(file.attributes().changeTime()),
                NfsStatus.NOT_SYNC);
        changes.requireAllowed(call.caller(), file, arguments.attributes());
        changes.apply(call.caller(), file, arguments.attributes());
    }

    void access(NfsCall call, ByteBuf out) throws IOException {
        AccessArguments arguments = AccessArguments.read(call.arguments());
        AttributeSlot slot = call.attributes();
        FileObject file = slot.fill(tree.locate(arguments.file()));
        slot.write(out);
        Xdr.writeInt(out, AccessControl.grantedBits(call.caller(), file.attributes(), arguments.access(), export.readOnly()));
    }
}
