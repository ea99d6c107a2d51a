package org.nettyrdma.codec.rpcrdma.legacy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;

/**
 * Serves the Connection Configuration Protocol for old clients: {@code RpcRdma.server().program(new
 * ConnectionConfigurationProgram())}, besides the programs that these clients want to call. One object serves any number of
 * servers.
 *
 * <p>Two values of a request take effect on its connection, from the answer on:
 * <ul>
 * <li>{@code maxreply_sendsize}: replies up to that size go inline, as far as this side's own inline threshold allows
 * <li>{@code maxrdmaread}, if it is 0: calls with Read chunks are refused with ERR_CHUNK
 * </ul>
 * Two values have no effect: {@code maxcall_sendsize}, because the size of receive buffers is fixed when a connection is made and
 * the answer tells it; {@code maxrdmaread} above 0, because the depth of RDMA Reads is settled while connecting, below this
 * protocol. Calls of the reverse direction, which the old protocol does not have, keep their limit. The answer asks for an
 * alignment of 4, which all XDR data has: receive buffers are not chained, so padding would be wasted.
 *
 * <p>Arguments that are not 12 bytes, or sizes below 1024, are answered with GARBAGE_ARGS. On a channel that is no
 * {@link RdmaChannel} there is nothing to configure, and the answer is PROC_UNAVAIL.
 */
public final class ConnectionConfigurationProgram implements RpcProgram {

    private static final int NULL = 0;
    private static final int ALIGN_BYTES = 4;

    /** Creates a program. */
    public ConnectionConfigurationProgram() {
    }

    @Override
    public int program() {
        return ConnectionConfiguration.PROGRAM;
    }

    @Override
    public int lowestVersion() {
        return ConnectionConfiguration.VERSION;
    }

    @Override
    public int highestVersion() {
        return ConnectionConfiguration.VERSION;
    }

    @Override
    public void call(RpcCall call) {
        if (call.procedure() == NULL) {
            call.reply(Unpooled.EMPTY_BUFFER);
        } else if (call.procedure() == ConnectionConfiguration.CONFIGURE && call.channel() instanceof RdmaChannel channel) {
            configure(call, channel);
        } else {
            call.replyProcedureUnavailable();
        }
    }

    private static void configure(RpcCall call, RdmaChannel channel) {
        ConnectionConfiguration.Request request = ConnectionConfiguration.Request.read(call.arguments());
        ConnectionConfiguration.apply(channel, request.maxReplySendBytes(), request.maxReads() > 0);
        ByteBuf results = call.alloc().buffer();
        new ConnectionConfiguration.Reply(ConnectionConfiguration.sizesOf(channel).receiveBytes(), ALIGN_BYTES,
                ConnectionConfiguration.readsOf(channel)).write(results);
        call.reply(results);
    }
}
