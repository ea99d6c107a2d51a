package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTransportException;

/** Our client, connected to a server that is written by hand. */
public final class RawServer implements AutoCloseable {

    public static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    /** From behind the XID: the start of a successful reply. */
    public static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";

    public final RpcRdma client;
    public final RdmaChannel channel;
    public final RawPeer peer;
    private final Channel listener;
    private final EventLoopGroup group;
    private final BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();

    public RawServer(RpcRdmaBuilder builder) throws Exception {
        this(builder, RawPeer.GROUP);
    }

    /** With a group for the client. */
    RawServer(RpcRdmaBuilder builder, EventLoopGroup group) throws Exception {
        this.group = group;
        client = builder.build();
        listener = RawPeer.listen(RawPeer.LINUX_CLIENT, accepted);
        channel = connect();
        peer = accepted();
    }

    /** Makes another connection, which {@link #accepted} gives the other end of. */
    RdmaChannel connect() throws InterruptedException {
        return (RdmaChannel) client.configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
    }

    RawPeer accepted() throws InterruptedException {
        return accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    public Future<ByteBuf> start(int procedure, ByteBuf arguments) {
        return start(new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments));
    }

    public Future<ByteBuf> start(RpcRequest request) {
        return channel.pipeline().get(RpcClient.class).call(request);
    }

    /** A call of LOAD that the server has received, with its one Write chunk of one segment. */
    public record Offer(Future<ByteBuf> call, String xid, RemoteSegment segment) {

        /** From the version on: a reply that has placed nothing and has nothing inline either. */
        public String emptyReply() {
            return "00000001 00000020 00000000 00000000 00000001 00000001" + RawPeer.hex(segment.withLength(0))
                    + "00000000 00000000" + xid + SUCCESS + "00000000 00000000";
        }
    }

    public Offer offer(int length) throws Exception {
        return offer(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD, Unpooled.buffer().writeInt(length).writeInt(0)));
    }

    /** The same of a call of LOAD that says more. */
    public Offer offer(RpcRequest load) throws Exception {
        Future<ByteBuf> call = start(load);
        ByteBuf sent = peer.receive();
        Offer offer = new Offer(call, ByteBufUtil.hexDump(sent, 0, 4), segmentAt(sent, 28));
        sent.release();
        return offer;
    }

    public static RemoteSegment segmentAt(ByteBuf message, int index) {
        return new RemoteSegment(message.getInt(index), message.getUnsignedInt(index + 4), message.getLong(index + 8));
    }

    /** Sends by Send with Invalidate; a failure shows in what the client does. */
    void sendInvalidating(int steeringTag, String digits) {
        peer.channel().writeAndFlush(new RdmaSend(Bytes.hex(digits), steeringTag));
    }

    /** Another call is answered; from then on there are 32 credits. */
    public void requireAlive() throws Exception {
        Future<ByteBuf> call = start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = peer.receiveHex().substring(0, 8);
        peer.sendHex(xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + SUCCESS);
        RpcRdmaPair.result(call).release();
    }

    /** What the transport says about a call that failed alone. */
    public static RpcRdmaException failure(Future<ByteBuf> call) throws Exception {
        Throwable failure = assertInstanceOf(RpcTransportException.class, RpcRdmaPair.failure(call));
        return assertInstanceOf(RpcRdmaException.class, failure.getCause());
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        peer.close();
        listener.close().syncUninterruptibly();
    }
}
