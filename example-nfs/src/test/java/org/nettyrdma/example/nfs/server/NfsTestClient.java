package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcCallHeader;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.AccessArguments;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.LinkArguments;
import org.nettyrdma.example.nfs.protocol.MakeDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountResult;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.ReadArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryPlusArguments;
import org.nettyrdma.example.nfs.protocol.RenameArguments;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.SetAttributesArguments;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.SymbolicLinkArguments;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.protocol.WireForm;
import org.nettyrdma.example.nfs.protocol.WriteArguments;

/** Makes one call at a time, as one user, through a real {@link RpcServerHandler} on the calling thread. */
final class NfsTestClient {

    /** An answer: everything behind the reply header, on the heap. */
    record Reply(ByteBuf body, List<DataItem> items) {

        NfsStatus status() {
            return NfsStatus.of(body.getInt(0));
        }

        /** Checks the status and returns the body behind it. */
        ByteBuf expect(NfsStatus expected) {
            assertEquals(expected, status());
            return body.slice(Integer.BYTES, body.readableBytes() - Integer.BYTES);
        }

        /** Checks the status and reads the rest, all of it. */
        <T> T expect(NfsStatus expected, Function<ByteBuf, T> reader) {
            ByteBuf rest = expect(expected);
            T result = reader.apply(rest);
            assertFalse(rest.isReadable(), () -> rest.readableBytes() + " bytes too many");
            return result;
        }

        <T> T ok(Function<ByteBuf, T> reader) {
            return expect(NfsStatus.OK, reader);
        }
    }

    /** What CREATE and its kin answer. */
    record Created(FileHandle handle, Fattr attributes, WccData directory) {
        static Created read(ByteBuf in) {
            return new Created(FileHandle.readOptional(in), Fattr.readOptional(in), WccData.read(in));
        }
    }

    /** What LOOKUP answers. */
    record Found(FileHandle handle, Fattr attributes, Fattr directory) {
        static Found read(ByteBuf in) {
            return new Found(FileHandle.read(in), Fattr.readOptional(in), Fattr.readOptional(in));
        }
    }

    /** What READ answers. */
    record Data(Fattr attributes, int count, boolean endOfFile, byte[] bytes) {
        static Data read(ByteBuf in) {
            return new Data(Fattr.readOptional(in), Xdr.readInt(in, "count"), Xdr.readBoolean(in, "eof"),
                    Xdr.readOpaque(in, Nfs.MAX_DATA_BYTES, "data"));
        }
    }

    /** What WRITE answers. */
    record Written(WccData file, int count, int stable, long verifier) {
        static Written read(ByteBuf in) {
            return new Written(WccData.read(in), Xdr.readInt(in, "count"), Xdr.readInt(in, "committed"),
                    Xdr.readHyper(in, "verf"));
        }
    }

    /** What READDIR and READDIRPLUS answer. */
    record Listing(Fattr directory, long verifier, List<DirectoryEntry> entries, boolean isWhole) {
        static Listing read(ByteBuf in, Function<ByteBuf, DirectoryEntry> entryReader) {
            Fattr directory = Fattr.readOptional(in);
            long verifier = Xdr.readHyper(in, "cookieverf");
            List<DirectoryEntry> entries = new ArrayList<>();
            while (Xdr.readBoolean(in, "entry follows")) {
                entries.add(entryReader.apply(in));
            }
            return new Listing(directory, verifier, entries, Xdr.readBoolean(in, "eof"));
        }

        List<String> names() {
            return entries.stream().map(DirectoryEntry::name).toList();
        }

        long lastCookie() {
            return entries.get(entries.size() - 1).cookie();
        }
    }

    private static final int REPLY_HEADER_BYTES = 24;

    private final EmbeddedChannel channel;
    private int maxReplyPieces;
    private final OpaqueAuth credential;
    private int nextXid = 1;

    NfsTestClient(NfsService service, AuthSys user) {
        this(service, user == null ? OpaqueAuth.NONE : user.toOpaqueAuth());
    }

