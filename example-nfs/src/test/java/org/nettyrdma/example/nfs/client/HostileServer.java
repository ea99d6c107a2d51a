package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongFunction;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.protocol.DeviceNumber;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.ExportEntry;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileSystemInfo;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountResult;
import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.ReadArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryPlusArguments;
import org.nettyrdma.example.nfs.protocol.WireForm;

/**
 * A server over RDMA that says what a test makes it say, and no server should. Number 1 is the root. A directory is a function
 * from the cookie to the page behind it, so that it may have no end.
 */
public final class HostileServer implements AutoCloseable {

    private static final int OWNER_MODE = 0755;

    private final Map<Long, Node> nodes = new ConcurrentHashMap<>();
    private volatile boolean hasReaddirplus = true;
    private final ProgramServer server = new ProgramServer(Transport.RDMA, new NfsProgram(), new MountProgram());

    /** A file of any type. */
    private record Node(FileType type, int links, long size, byte[] content, LongFunction<Page> pages) {
    }

    /** One reply of READDIR or READDIRPLUS; {@code null} in its place refuses the cookie. */
    public record Page(List<DirectoryEntry> entries, boolean last) {
    }

    public NfsEndpoint endpoint(String path) {
        return server.endpoint(path);
    }

    /** Lists entries on one page, just as they are. */
    public HostileServer directory(long number, DirectoryEntry... entries) {
        return directory(number, cookie -> new Page(List.of(entries), true));
    }

    public HostileServer directory(long number, LongFunction<Page> pages) {
        nodes.put(number, new Node(FileType.DIRECTORY, 1, 0, null, pages));
        return this;
    }

    public HostileServer file(long number, String content) {
        return file(number, content, 1);
    }

    /** A file that has lost its end since its attributes were asked for. */
    public HostileServer shorterFile(long number, String content, long size) {
        nodes.put(number, new Node(FileType.REGULAR, 1, size, content.getBytes(StandardCharsets.UTF_8), null));
        return this;
    }

    public HostileServer file(long number, String content, int links) {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        nodes.put(number, new Node(FileType.REGULAR, links, bytes.length, bytes, null));
        return this;
    }

    public HostileServer withoutReaddirplus() {
        hasReaddirplus = false;
        return this;
    }

    public HostileServer link(long number, String target) {
        nodes.put(number, new Node(FileType.SYMBOLIC_LINK, 1, 0, NameText.encode(target), null));
        return this;
    }

    /** A name in a directory, without attributes and handle unless the file exists by now. */
    public DirectoryEntry entry(String name, long number) {
        return entry(name, number, number);
    }

    public DirectoryEntry entry(String name, long number, long cookie) {
        return new DirectoryEntry(number, name, cookie, attributes(number), handle(number));
    }

    private static FileHandle handle(long number) {
        return new FileHandle(ByteBuffer.allocate(Long.BYTES).putLong(number).array());
    }

    private static long number(FileHandle handle) {
        return ByteBuffer.wrap(handle.toByteArray()).getLong();
    }

    private Fattr attributes(long number) {
        Node node = nodes.get(number);
        NfsTime time = new NfsTime(1_000_000_000, 0);
        return new Fattr(node.type, OWNER_MODE, node.links, 0, 0, node.size, node.size, DeviceNumber.NONE, 1, number, time, time,
                time);
    }

    private final class NfsProgram extends Program {

        NfsProgram() {
            super(Nfs.PROGRAM, Nfs.VERSION);
        }

