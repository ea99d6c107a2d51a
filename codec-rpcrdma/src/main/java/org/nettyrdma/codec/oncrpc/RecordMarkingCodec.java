package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.TooLongFrameException;
import java.util.Objects;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;

/**
 * Record marking (RFC 5531, section 11): one RPC message per {@link ByteBuf} over a byte stream such as TCP.
 * <pre>{@code
 *  31  30                              0
 * | last | length of the fragment in bytes | fragment ... }</pre>
 *
 * <p><b>Inbound</b> a record's fragments become one buffer. A record that arrived whole, in one buffer and one fragment, is
 * passed up as a retained slice of the buffer. Others are put together from pieces, see {@link RecordAssembler}. The announced
 * length is compared with the limit before any byte of the record is kept. Nothing is allocated from that length. A record over
 * the limit fires {@link TooLongFrameException} and resets the connection. So does one that there is no memory for, with what
 * the allocator has thrown.
 *
 * <p><b>Memory.</b> With a {@link MemoryBudget} a record of more than 16 KiB takes its announced length from the budget before
 * any byte of it is kept. While it waits for the memory, nothing more is read. A peer that sends a record more slowly than
 * {@link TransferLimits} allow loses the connection. While others wait for such memory, the connection ends after a second.
 * While {@code AUTO_READ} is off, each read is answered with one record, and what has come behind it waits for the next read. So
 * where a call waits for memory, those behind it are not decoded, and take no more than the buffer that they came in. Where a
 * handler behind this one has turned it off, up to 16 KiB are read all the same, to see the end of the connection.
 *
 * <p><b>Turns.</b> With a {@link MemoryBudget} no more than 128 records of one fragment each are decoded in a turn of the event
 * loop, or the same work in other pieces. What has come behind them waits for the next turn, in which the other connections have
 * been read. Until then nothing more is read, and {@code AUTO_READ} is off to the end of the turn. What waits when the connection
 * ends, or when this handler is removed, is released. Without a budget all that a read of the channel brings is decoded at once.
 *
 * <p><b>Outbound</b> a {@link ByteBuf} or {@link RpcMessage} leaves as one fragment. Where {@link RpcClient} or
 * {@link RpcServerHandler} has left room in front of a short message, the marker is written there. Otherwise the marker and the
 * message are two buffers, which the channel gathers. A message of another type passes unchanged.
 */
public final class RecordMarkingCodec extends ChannelDuplexHandler {

    private static final int MARKER_BYTES = Integer.BYTES;
    private static final int LAST_FRAGMENT = 0x8000_0000;

    private final RecordAssembler record = new RecordAssembler();
    private final int maxMessageBytes;
    /** {@code null} where nothing is counted. */
    private final MemoryBudget budget;
    private final TransferLimits limits;
    /** {@code null} without a budget. */
    private RecordMemory memory;
    private HeadRoom headRoom;

    /** The bytes of the next marker that are here, in the lower bits; a marker may be split anywhere. */
    private int marker;
    private int markerBytes;
    private boolean inFragment;
    private int fragmentBytesLeft;
    /** Of the last marker; between two records it is the last fragment of the one before. */
    private boolean lastFragment = true;
    private boolean failed;
    private boolean passedUp;

    /**
     * Creates a codec for one channel.
     *
     * @param maxMessageBytes largest RPC message accepted, in bytes and without markers; more than 0. Too small a value shows
     *                        as connections closed with {@link TooLongFrameException}
     * @throws IllegalArgumentException if it is not positive
     */
    public RecordMarkingCodec(int maxMessageBytes) {
        this(maxMessageBytes, null, TransferLimits.DEFAULT);
    }

