package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.WccAttr;
import org.nettyrdma.example.nfs.protocol.WccData;

/**
 * A place for attributes that the results of a procedure have on failure as well as on success: {@code post_op_attr}, or
 * {@code wcc_data} where the procedure changes the file. A procedure opens its slots in the order of its results, fills
 * each as soon as it has found the file, and writes them where they belong; where it fails, {@link NfsProgram} writes
 * what it had filled.
 */
final class AttributeSlot {

    private final FileTree tree;
    private final boolean forChanges;
    private FileObject file;

    AttributeSlot(FileTree tree, boolean forChanges) {
        this.tree = tree;
        this.forChanges = forChanges;
    }

    FileObject fill(FileObject found) {
        file = found;
        return found;
    }

    /** Writes what the file was when it was found; with {@code wcc_data}, and what it is now. */
    void write(ByteBuf out) {
        if (forChanges) {
            WccAttr before = file == null ? null : file.attributes().toWccAttr();
            new WccData(before, now()).write(out);
        } else {
            Fattr.writeOptional(file == null ? null : file.attributes(), out);
        }
    }

    /** Writes {@code post_op_attr} of a file that changed after it was found. */
    void writeNow(ByteBuf out) {
        Fattr.writeOptional(now(), out);
    }

    private Fattr now() {
        return file == null ? null : tree.attributesNow(file.node());
    }
}
