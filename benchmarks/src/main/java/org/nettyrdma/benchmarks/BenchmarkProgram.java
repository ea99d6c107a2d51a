package org.nettyrdma.benchmarks;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The RPC program that every transport serves. Its READ answers with the same memory again and again, so that what is measured is how
 * bytes move, not how a server makes them.
 */
final class BenchmarkProgram implements RpcProgram {

    /** From the range that RFC 5531 leaves to users. */
    static final int PROGRAM = 0x2000_7264;
    static final int VERSION = 1;

    /** Largest opaque in either direction, in bytes. */
    static final int MAX_OPAQUE_BYTES = 1 << 20;

    private static final AttributeKey<ByteBuf> SOURCE = AttributeKey.valueOf(BenchmarkProgram.class, "source");

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
        switch (call.procedure()) {
            case 0 -> call.reply(call.alloc().directBuffer(0));
            case Procedures.ECHO -> echo(call);
            case Procedures.READ -> read(call);
            case Procedures.WRITE -> write(call);
            default -> call.replyProcedureUnavailable();
        }
    }

    private static void echo(RpcCall call) {
        ByteBuf data = Xdr.readOpaqueSlice(call.arguments(), MAX_OPAQUE_BYTES, "data");
        ByteBuf results = call.alloc().directBuffer(Integer.BYTES + Xdr.paddedLength(data.readableBytes()));
        Xdr.writeOpaque(results, data);
        call.reply(results);
    }

    private static void read(RpcCall call) {
        int count = Xdr.readInt(call.arguments(), "count");
        if (count < 0 || count > MAX_OPAQUE_BYTES || (count & 3) != 0) {
            call.replyGarbageArguments();
            return;
        }
        ByteBuf length = call.alloc().directBuffer(Integer.BYTES).writeInt(count);
        CompositeByteBuf results = call.alloc().compositeDirectBuffer(2)
                .addComponent(true, length)
                .addComponent(true, source(call.channel()).retainedSlice(0, count));
        call.reply(results, List.of(new DataItem(Integer.BYTES, count)));
    }

    private static void write(RpcCall call) {
        ByteBuf data = Xdr.readOpaqueSlice(call.arguments(), MAX_OPAQUE_BYTES, "data");
        call.reply(call.alloc().directBuffer(Integer.BYTES).writeInt(data.readableBytes()));
    }

    private static ByteBuf source(Channel channel) {
        ByteBuf source = channel.attr(SOURCE).get();
        if (source == null) {
            ByteBuf created = newPayload(channel.alloc(), MAX_OPAQUE_BYTES);
            channel.attr(SOURCE).set(created);
            channel.closeFuture().addListener(closed -> created.release());
            source = created;
        }
        return source;
    }

    /** Bytes whose first and last word tell their number, so that a reader can see that the right ones came. */
    static ByteBuf newPayload(ByteBufAllocator allocator, int bytes) {
        ByteBuf payload = allocator.directBuffer(bytes, bytes);
        payload.writeZero(bytes);
        payload.setInt(0, bytes);
        payload.setInt(bytes - Integer.BYTES, ~bytes);
        return payload;
    }

    /** The procedure numbers of {@link BenchmarkProgram}. */
    static final class Procedures {
        static final int ECHO = 1;
        static final int READ = 2;
        static final int WRITE = 3;

        private Procedures() {
        }
    }
}
