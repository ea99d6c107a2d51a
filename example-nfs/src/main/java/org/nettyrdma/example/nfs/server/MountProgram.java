package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.InvalidPathException;
import java.util.List;
import org.nettyrdma.codec.oncrpc.AuthFlavor;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.ExportEntry;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountEntry;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountResult;
import org.nettyrdma.example.nfs.protocol.MountStatus;
import org.nettyrdma.example.nfs.protocol.MountUpperLayerBinding;
import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** The MOUNT program: gives out the handles from which clients start (RFC 1813, section 5). Thread safe. */
final class MountProgram implements RpcProgram {

    private static final List<Integer> FLAVORS = List.of(AuthFlavor.AUTH_SYS.code(), AuthFlavor.AUTH_NONE.code());
    private static final int INITIAL_RESULT_BYTES = 256;
    private static final MountUpperLayerBinding BINDING = new MountUpperLayerBinding();

    private final Export export;
    private final FileTree tree;
    private final MountTable mounts = new MountTable();

    MountProgram(Export export, FileTree tree) {
        this.export = export;
        this.tree = tree;
    }

    @Override
    public int program() {
        return Mount.PROGRAM;
    }

    @Override
    public int lowestVersion() {
        return Mount.VERSION;
    }

    @Override
    public int highestVersion() {
        return Mount.VERSION;
    }

    @Override
    public int maxResultBytes(RpcCall call) {
        ReplySpace space = BINDING.layoutOfCall(call.version(), call.procedure(), call.arguments()).replySpace();
        return space == null ? 0 : space.maxReplyBytes();
    }

    @Override
    public void call(RpcCall call) {
        MountProcedure procedure = MountProcedure.of(call.procedure());
        if (procedure == null) {
            call.replyProcedureUnavailable();
            return;
        }
        ByteBuf out = call.alloc().buffer(INITIAL_RESULT_BYTES);
        try {
            execute(procedure, call.arguments(), hostOf(call.remoteAddress()), out);
        } catch (RuntimeException | Error e) {
            out.release();
            throw e;
        }
        call.reply(out);
    }

    /**
     * Tells clients apart by their host, because one may use several connections one after the other or at once. Addresses are
     * in their short form (RFC 5952), and those of one link have its zone.
     */
    static String hostOf(SocketAddress address) {
        if (!(address instanceof InetSocketAddress inet) || inet.isUnresolved()) {
            return String.valueOf(address);
        }
        String longForm = inet.getAddress().getHostAddress();
        int zone = longForm.indexOf('%');
        return NetUtil.toAddressString(inet.getAddress()) + (zone < 0 ? "" : longForm.substring(zone));
    }

    private void execute(MountProcedure procedure, ByteBuf arguments, String host, ByteBuf out) {
        switch (procedure) {
            case NULL -> { }
            case MNT -> mount(readPath(arguments), host, out);
            case DUMP -> MountEntry.writeList(mounts.entries(), out);
            case UMNT -> mounts.remove(new MountEntry(host, readPath(arguments)));
            case UMNTALL -> mounts.removeAll(host);
            case EXPORT -> ExportEntry.writeList(List.of(new ExportEntry(export.name(), List.of())), out);
        }
    }

    private static String readPath(ByteBuf arguments) {
        return NameText.read(arguments, Mount.MAX_PATH_BYTES, "dirpath");
    }

    private void mount(String path, String host, ByteBuf out) {
        try {
            FileObject directory = tree.withNames(() -> find(path));
            Xdr.writeInt(out, MountStatus.OK.code());
            new MountResult(directory.node().handle(), FLAVORS).write(out);
            mounts.add(new MountEntry(host, path));
        } catch (IOException | InvalidPathException e) { // names that a file system in memory cannot have
            Xdr.writeInt(out, statusOf(e).code());
        }
    }

    /** Finds the export, or a directory in it; symbolic links are not followed. */
    private FileObject find(String path) throws IOException {
        String prefix = export.name().equals("/") ? "" : export.name();
        AccessControl.require((path + '/').startsWith(prefix + '/') && !path.isEmpty(), NfsStatus.ACCES);
        FileObject directory = tree.root();
        for (String name : path.substring(prefix.length()).split("/")) {
            if (!name.isEmpty()) {
                AccessControl.require(!FileNames.isDot(name), NfsStatus.ACCES);
                directory = tree.child(directory, name).requireDirectory();
            }
        }
        return directory;
    }

    private static MountStatus statusOf(Exception failure) {
        return switch (NfsErrors.statusOf(failure)) {
            case NOENT -> MountStatus.NOENT;
            case ACCES -> MountStatus.ACCES;
            case NOTDIR -> MountStatus.NOTDIR;
            case NAMETOOLONG -> MountStatus.NAMETOOLONG;
            case IO -> MountStatus.IO;
            default -> MountStatus.SERVERFAULT;
        };
    }
}
