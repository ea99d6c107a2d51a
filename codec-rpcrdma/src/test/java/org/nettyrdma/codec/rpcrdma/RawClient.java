package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;

/** Our server, connected to a client that is written by hand. */
public final class RawClient implements AutoCloseable {

    static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    /** From behind the XID: a call of version 1 of the bulk program, before the procedure. */
    public static final String CALL = " 00000000 00000002 20000099 00000001 ";
    public static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    /** From behind the XID: the start of a successful reply. */
    public static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    static final String GARBAGE_ARGS = " 00000001 00000000 00000000 00000000 00000004 ";

    final RpcRdma server;
    public final RawPeer peer;
    public final Channel listener;
    private final BlockingQueue<RdmaChannel> children = new LinkedBlockingQueue<>();

    public RawClient(RpcRdmaBuilder builder) throws Exception {
        this(builder, true);
    }

    /** With or without receives that the server's connections share. */
    RawClient(RpcRdmaBuilder builder, boolean sharedReceives) throws Exception {
        server = builder.build();
        listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        children.add((RdmaChannel) msg);
                        ctx.fireChannelRead(msg);
                    }
                }).childOption(RdmaChannelOption.SHARED_RECEIVES, sharedReceives))
                .bind(RawPeer.loopback()).sync().channel();
        peer = RawPeer.connect(listener, RawPeer.LINUX_CLIENT);
    }

    /** Our end of the connection; once only. */
    RdmaChannel child() throws InterruptedException {
        return children.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** What the calls of the server take of its memory. */
    public long usedBytes() {
        return server.memory().usedBytes();
    }

    /** Exposes a part of a buffer, and returns the segment. */
    RemoteSegment readable(ByteBuf memory, int index, int length) throws Exception {
        return peer.expose(memory, index, length, RemoteAccess.READ).segment();
    }

    RemoteSegment writable(ByteBuf memory, int index, int length) throws Exception {
        return peer.expose(memory, index, length, RemoteAccess.WRITE).segment();
    }

    /** An entry of the Read list. */
    public static String entry(int position, RemoteSegment segment) {
        return String.format("00000001 %08x", position) + RawPeer.hex(segment);
    }

    /** A Write chunk with its presence word; as a Reply chunk it looks the same. */
    public static String chunk(RemoteSegment... segments) {
        StringBuilder text = new StringBuilder("00000001" + String.format("%08x", segments.length));
        for (RemoteSegment segment : segments) {
            text.append(RawPeer.hex(segment));
        }
        return text.toString();
    }

    /** Sends a message from its XID on, and requires an answer from the XID on; both say 32 credits. */
    void exchange(String xid, String type, String callRest, String answerType, String answerRest) throws Exception {
        peer.sendHex(xid + "00000001 00000020" + type + callRest);
        assertEquals(Bytes.digits(xid + "00000001 00000020" + answerType + answerRest), peer.receiveHex());
    }

    /** The server answers another call, and nothing before it. */
    void requireAlive() throws Exception {
        exchange("0000cafe", "00000000", NO_CHUNKS + "0000cafe" + CALL + "00000000" + NO_AUTH, "00000000",
                NO_CHUNKS + "0000cafe" + SUCCESS);
    }

    @Override
    public void close() {
        peer.close();
        listener.close().syncUninterruptibly();
    }
}
