package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Files;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WireForm;

/** LOOKUP and READLINK (RFC 1813, sections 3.3.3 and 3.3.5). */
final class LookupProcedures {

    private final FileTree tree;

    LookupProcedures(FileTree tree) {
        this.tree = tree;
    }

    void lookup(NfsCall call) throws IOException {
        DirectoryOperationArguments arguments = DirectoryOperationArguments.read(call.arguments());
        AttributeSlot slot = call.attributes();
        FileObject directory = slot.fill(tree.locate(arguments.directory())).requireDirectory();
        AccessControl.requireSearch(call.caller(), directory.attributes());
        FileObject file = tree.lookup(directory, arguments.name());
        file.node().handle().write(call.out());
        WireForm.writeOptional(file.attributes(), call.out());
        slot.write();
    }

    /** The server says what the link says; to follow it is the client's business. */
    void readLink(NfsCall call) throws IOException {
        FileHandle handle = FileHandle.read(call.arguments());
        AttributeSlot slot = call.attributes();
        FileObject link = slot.fill(tree.locate(handle));
        AccessControl.require(link.attributes().type() == FileType.SYMBOLIC_LINK, NfsStatus.INVAL);
        String target = LocalNames.textOf(Files.readSymbolicLink(link.path()));
        slot.write();
        ByteBuf out = call.out();
        int position = out.readableBytes() + Integer.BYTES;
        NameText.write(out, target);
        call.setDataItem(new DataItem(position, out.getInt(position - Integer.BYTES)));
    }
}
