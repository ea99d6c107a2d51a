package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import java.util.Iterator;
import java.util.Map;
import org.nettyrdma.codec.rpcrdma.format.HeaderFormat;
import org.nettyrdma.codec.rpcrdma.format.InlineReceiver;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaCodec;
import org.nettyrdma.handler.credit.CreditGate;

/**
 * The short path of calls and replies without chunks, in one direction of one connection: from the codec to the chunk handler and
 * back, past the handlers between them, and without a message object. Nearly all messages are of this kind, and none of those
 * handlers has more to do for them than to count a credit, which this does.
 * <pre>{@code
 *  RdmaChannel   RpcRdmaCodec   ConnectionHandler   CreditGate   chunk handler   RpcServerHandler or RpcClient
 *       |              |                |                |             |                    |
 *       |------------->|----------------|--------------->|-------------|------------------->|    pipeline
 *       |              |                                               |                    |
 *       |------------->|=============== InlinePath ===================>|------------------->|    short path
 * }</pre>
 *
 * <p>Whatever is not plain takes the way through the pipeline:
 * <ul>
 * <li>all messages before the version is settled, and all once there are control messages
 * <li>those with chunks, errors, and what is malformed or has unknown flags
 * <li>calls that have to wait for a credit, and calls that the peer was not granted
 * <li>replies to calls that have exposed memory
 * </ul>
 * Each step here either does what the handlers would have done, or changes nothing and returns {@code false}. Both paths are
 * synchronous, so that they keep the order of messages.
 *
 * <p>The path is open only if nothing but these handlers stands between codec and chunk handler when the first message comes.
 * Handlers of an application that are put there before see every message. Event loop only.
 */
public final class InlinePath implements InlineReceiver {

    /** The chunk handler. */
    public interface End extends ChannelHandler {

        /** Calls and replies without chunks may take this path. Before this handler is in a pipeline. */
        void inlinePath(InlinePath path);

        /** Whether nothing but the message itself has to be passed on; asked before the credit is counted. */
        boolean takesInline(int xid);

        /**
         * A message is here, whose credit is counted.
         *
         * @param message its reference passes to this
         */
        void inlineReceived(int xid, ByteBuf message);
    }

    private final RpcRdmaCodec codec;
    private final CreditGate gate;
    private final End end;
    private final NegotiatedConnection connection;
    /** Whether replies come in, and calls go out. */
    private final boolean client;
    /** {@code null} as long as the path is not open. */
    private HeaderFormat format;
    private boolean shut;

    private InlinePath(RpcRdmaCodec codec, CreditGate gate, End end, NegotiatedConnection connection) {
        this.codec = codec;
        this.gate = gate;
        this.end = end;
        this.connection = connection;
        this.client = !connection.isServer();
    }

    /** Lays the path of a connection with calls in one direction, before codec and chunk handler are in its pipeline. */
    public static void lay(RpcRdmaCodec codec, CreditGate gate, End end, NegotiatedConnection connection) {
        InlinePath path = new InlinePath(codec, gate, end, connection);
        codec.inlineReceiver(path);
        end.inlinePath(path);
    }

    @Override
    public HeaderFormat format() {
        if (!connection.isSettled()) {
            return null;
        }
        if (format == null && !shut) {
            shut = !isDirect(codec.pipeline());
            format = shut ? null : codec.format(connection.version());
        }
        return format;
    }

    /** Whether no handler is between codec and chunk handler that might want to see messages. */
    private boolean isDirect(ChannelPipeline pipeline) {
        Iterator<Map.Entry<String, ChannelHandler>> handlers = pipeline.iterator();
        boolean behindCodec = false;
        while (handlers.hasNext()) {
            ChannelHandler handler = handlers.next().getValue();
            if (handler == end) {
                return behindCodec;
            }
            if (behindCodec && handler != gate && !(handler instanceof ConnectionHandler)
                    && !(handler instanceof FirstTermsHandler)) {
                return false;
            }
            behindCodec |= handler == codec;
        }
        return false;
    }

    /** Also where the chunk handler leaves the pipeline. */
    @Override
    public void shut() {
        shut = true;
        format = null;
    }

    @Override
    public boolean receive(int xid, long credits, ByteBuf message) {
        if (!end.takesInline(xid)
                || !(client ? gate.tryReceiveResponse(xid, credits) : gate.tryReceiveRequest(credits))) {
            return false;
        }
        end.inlineReceived(xid, message);
        return true;
    }

    /**
     * Writes a call.
     *
     * @param call    the whole call, to go inline; its reference passes to this, unless it returns {@code false}
     * @param promise tells how the write went
     * @return {@code false} if it has to be written through the pipeline; nothing has changed then
     */
    public boolean writeCall(int xid, ByteBuf call, ChannelPromise promise) {
        HeaderFormat open = format();
        if (open == null || !gate.tryBeginRequest(xid, promise)) {
            return false;
        }
        codec.writeInline(open, xid, gate.wantedCredits(), false, call, promise);
        gate.requestWritten(xid, promise);
        return true;
    }

    /**
     * Writes a reply.
     *
     * @param reply   the whole reply, to go inline; its reference passes to this, unless it returns {@code false}
     * @param promise tells how the write went
     * @return {@code false} if it has to be written through the pipeline; nothing has changed then
     */
    public boolean writeReply(int xid, ByteBuf reply, ChannelPromise promise) {
        HeaderFormat open = format();
        if (open == null) {
            return false;
        }
        codec.writeInline(open, xid, gate.grantForResponse(), true, reply, promise);
        return true;
    }
}
