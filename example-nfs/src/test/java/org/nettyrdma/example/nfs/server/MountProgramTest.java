package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcCallHeader;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.ExportEntry;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountEntry;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountResult;
import org.nettyrdma.example.nfs.protocol.MountStatus;
import org.nettyrdma.example.nfs.protocol.MountUpperLayerBinding;
import org.nettyrdma.example.nfs.protocol.NameText;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class MountProgramTest extends NfsTest {

    MountProgramTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private MountStatus mount(String path) {
        return MountStatus.read(client.callMount(MountProcedure.MNT, out -> Xdr.writeString(out, path)));
    }

    private List<String> mounted() {
        return MountEntry.readList(client.callMount(MountProcedure.DUMP, out -> { })).stream()
                .map(MountEntry::directory).toList();
    }

    @Test
    void shouldMountTheExportAndDirectoriesInIt() {
        FileHandle directory = client.makeDirectory(top, "directory");
        FileHandle below = client.makeDirectory(directory, "below");
        assertEquals(top, client.mount("/"));
        assertEquals(directory, client.mount("/directory"));
        assertEquals(below, client.mount("/directory//below/"));
    }

    @Test
    void shouldTellTheFlavors() {
        ByteBuf body = client.callMount(MountProcedure.MNT, out -> Xdr.writeString(out, "/"));
        assertEquals(MountStatus.OK, MountStatus.read(body));
        assertEquals(List.of(1, 0), MountResult.read(body).flavors());
    }

    @Test
    void shouldMountByTheNameOfTheExport() throws IOException {
        client.makeDirectory(top, "directory");
        restart(export().withName("/data/set"), options());
        top = client.mount("/data/set");
        assertEquals(client.lookup(top, "directory").handle(), client.mount("/data/set/directory"));
        assertEquals(MountStatus.ACCES, mount("/"));
        assertEquals(MountStatus.ACCES, mount("/data"));
        assertEquals(MountStatus.ACCES, mount("/data/set2"));
        assertEquals(List.of(new ExportEntry("/data/set", List.of())),
                ExportEntry.readList(client.callMount(MountProcedure.EXPORT, out -> { })));
    }

    @Test
    void shouldRefuseToMount() {
        client.create(top, "file");
        client.symbolicLink(top, "link", "/").ok(NfsTestClient.Created::read);
        assertEquals(MountStatus.NOENT, mount("/missing"));
        assertEquals(MountStatus.NOTDIR, mount("/file"));
        assertEquals(MountStatus.NOTDIR, mount("/link"));
        assertEquals(MountStatus.ACCES, mount("/.."));
        assertEquals(MountStatus.ACCES, mount("relative"));
        assertEquals(MountStatus.ACCES, mount(""));
        assertEquals(MountStatus.NAMETOOLONG, mount("/" + "x".repeat(256)));
    }

    @Test
    void shouldRefuseToMountWhatIsNoUtf8() {
        ByteBuf body = client.callMount(MountProcedure.MNT, out -> NameText.write(out, "/lat\uDCE4n"));
        assertEquals(fileSystem == TestFileSystem.MEMORY ? MountStatus.ACCES : MountStatus.NOENT, MountStatus.read(body));
    }

    @Test
    void shouldKeepAListOfMounts() {
        client.makeDirectory(top, "directory");
        client.mount("/directory");
        client.mount("/directory");
        assertEquals(List.of("/", "/directory"), mounted());
        assertFalse(client.callMount(MountProcedure.UMNT, out -> Xdr.writeString(out, "/")).isReadable());
        assertEquals(List.of("/directory"), mounted());
        assertFalse(client.callMount(MountProcedure.UMNTALL, out -> { }).isReadable());
        assertEquals(List.of(), mounted());
    }

    @Test
    void shouldListAddressesInTheirShortForm() throws IOException {
        byte[] linkLocal = NetUtil.createByteArrayFromIpAddressString("fe80::1");
        assertEquals("::1", MountProgram.hostOf(new InetSocketAddress(NetUtil.LOCALHOST6, 1)));
        assertEquals("127.0.0.1", MountProgram.hostOf(new InetSocketAddress(NetUtil.LOCALHOST4, 1)));
        assertEquals("fe80::1%7", MountProgram.hostOf(new InetSocketAddress(Inet6Address.getByAddress(null, linkLocal, 7), 1)));
        assertEquals("embedded", MountProgram.hostOf(new EmbeddedChannel().remoteAddress()));
    }

    /** A client that asks for the list a thousand times and reads nothing must not get more memory than is counted. */
    @Test
    void shouldTakeMemoryForTheListOfMounts() {
        client.makeDirectory(top, "directory");
        for (int i = 0; i < 1000; i++) {
            client.mount("/directory" + "/".repeat(i));
        }
        MemoryBudget memory = new MemoryBudget(1 << 20);
        AtomicLong taken = new AtomicLong();
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                taken.set(memory.usedBytes());
                ctx.write(msg, promise);
            }
        }, new RpcServerHandler(List.of(service.mountProgram()), null, RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, 0, memory,
                TransferLimits.DEFAULT));
        ByteBuf call = channel.alloc().buffer();
        new RpcCallHeader(1, Mount.PROGRAM, Mount.VERSION, MountProcedure.DUMP.number(), OpaqueAuth.NONE, OpaqueAuth.NONE)
                .write(call);
        channel.writeInbound(call);
        ByteBuf reply = channel.readOutbound();
        assertTrue(reply.readableBytes() <= taken.get(), () -> reply.readableBytes() + " bytes, counted as " + taken);
        assertTrue(reply.readableBytes() <= 24 + MountUpperLayerBinding.MAX_LIST_BYTES, "what clients over RDMA have room for");
        List<MountEntry> list = MountEntry.readList(reply.skipBytes(24));
        assertEquals("/directory" + "/".repeat(999), list.get(list.size() - 1).directory());
        assertFalse(reply.isReadable());
        reply.release();
        assertFalse(channel.finishAndReleaseAll());
    }

    @Test
    void shouldAnswerNullAndRefuseOtherProcedures() {
        assertFalse(client.callMount(MountProcedure.NULL, out -> { }).isReadable());
        client.send(99, Mount.PROGRAM, Mount.VERSION, 6, out -> { });
        assertEquals(3, client.reply().body().getInt(20), "PROC_UNAVAIL");
        client.send(100, Mount.PROGRAM, Mount.VERSION, 1, out -> out.writeInt(2000));
        assertEquals(4, client.reply().body().getInt(20), "GARBAGE_ARGS");
    }
}