    /**
     * Creates a codec for one channel, whose records take memory of a budget. The codec must run on the event loop of the
     * channel.
     *
     * @param maxMessageBytes largest RPC message accepted, in bytes and without markers; more than 0. Too small a value shows
     *                        as connections closed with {@link TooLongFrameException}
     * @param memory the memory that the records and calls of all connections share, {@code null} for no limit
     * @param limits          how slowly the peer may send a record that it has begun; only with a budget
     * @throws IllegalArgumentException if {@code maxMessageBytes} is not positive
     */
    public RecordMarkingCodec(int maxMessageBytes, MemoryBudget memory, TransferLimits limits) {
        this.maxMessageBytes = checkPositive(maxMessageBytes, "maxMessageBytes");
        this.budget = memory;
        this.limits = Objects.requireNonNull(limits, "limits");
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        headRoom = HeadRoom.ofThread();
        if (budget != null) {
            memory = new RecordMemory(ctx, budget, limits, this::decode, this::readEnded, this::read);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof ByteBuf in)) {
            ctx.fireChannelRead(msg);
            return;
        }
        if (memory != null) {
            memory.received(in);
        } else {
            decode(ctx, in);
        }
    }

    /** Reads as much as there is memory for; the reference of {@code in} passes to this. */
    private void decode(ChannelHandlerContext ctx, ByteBuf in) {
        try {
            // A handler above may close the channel in between; what follows is then not served any more.
            while (!failed && (in.isReadable() || inFragment && fragmentBytesLeft == 0)) {
                if (memory != null && !memory.takeStep()) {
                    memory.keep(in.retain());
                    return;
                }
                if (inFragment) {
                    readFragment(ctx, in);
                } else {
                    readMarker(ctx, in);
                }
            }
        } catch (RuntimeException | Error e) { // no memory, for instance: where the next record begins, nobody can tell now
            fail(ctx, e);
        } finally {
            in.release();
        }
        if (memory != null && !failed) {
            memory.watch(inFragment || markerBytes > 0 || !lastFragment);
        }
    }

    private void readMarker(ChannelHandlerContext ctx, ByteBuf in) {
        while (markerBytes < MARKER_BYTES && in.isReadable()) {
            marker = marker << Byte.SIZE | in.readUnsignedByte();
            markerBytes++;
        }
        if (markerBytes < MARKER_BYTES) {
            return;
        }
        markerBytes = 0;
        lastFragment = (marker & LAST_FRAGMENT) != 0;
        fragmentBytesLeft = marker & ~LAST_FRAGMENT;
        inFragment = true;
        long messageBytes = (long) record.length() + fragmentBytesLeft;
        if (messageBytes > maxMessageBytes) {
            fail(ctx, new TooLongFrameException("RPC record of at least " + messageBytes + " bytes (limit: "
                    + maxMessageBytes + ", maxMessageBytes)"));
        } else if (memory != null) {
            reserve(ctx, messageBytes);
        }
    }

    /** Of a record in several fragments the length is not known, and asking for more and more might wait for ever. */
    private void reserve(ChannelHandlerContext ctx, long messageBytes) {
        if (!memory.reserve(messageBytes, lastFragment ? messageBytes : maxMessageBytes)) {
            fail(ctx, new TooLongFrameException("RPC record of " + messageBytes + " bytes, more than all memory for calls "
                    + "(MemoryBudget.maxBytes)"));
        }
    }

    private void readFragment(ChannelHandlerContext ctx, ByteBuf in) {
        int length = Math.min(fragmentBytesLeft, in.readableBytes());
        fragmentBytesLeft -= length;
        boolean fragmentEnds = fragmentBytesLeft == 0;
        record.add(ctx.alloc(), in, length, fragmentEnds && lastFragment);
        if (fragmentEnds) {
            inFragment = false;
            if (lastFragment) {
                passedUp = true;
                if (memory == null) {
                    ctx.fireChannelRead(record.take());
                } else {
                    memory.passUp(record.take());
                }
            }
        }
    }

    private void fail(ChannelHandlerContext ctx, Throwable cause) {
        failed = true;
        releaseRecord();
        ctx.fireExceptionCaught(cause);
        ResetClose.close(ctx.channel());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (memory != null) {
            memory.readComplete();
        }
        readEnded(ctx);
    }

    private void readEnded(ChannelHandlerContext ctx) {
        // Whoever reads on demand asked for a message, not for a part of one.
        boolean wantsMore = !passedUp && !ctx.channel().config().isAutoRead() && (memory == null || !memory.isHeldBack());
        passedUp = false;
        ctx.fireChannelReadComplete();
        if (wantsMore) {
            read(ctx);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        releaseRecord();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        releaseRecord();
    }

    private void releaseRecord() {
        record.release();
        if (memory != null) {
            memory.close();
        }
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        if (memory == null || !memory.keepsRead()) {
            ctx.read();
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        ByteBuf message;
        if (msg instanceof RpcMessage rpcMessage) {
            message = rpcMessage.content();
        } else if (msg instanceof ByteBuf buffer) {
            message = buffer;
        } else {
            ctx.write(msg, promise);
            return;
        }
        // Once its marker is written a message must follow, so it can no longer be cancelled.
        if (!promise.setUncancellable()) {
            message.release();
            return;
        }
        int newMarker = LAST_FRAGMENT | message.readableBytes();
        int end = message.writerIndex();
        if (headRoom.take(message, MARKER_BYTES)) {
            message.writeInt(newMarker).writerIndex(end);
        } else {
            ByteBuf separate;
            try {
                separate = ctx.alloc().ioBuffer(MARKER_BYTES);
            } catch (RuntimeException | Error e) { // no memory
                message.release();
                promise.tryFailure(e);
                return;
            }
            ctx.write(separate.writeInt(newMarker));
        }
        ctx.write(message, promise);
    }
}
