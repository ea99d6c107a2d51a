package org.nettyrdma.testing.stream;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.ConnectException;

/**
 * One end of what {@code rstream} of rdma-core does: both sides send by turns, first 16 bytes each, then what the options say,
 * the client first. With {@code -T v} the bytes of each direction count up from 0, modulo 256, over the whole connection; else
 * they have no meaning.
 */
final class RstreamHandler extends ChannelInboundHandlerAdapter {

    private static final int GREETING_BYTES = 16;

    private final TransferSize size;
    private final boolean client;
    private final Promise<Long> result;
    private final int turns;
    private int turn;       // even turns are the client's
    private long left;      // bytes of this turn that are not sent, or not received
    private byte nextToSend;
    private byte nextToCome;
    private long received;
    private long startNanos;
    private long endNanos;

    /**
     * Creates a handler for one connection.
     *
     * @param size   what to transfer
     * @param client whether this side has the first turn
     * @param result gets the nanoseconds that the transfers took, without the greeting
     */
    RstreamHandler(TransferSize size, boolean client, Promise<Long> result) {
        this.size = size;
        this.client = client;
        this.result = result;
        turns = 2 + 2 * size.iterations();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        left = GREETING_BYTES;
        write(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) { // else this is in the middle of a write
            write(ctx);
        }
    }

    private boolean isOurTurn() {
        return turn % 2 == 0 == client;
    }

    private void write(ChannelHandlerContext ctx) {
        while (turn < turns && isOurTurn() && ctx.channel().isWritable()) {
            int bytes = (int) Math.min(left, turn < 2 ? GREETING_BYTES : size.bytes());
            ByteBuf data = ctx.alloc().buffer(bytes);
            ctx.write(size.verified() ? data.writeBytes(generated(bytes)) : data.writerIndex(bytes));
            moved(bytes);
        }
        ctx.flush();
    }

    private byte[] generated(int bytes) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = nextToSend++;
        }
        return data;
    }

    private void moved(int bytes) {
        left -= bytes;
        if (left > 0) {
            return;
        }
        turn++;
        left = size.turnBytes();
        if (turn < 2) {
            left = GREETING_BYTES;
        } else if (turn == 2) {
            startNanos = System.nanoTime();
        } else if (turn == turns) {
            endNanos = System.nanoTime();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws IOException {
        ByteBuf data = (ByteBuf) message;
        try {
            while (data.isReadable()) {
                if (turn >= turns || isOurTurn()) {
                    throw new IOException(data.readableBytes() + " bytes after byte " + received + ", in turn " + turn
                            + " of " + turns);
                }
                int bytes = (int) Math.min(left, data.readableBytes());
                if (size.verified()) {
                    verify(data, bytes);
                } else {
                    data.skipBytes(bytes);
                    received += bytes;
                }
                moved(bytes);
            }
        } finally {
            data.release();
        }
        write(ctx);
        if (turn == turns && !isLastTurnOurs()) {
            ctx.close(); // else the peer has to read what was sent, and closes then
        }
    }

    private boolean isLastTurnOurs() {
        return !client;
    }

    private void verify(ByteBuf data, int bytes) throws IOException {
        byte[] values = new byte[bytes]; // a leak detector makes single bytes of a buffer expensive
        data.readBytes(values);
        for (int i = 0; i < bytes; i++, received++) {
            byte value = values[i];
            if (value != nextToCome++) {
                throw new IOException("byte " + received + " is " + value + ", not " + (byte) (nextToCome - 1));
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (turn == turns) {
            result.trySuccess(endNanos - startNanos);
        } else {
            fail(new IOException("the connection ended in turn " + turn + " of " + turns + ", after " + received
                    + " received bytes, with " + left + " left"));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(cause);
        ctx.close();
    }

    /** A program that serves one client only accepts another one while it ends, and leaves it without a word. */
    private void fail(Throwable cause) {
        boolean refused = received == 0 && cause instanceof IOException;
        result.tryFailure(refused
                ? new ConnectException("the peer has gone before it sent anything: " + cause.getMessage()) : cause);
    }
}
