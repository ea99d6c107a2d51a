package org.nettyrdma.benchmarks;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The RPC program that every transport serves. Its READ answers with the same memory again and again, so that what is measured is
 * how bytes move, not how a server makes them.
 */
final class BenchmarkProgram implements RpcProgram {

    /** From the range that RFC 5531 leaves to users. */
    static final int PROGRAM = 0x2000_7264;
    static final int VERSION = 1;

    private static final AttributeKey<ByteBuf> SOURCE = AttributeKey.valueOf(BenchmarkProgram.class, "source");

    /** Largest opaque in either direction, in bytes. */
    private final int maxOpaqueBytes;

    BenchmarkProgram(int maxOpaqueBytes) {
        this.maxOpaqueBytes = maxOpaqueBytes;
    }

    @Override
    public int program() {
        return PROGRAM;
    }

    @Override
    public int lowestVersion() {
        return VERSION;
    }

    @Override
    public int highestVersion() {
        return VERSION;
    }

    @Override
    public void call(RpcCall call) {
        int procedure = call.procedure();
        if (procedure == 0) {
            call.reply(call.alloc().directBuffer(0));
        } else if (procedure == Operation.ECHO.procedure()) {
            echo(call);
        } else if (procedure == Operation.READ.procedure()) {
            read(call);
        } else if (procedure == Operation.WRITE.procedure()) {
            ByteBuf data = Xdr.readOpaqueSlice(call.arguments(), maxOpaqueBytes, "data");
            call.reply(call.newResults(Integer.BYTES).writeInt(data.readableBytes()));
        } else if (procedure == Operation.CHECKSUM.procedure()) {
            ByteBuf data = Xdr.readOpaqueSlice(call.arguments(), maxOpaqueBytes, "data");
            call.reply(call.alloc().directBuffer(Integer.BYTES).writeInt(Payload.checksum(data)));
        } else {
            call.replyProcedureUnavailable();
        }
    }

    private void echo(RpcCall call) {
        ByteBuf data = Xdr.readOpaqueSlice(call.arguments(), maxOpaqueBytes, "data");
        ByteBuf results = call.newResults(Integer.BYTES + Xdr.paddedLength(data.readableBytes()));
        Xdr.writeOpaque(results, data);
        call.reply(results);
    }

    private void read(RpcCall call) {
        int count = Xdr.readInt(call.arguments(), "count");
        if (count < 0 || count > maxOpaqueBytes || (count & 3) != 0) {
            call.replyGarbageArguments();
            return;
        }
        ByteBuf length = call.alloc().directBuffer(Integer.BYTES).writeInt(count);
        CompositeByteBuf results = call.alloc().compositeDirectBuffer(3) // with room for the header
                .addComponent(true, length)
                .addComponent(true, source(call.channel()).retainedSlice(0, count));
        call.reply(results, List.of(new DataItem(Integer.BYTES, count)));
    }

    private ByteBuf source(Channel channel) {
        ByteBuf source = channel.attr(SOURCE).get();
        if (source == null) {
            ByteBuf created = Payload.newBuffer(channel.alloc(), maxOpaqueBytes);
            channel.attr(SOURCE).set(created);
            channel.closeFuture().addListener(closed -> created.release());
            source = created;
        }
        return source;
    }
}
