package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.TooLongFrameException;

/**
 * Record marking (RFC 5531, section 11): one RPC message per {@link ByteBuf} over a byte stream such as TCP.
 * <pre>{@code
 *  31  30                              0
 * | last | length of the fragment in bytes | fragment ... }</pre>
 *
 * <p><b>Inbound</b> a record's fragments become one buffer. A record that arrived whole in one buffer and one fragment is
 * passed up as a retained slice of it; others are put together from pieces, see {@link RecordAssembler}. The length that a
 * marker announces is compared with the limit before anything is kept for it, and nothing is allocated from it. A record
 * over the limit fires {@link TooLongFrameException} and closes the connection.
 *
 * <p><b>Outbound</b> a {@link ByteBuf} or {@link RpcMessage} leaves as one fragment: the marker and the message as two
 * buffers, which the channel gathers. A message of another type passes unchanged.
 */
public final class RecordMarkingCodec extends ChannelDuplexHandler {

    private static final int MARKER_BYTES = Integer.BYTES;
    private static final int LAST_FRAGMENT = 0x8000_0000;

    private final RecordAssembler record = new RecordAssembler();
    private final int maxMessageBytes;

    /** The bytes of the next marker that are here, in the lower bits; a marker may be split anywhere. */
    private int marker;
    private int markerBytes;
    private boolean inFragment;
    private int fragmentBytesLeft;
    private boolean lastFragment;
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
        this.maxMessageBytes = checkPositive(maxMessageBytes, "maxMessageBytes");
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof ByteBuf in)) {
            ctx.fireChannelRead(msg);
            return;
        }
        try {
            // A handler above may close the channel in between; what follows is then not served any more.
            while (!failed && (in.isReadable() || inFragment && fragmentBytesLeft == 0)) {
                if (inFragment) {
                    readFragment(ctx, in);
                } else {
                    readMarker(ctx, in);
                }
            }
        } finally {
            in.release();
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
            fail(ctx, new TooLongFrameException("RPC record of at least " + messageBytes + " bytes, limit "
                    + maxMessageBytes));
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
                ctx.fireChannelRead(record.take());
            }
        }
    }

    private void fail(ChannelHandlerContext ctx, TooLongFrameException cause) {
        failed = true;
        record.release();
        ctx.fireExceptionCaught(cause);
        ctx.close();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        // Whoever reads on demand asked for a message, not for a part of one.
        boolean wantsMore = !passedUp && !ctx.channel().config().isAutoRead();
        passedUp = false;
        ctx.fireChannelReadComplete();
        if (wantsMore) {
            ctx.read();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        record.release();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        record.release();
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
        ctx.write(ctx.alloc().ioBuffer(MARKER_BYTES).writeInt(LAST_FRAGMENT | message.readableBytes()));
        ctx.write(message, promise);
    }
}