    NfsTestClient(NfsService service, OpaqueAuth credential) {
        this(credential, service.nfsProgram(), service.mountProgram());
    }

    NfsTestClient(OpaqueAuth credential, RpcProgram... programs) {
        channel = new EmbeddedChannel(new RpcServerHandler(programs));
        this.credential = credential;
    }

    static AuthSys user(int userId, Integer... groupIds) {
        return new AuthSys(0, "client", userId, groupIds.length == 0 ? userId : groupIds[0], List.of(groupIds));
    }

    void close() {
        assertFalse(channel.finishAndReleaseAll());
    }

    Reply call(NfsProcedure procedure, WireForm arguments) {
        return call(nextXid++, procedure, arguments);
    }

    Reply call(int xid, NfsProcedure procedure, WireForm arguments) {
        send(xid, Nfs.PROGRAM, Nfs.VERSION, procedure.number(), arguments);
        return acceptedReply(xid);
    }

    ByteBuf callMount(MountProcedure procedure, WireForm arguments) {
        int xid = nextXid++;
        send(xid, Mount.PROGRAM, Mount.VERSION, procedure.number(), arguments);
        return acceptedReply(xid).body();
    }

    void send(int xid, int program, int version, int procedure, WireForm arguments) {
        ByteBuf message = channel.alloc().buffer();
        new RpcCallHeader(xid, program, version, procedure, credential, OpaqueAuth.NONE).write(message);
        arguments.write(message);
        channel.writeInbound(message);
    }

    private Reply acceptedReply(int xid) {
        Reply message = reply();
        ByteBuf header = message.body();
        assertEquals(xid, header.getInt(0));
        assertEquals(0, header.getInt(20), "accept_stat");
        List<DataItem> items = message.items().stream().map(item -> item.movedBy(-REPLY_HEADER_BYTES)).toList();
        return new Reply(header.slice(REPLY_HEADER_BYTES, header.readableBytes() - REPLY_HEADER_BYTES), items);
    }

    /** How many pieces the last reply had room for. */
    int maxReplyPieces() {
        return maxReplyPieces;
    }

