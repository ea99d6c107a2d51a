package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;

/** Our server, connected to a client that is written by hand. */
final class RawClient implements AutoCloseable {

    static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    /** From behind the XID: a call of version 1 of the bulk program, before the procedure. */
    static final String CALL = " 00000000 00000002 20000099 00000001 ";
    static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    /** From behind the XID: the start of a successful reply. */
    static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    static final String GARBAGE_ARGS = " 00000001 00000000 00000000 00000000 00000004 ";

    final RpcRdma server;
    final RawPeer peer;
    final Channel listener;

    RawClient(RpcRdma.Builder builder) throws Exception {
        server = builder.build();
        listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
        peer = RawPeer.connect(listener, RawPeer.LINUX_CLIENT);
    }

    /** Exposes a part of a buffer, and returns the segment. */
    RemoteSegment readable(ByteBuf memory, int index, int length) throws Exception {
        return peer.expose(memory, index, length, RemoteAccess.READ).segment();
    }

    RemoteSegment writable(ByteBuf memory, int index, int length) throws Exception {
        return peer.expose(memory, index, length, RemoteAccess.WRITE).segment();
    }

    /** An entry of the Read list. */
    static String entry(int position, RemoteSegment segment) {
        return String.format("00000001 %08x", position) + RawPeer.hex(segment);
    }

    /** A Write chunk with its presence word; as a Reply chunk it looks the same. */
    static String chunk(RemoteSegment... segments) {
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
