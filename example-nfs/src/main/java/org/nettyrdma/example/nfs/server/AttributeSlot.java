package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccAttr;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.protocol.WireForm;

/**
 * A place for attributes that the results of a procedure have on failure as well as on success: {@code post_op_attr}, or
 * {@code wcc_data} where the procedure changes the file. A procedure opens its slots in the order of its results, fills
 * each as soon as it has found the file, and writes them where they belong; where it fails, {@link NfsCall#fail} writes
 * what it had filled.
 *
 * <p>A client whose cache is of the state before takes all that is different after for its own change (RFC 1813, section 2.6).
 * So there is a state before only where no other call can have changed the file between the two.
 */
final class AttributeSlot {

    /** What goes into the results. */
    enum Form {
        /** The {@code post_op_attr} of a file that stays as it is. */
        ATTRIBUTES,
        /** The {@code wcc_data} of a file that is found, changed and looked at again with one lock against all other changes. */
        CHANGES,
        /** The {@code wcc_data} of a file that others may change, too, and which therefore says nothing of before. */
        SHARED_CHANGES
    }

    private final FileTree tree;
    private final Form form;
    private final ByteBuf out;
    private FileObject file;
    private boolean isSettled;
    private Fattr settled;

    AttributeSlot(FileTree tree, Form form, ByteBuf out) {
        this.tree = tree;
        this.form = form;
        this.out = out;
    }

    FileObject fill(FileObject found) {
        file = found;
        return found;
    }

    /** Finds the directory in which names are to change. */
    FileObject fillToChange(FileHandle directory, Export export) throws IOException {
        FileObject found = fill(tree.locate(directory)).requireDirectory();
        AccessControl.require(!export.readOnly(), NfsStatus.ROFS);
        return found;
    }

    /** Writes what the file was when it was found; with {@code wcc_data}, and what it is now. */
    void write() {
        if (form == Form.ATTRIBUTES) {
            WireForm.writeOptional(file == null ? null : file.attributes(), out);
        } else {
            WccAttr before = file == null || form == Form.SHARED_CHANGES ? null : file.attributes().toWccAttr();
            new WccData(before, isSettled ? settled : now()).write(out);
        }
    }

    /** Keeps what is to be written with {@code wcc_data} later, without the lock. */
    void settle() {
        if (form == Form.CHANGES) {
            settled = now();
            isSettled = true;
        }
    }

    /** Writes {@code post_op_attr} of a file that changed after it was found. */
    void writeNow() {
        WireForm.writeOptional(now(), out);
    }

    private Fattr now() {
        return file == null ? null : tree.attributesNow(file.node());
    }
}