    /** The next message that the server sent, with its header. */
    Reply reply() {
        Object message = channel.readOutbound();
        try {
            ByteBuf bytes = message instanceof ByteBufHolder holder ? holder.content() : (ByteBuf) message;
            maxReplyPieces = bytes instanceof CompositeByteBuf pieces ? pieces.maxNumComponents() : 1;
            List<DataItem> items = message instanceof RpcMessage rpc ? rpc.dataItems() : List.of();
            return new Reply(Unpooled.wrappedBuffer(ByteBufUtil.getBytes(bytes)), items);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    FileHandle mount(String path) {
        ByteBuf body = callMount(MountProcedure.MNT, out -> Xdr.writeString(out, path));
        assertEquals(0, body.readInt());
        FileHandle handle = MountResult.read(body).handle();
        assertFalse(body.isReadable());
        return handle;
    }

    static WireForm name(FileHandle directory, String name) {
        return new DirectoryOperationArguments(directory, name);
    }

    Fattr attributes(FileHandle file) {
        return call(NfsProcedure.GETATTR, file).ok(Fattr::read);
    }

    Reply setAttributes(FileHandle file, Sattr changes, NfsTime guard) {
        return call(NfsProcedure.SETATTR, new SetAttributesArguments(file, changes, guard));
    }

    void mode(FileHandle file, int mode) {
        setAttributes(file, Sattr.NONE.withMode(mode), null).ok(WccData::read);
    }

    Found lookup(FileHandle directory, String name) {
        return call(NfsProcedure.LOOKUP, name(directory, name)).ok(Found::read);
    }

    boolean exists(FileHandle directory, String name) {
        return call(NfsProcedure.LOOKUP, name(directory, name)).status() == NfsStatus.OK;
    }

    Reply create(FileHandle directory, String name, CreateMode mode, Sattr attributes, long verifier) {
        DirectoryOperationArguments where = new DirectoryOperationArguments(directory, name);
        return call(NfsProcedure.CREATE, new CreateArguments(where, mode, attributes, verifier));
    }

    FileHandle create(FileHandle directory, String name) {
        Created created = create(directory, name, CreateMode.GUARDED, Sattr.NONE.withMode(0644), 0).ok(Created::read);
        assertTrue(created.handle() != null && created.attributes() != null);
        return created.handle();
    }

    FileHandle create(FileHandle directory, String name, String content) {
        FileHandle file = create(directory, name);
        write(file, 0, content);
        return file;
    }

    Reply makeDirectoryReply(FileHandle directory, String name, Sattr attributes) {
        DirectoryOperationArguments where = new DirectoryOperationArguments(directory, name);
        return call(NfsProcedure.MKDIR, new MakeDirectoryArguments(where, attributes));
    }

    FileHandle makeDirectory(FileHandle directory, String name) {
        return makeDirectoryReply(directory, name, Sattr.NONE.withMode(0755)).ok(Created::read).handle();
    }

    Reply symbolicLink(FileHandle directory, String name, String target) {
        DirectoryOperationArguments where = new DirectoryOperationArguments(directory, name);
        return call(NfsProcedure.SYMLINK, new SymbolicLinkArguments(where, Sattr.NONE.withMode(0777), target));
    }

    Reply remove(FileHandle directory, String name) {
        return call(NfsProcedure.REMOVE, name(directory, name));
    }

    Reply removeDirectory(FileHandle directory, String name) {
        return call(NfsProcedure.RMDIR, name(directory, name));
    }

    Reply rename(FileHandle fromDirectory, String from, FileHandle toDirectory, String to) {
        return call(NfsProcedure.RENAME, new RenameArguments(new DirectoryOperationArguments(fromDirectory, from),
                new DirectoryOperationArguments(toDirectory, to)));
    }

    Reply link(FileHandle file, FileHandle directory, String name) {
        return call(NfsProcedure.LINK, new LinkArguments(file, new DirectoryOperationArguments(directory, name)));
    }

    Reply write(FileHandle file, long offset, byte[] data, StableHow stable) {
        return call(NfsProcedure.WRITE,
                new WriteArguments(file, offset, data.length, stable, Unpooled.wrappedBuffer(data)));
    }

    void write(FileHandle file, long offset, String content) {
        byte[] data = content.getBytes(StandardCharsets.UTF_8);
        assertEquals(data.length, write(file, offset, data, StableHow.FILE_SYNC).ok(Written::read).count());
    }

    /** Which of the bits asked for this client has. */
    int access(FileHandle file, int requested) {
        return call(NfsProcedure.ACCESS, new AccessArguments(file, requested)).ok(in -> {
            assertNotNull(Fattr.readOptional(in));
            return Xdr.readInt(in, "access");
        });
    }

    Reply readReply(FileHandle file, long offset, long count) {
        return call(NfsProcedure.READ, new ReadArguments(file, offset, count));
    }

    String read(FileHandle file) {
        return new String(readReply(file, 0, Nfs.MAX_DATA_BYTES).ok(Data::read).bytes(), StandardCharsets.UTF_8);
    }

    Reply readDirectoryReply(FileHandle directory, long cookie, long verifier, long count) {
        return call(NfsProcedure.READDIR, new ReadDirectoryArguments(directory, cookie, verifier, count));
    }

    Listing readDirectory(FileHandle directory, long cookie, long verifier, long count) {
        return readDirectoryReply(directory, cookie, verifier, count).ok(in -> Listing.read(in, DirectoryEntry::read));
    }

    Reply readDirectoryPlusReply(FileHandle directory, long cookie, long verifier, long directoryCount, long maxCount) {
        return call(NfsProcedure.READDIRPLUS,
                new ReadDirectoryPlusArguments(directory, cookie, verifier, directoryCount, maxCount));
    }

    Listing readDirectoryPlus(FileHandle directory, long cookie, long verifier, long directoryCount, long maxCount) {
        return readDirectoryPlusReply(directory, cookie, verifier, directoryCount, maxCount)
                .ok(in -> Listing.read(in, DirectoryEntry::readPlus));
    }
}