        @Override
        public void call(RpcCall call) {
            ByteBuf results = call.alloc().buffer().writeInt(NfsStatus.OK.code());
            ByteBuf arguments = call.arguments();
            switch (NfsProcedure.of(call.procedure())) {
                case GETATTR -> attributes(number(FileHandle.read(arguments))).write(results);
                case FSINFO -> {
                    WireForm.writeOptional(null, results);
                    new FileSystemInfo(1 << 20,
                            1 << 20, 1, 1 << 20, 1 << 20, 1, 1 << 16, 1 << 30, new NfsTime(0, 1), 0).write(results);
                }
                case LOOKUP -> lookup(DirectoryOperationArguments.read(arguments), results);
                case READDIR -> {
                    ReadDirectoryArguments wanted = ReadDirectoryArguments.read(arguments);
                    list(number(wanted.directory()), wanted.cookie(), DirectoryEntry::write, results);
                }
                case READDIRPLUS -> {
                    if (!hasReaddirplus) {
                        refuse(NfsStatus.NOTSUPP, results);
                        break;
                    }
                    ReadDirectoryPlusArguments wanted = ReadDirectoryPlusArguments.read(arguments);
                    list(number(wanted.directory()), wanted.cookie(), (entry, out) -> {
                        entry.write(out);
                        entry.writeFile(out);
                    }, results);
                }
                case READLINK -> {
                    WireForm.writeOptional(null, results);
                    Xdr.writeOpaque(results, nodes.get(number(FileHandle.read(arguments))).content);
                }
                case READ -> read(ReadArguments.read(arguments), results);
                default -> throw new IllegalStateException("procedure " + call.procedure());
            }
            call.reply(results);
        }

        private void lookup(DirectoryOperationArguments wanted, ByteBuf results) {
            for (DirectoryEntry entry : nodes.get(number(wanted.directory())).pages.apply(0).entries) {
                if (entry.name().equals(wanted.name())) {
                    entry.handle().write(results);
                    WireForm.writeOptional(entry.attributes(), results);
                    WireForm.writeOptional(null, results);
                    return;
                }
            }
            refuse(NfsStatus.NOENT, results);
        }

        private void refuse(NfsStatus status, ByteBuf results) {
            results.setInt(0, status.code());
            WireForm.writeOptional(null, results);
        }

        private void list(long number, long cookie, BiConsumer<DirectoryEntry, ByteBuf> writer, ByteBuf results) {
            Page page = nodes.get(number).pages.apply(cookie);
            if (page == null) {
                refuse(NfsStatus.BAD_COOKIE, results);
                return;
            }
            WireForm.writeOptional(null, results);
            results.writeLong(0);
            for (DirectoryEntry entry : page.entries) {
                Xdr.writeBoolean(results, true);
                writer.accept(entry, results);
            }
            Xdr.writeBoolean(results, false);
            Xdr.writeBoolean(results, page.last);
        }

        private void read(ReadArguments read, ByteBuf results) {
            byte[] content = nodes.get(number(read.file())).content;
            int length = (int) Math.max(0, Math.min(read.count(), content.length - read.offset()));
            WireForm.writeOptional(null, results);
            results.writeInt(length);
            Xdr.writeBoolean(results, read.offset() + length >= content.length);
            byte[] piece = new byte[length];
            System.arraycopy(content, (int) Math.min(read.offset(), content.length), piece, 0, length);
            Xdr.writeOpaque(results, piece);
        }
    }

    private static final class MountProgram extends Program {

        MountProgram() {
            super(Mount.PROGRAM, Mount.VERSION);
        }

        @Override
        public void call(RpcCall call) {
            ByteBuf results = call.alloc().buffer();
            if (call.procedure() == MountProcedure.EXPORT.number()) {
                ExportEntry.writeList(List.of(new ExportEntry("/", List.of())), results);
            } else {
                results.writeInt(0);
                new MountResult(handle(1), new ArrayList<>()).write(results);
            }
            call.reply(results);
        }
    }

    private abstract static class Program implements RpcProgram {

        private final int program;
        private final int version;

        Program(int program, int version) {
            this.program = program;
            this.version = version;
        }

        @Override
        public int program() {
            return program;
        }

        @Override
        public int lowestVersion() {
            return version;
        }

        @Override
        public int highestVersion() {
            return version;
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
