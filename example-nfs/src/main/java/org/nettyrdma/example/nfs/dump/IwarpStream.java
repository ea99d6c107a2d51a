package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;

/**
 * Cuts one direction of a connection into MPA frames and FPDUs. A stream that is something else stays silent. Where bytes are
 * missing it goes on at the next TCP segment that begins like an FPDU, as nearly all of them do. Used by one thread.
 */
final class IwarpStream implements TcpStream.Receiver {

    private static final ByteBuf REQUEST_KEY = Unpooled.copiedBuffer("MPA ID Req Frame", StandardCharsets.US_ASCII);
    private static final ByteBuf REPLY_KEY = Unpooled.copiedBuffer("MPA ID Rep Frame", StandardCharsets.US_ASCII);
    private static final int KEY_LENGTH = 16;
    private static final int PRIVATE_LENGTH_OFFSET = 18;
    private static final int MPA_FIXED_LENGTH = 20;
    private static final int MAX_PRIVATE_LENGTH = 512;

    private final Listener listener;
    private final BooleanSupplier usesCrc;
    private ByteBuf pending = Unpooled.buffer(0);
    private State state = State.SEARCHING;
    /** Whether anything of iWARP was found; of other streams nothing is said. */
    private boolean recognized;
    private boolean everRecognized;
    private long position;

    private enum State {
        /** The next byte is the first of the connection. */
        OPENED,
        /** The next byte is the first of an FPDU. */
        FRAMES,
        /** Waits for a segment that begins like a frame. */
        SEARCHING
    }

    /** Who gets the frames. */
    interface Listener {

        /** An MPA frame, whole. */
        void setup(boolean reply, ByteBuf frame);

        void fpdu(Fpdu fpdu);

        /** Something is wrong with the stream, and what was begun will not be completed. */
        void interrupted(String reason);
    }

    /**
     * @param usesCrc whether the CRC of FPDUs counts, asked for each of them
     */
    IwarpStream(Listener listener, BooleanSupplier usesCrc) {
        this.listener = listener;
        this.usesCrc = usesCrc;
    }

    /** Whether there was anything of iWARP. */
    boolean everRecognized() {
        return everRecognized;
    }

    @Override
    public void opened() {
        pending.clear();
        state = State.OPENED;
        recognized = false;
        position = 0;
    }

    @Override
    public void gap(long missingBytes) {
        position += pending.readableBytes() + missingBytes;
        pending.clear();
        state = State.SEARCHING;
        if (recognized) {
            listener.interrupted("the capture lacks " + missingBytes + " bytes");
        }
    }

    @Override
    public void bytes(ByteBuf bytes) {
        if (state == State.SEARCHING) {
            if (!beginsLikeAFrame(bytes)) {
                position += bytes.readableBytes();
                return;
            }
            state = isKey(bytes) ? State.OPENED : State.FRAMES;
        }
        pending.discardReadBytes().writeBytes(bytes);
        while (state != State.SEARCHING && readFrame()) {
            recognized = true;
            everRecognized = true;
        }
        if (state == State.SEARCHING) {
            skip(pending.readableBytes());
        }
    }

    private static boolean beginsLikeAFrame(ByteBuf bytes) {
        return isKey(bytes) || bytes.readableBytes() >= Fpdu.CONTROL_END && Fpdu.check(bytes) == null;
    }

    private static boolean isKey(ByteBuf bytes) {
        return bytes.readableBytes() >= KEY_LENGTH
                && (startsWith(bytes, REQUEST_KEY) || startsWith(bytes, REPLY_KEY));
    }

    private static boolean startsWith(ByteBuf bytes, ByteBuf key) {
        return bytes.slice(bytes.readerIndex(), KEY_LENGTH).equals(key);
    }

    /** Reads one frame; returns {@code false} if its end has not come yet, or if what is there is no frame. */
    private boolean readFrame() {
        return state == State.OPENED ? readSetup() : readFpdu();
    }

    private boolean readSetup() {
        if (pending.readableBytes() < KEY_LENGTH) {
            return false;
        }
        if (!isKey(pending)) {
            state = State.SEARCHING; // another protocol
            return false;
        }
        if (pending.readableBytes() < MPA_FIXED_LENGTH) {
            return false;
        }
        int privateLength = pending.getUnsignedShort(pending.readerIndex() + PRIVATE_LENGTH_OFFSET);
        if (privateLength > MAX_PRIVATE_LENGTH) {
            return malformed("MPA private data of " + privateLength + " bytes (at most " + MAX_PRIVATE_LENGTH + ')');
        }
        int length = MPA_FIXED_LENGTH + privateLength;
        if (pending.readableBytes() < length) {
            return false;
        }
        state = State.FRAMES;
        listener.setup(startsWith(pending, REPLY_KEY), pending.slice(pending.readerIndex(), length));
        skip(length);
        return true;
    }

    private boolean readFpdu() {
        if (pending.readableBytes() < Fpdu.CONTROL_END) {
            return false;
        }
        String fault = Fpdu.check(pending);
        if (fault != null) {
            return malformed(fault);
        }
        int length = Fpdu.totalLength(pending.getUnsignedShort(pending.readerIndex()));
        if (pending.readableBytes() < length) {
            return false;
        }
        ByteBuf frame = pending.slice(pending.readerIndex(), length);
        if (usesCrc.getAsBoolean() && !hasGoodCrc(frame)) {
            return malformed("CRC32C is wrong");
        }
        listener.fpdu(new Fpdu(frame));
        skip(length);
        return true;
    }

    private static boolean hasGoodCrc(ByteBuf frame) {
        int covered = frame.readableBytes() - Fpdu.CRC_LENGTH;
        CRC32C crc = new CRC32C();
        crc.update(frame.nioBuffer(frame.readerIndex(), covered));
        return (int) crc.getValue() == frame.getIntLE(frame.readerIndex() + covered);
    }

    private boolean malformed(String fault) {
        recognized = true;
        listener.interrupted("malformed frame at byte " + position + " of the stream: " + fault);
        state = State.SEARCHING;
        return false;
    }

    private void skip(int length) {
        pending.skipBytes(length);
        position += length;
    }
}
