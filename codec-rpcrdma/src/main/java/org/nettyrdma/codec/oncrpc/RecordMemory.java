package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The memory of the record that one connection is receiving. A large record has what it announces before anything of that is
 * kept, and waits for it without being read. {@link RecordProgress} bounds the time that it takes. Event loop only.
 *
 * <p>{@code AUTO_READ} may be off when a record has been passed up, for instance because it is a call that waits for memory. Then
 * the bytes behind it are not decoded until a read is asked for: a call of 44 bytes takes several times as much as an object.
 * Where the handlers above have turned it off, a little is read all the same, since the end of the connection shows behind it.
 *
 * <p>What is left when a {@linkplain RecordTurn turn} is over waits for the next one.
 */
final class RecordMemory {

    /** Records up to this size need no memory of the budget: each connection has a receive buffer of its own as large as that. */
    private static final int SMALL_RECORD_BYTES = 16 << 10;
    /** Nothing more is read ahead while as much is kept. */
    private static final int READ_AHEAD_BYTES = 16 << 10;

    /** Whether somebody reads on behind the last record. */
    private enum Demand {
        READING,
        /** {@code AUTO_READ} is off, and no read has been asked for. */
        HELD_BACK,
        /** The same, as those above have turned {@code AUTO_READ} off with the last record. */
        STOPPED_ABOVE
    }

    private final ChannelHandlerContext ctx;
    private final MemoryAdmission admission;
    private final ReadPause pause;
    private final RecordTurn turn;
    private final BiConsumer<ChannelHandlerContext, ByteBuf> decoder;
    private final Consumer<ChannelHandlerContext> readEnded;
    private final RecordProgress progress;
    /** What has been received while the record waits, nobody reads on, or the turn is over. */
    private final KeptBuffers kept;
    private Demand demand = Demand.READING;
    /** Reading is paused, as enough was read ahead. */
    private boolean enoughAhead;
    private boolean decodingKept;
    private boolean closed;
    private long recordBytes;
    /** Waits for the memory of the record, or {@code null}. */
    private Claim waiting;
    /** A piece is being decoded and asks for memory; {@link #kept} comes behind the rest of that piece. */
    private boolean reserving;
    private boolean readWanted;

    /**
     * @param decoder   gets what was received, and its reference, while no record waits
     * @param readEnded told when what was kept is decoded, as at the end of a read
     * @param reader    gets the read that was kept for a record that had to wait
     */
    RecordMemory(ChannelHandlerContext ctx, MemoryBudget budget, TransferLimits limits,
                 BiConsumer<ChannelHandlerContext, ByteBuf> decoder, Consumer<ChannelHandlerContext> readEnded,
                 Consumer<ChannelHandlerContext> reader) {
        this.ctx = ctx;
        MemoryBudget records = budget.records();
        this.admission = new MemoryAdmission(records, Long.MAX_VALUE, ctx.executor(), ctx.channel()::remoteAddress, () -> { });
        this.pause = new ReadPause(ctx, () -> reader.accept(ctx));
        this.turn = new RecordTurn(ctx, pause, this::decodeKept);
        this.decoder = decoder;
        this.readEnded = readEnded;
        this.progress = new RecordProgress(ctx, records, limits, () -> waiting != null || !readWanted);
        this.kept = new KeptBuffers(ctx);
    }

    /** Something has been received; its reference passes to this. */
    void received(ByteBuf in) {
        readWanted = false;
        progress.received(in.readableBytes());
        pause.messageRead();
        if (isWaiting() || !kept.isEmpty()) {
            kept.addLast(in);
        } else {
            decoder.accept(ctx, in);
        }
        readAhead();
    }

    /** What comes is kept, and the end of the connection ends what waits. */
    private void readAhead() {
        if (demand != Demand.STOPPED_ABOVE || waiting != null || enoughAhead) {
            return;
        }
        if (kept.bytes() < READ_AHEAD_BYTES) {
            ctx.read();
        } else {
            enoughAhead = true;
            pause.pause();
        }
    }

    /** Nobody has asked for another record since the last one, or what was received may still hold the one asked for. */
    boolean isHeldBack() {
        return demand != Demand.READING || turn.isOver();
    }

    /** Whether nothing is to be decoded now. */
    boolean isWaiting() {
        return waiting != null || isHeldBack();
    }

    /** Whether one more step may be decoded now; else what is left of the piece is to be {@linkplain #keep kept}. */
    boolean takeStep() {
        return closed || !isWaiting() && turn.step();
    }

    /** The channel has ended a turn of reads. */
    void readComplete() {
        if (!turn.isOver()) {
            turn.begin();
        }
    }

    /** What is left to decode when there is memory; its reference passes to this. */
    void keep(ByteBuf in) {
        kept.addFirst(in);
    }

    /**
     * The record is going to have that many bytes at least. Afterwards it may be {@linkplain #isWaiting waiting}.
     *
     * @param most how many it can have in the end
     * @return whether there can be memory for it
     */
    boolean reserve(long bytes, long most) {
        if (bytes <= SMALL_RECORD_BYTES || bytes <= recordBytes) {
            return true;
        }
        long wanted = most - recordBytes;
        if (!admission.isPossible(wanted)) {
            return false;
        }
        if (admission.tryAdmit(wanted)) {
            recordBytes += wanted;
        } else {
            waiting = new Claim(wanted);
            pause.pause();
            reserving = true;
            try {
                admission.admit(waiting);
            } finally {
                reserving = false;
            }
        }
        return true;
    }

    /** A record that waits for its memory. */
    private final class Claim implements MemoryAdmission.Candidate {

        private final long bytes;

        private Claim(long bytes) {
            this.bytes = bytes;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public void admitted() {
            recordBytes += bytes;
            waiting = null;
            if (reserving) { // another thread gave memory back since the first look; the decoder goes on by itself
                pause.resume();
                return;
            }
            decodeKept();
            pause.resume();
        }

        @Override
        public void dropped() {
            close();
        }
    }

    /** The record is complete. */
    void passUp(ByteBuf record) {
        progress.recordEnded();
        boolean wasAutoRead = ctx.channel().config().isAutoRead();
        demand = Demand.HELD_BACK; // unless a read is asked for meanwhile
        ctx.fireChannelRead(record);
        if (closed || ctx.channel().config().isAutoRead()) {
            demand = Demand.READING;
        } else if (demand != Demand.READING) {
            demand = wasAutoRead ? Demand.STOPPED_ABOVE : Demand.HELD_BACK;
        }
        long bytes = recordBytes;
        recordBytes = 0;
        admission.release(bytes); // now it is a call, which takes memory for itself
    }

    /** Everything received has been decoded, and it ends within a record or does not. */
    void watch(boolean withinRecord) {
        progress.watch(withinRecord);
    }

    /** A read is asked for, and what is kept comes first. Returns whether the channel is not to be read for it. */
    boolean keepsRead() {
        demand = Demand.READING;
        if (enoughAhead) {
            enoughAhead = false;
            pause.resume();
        }
        readWanted = !pause.keepsRead();
        if (readWanted && !kept.isEmpty() && !decodingKept) {
            decodeKept();
        }
        return !readWanted || decodingKept || isWaiting();
    }

    /** As far as somebody reads on: also at the end of what was kept, a read may be asked for. */
    private void decodeKept() {
        decodingKept = true;
        try {
            do {
                while (!isWaiting() && !kept.isEmpty()) {
                    decoder.accept(ctx, kept.removeFirst());
                }
                readEnded.accept(ctx);
            } while (!isWaiting() && !kept.isEmpty());
        } finally {
            decodingKept = false;
        }
        readAhead();
    }

    /** Nothing more is received. */
    void close() {
        closed = true;
        demand = Demand.READING;
        kept.release();
        if (enoughAhead) {
            enoughAhead = false;
            pause.resume();
        }
        turn.close();
        progress.stop();
        admission.close();
        if (waiting != null) {
            waiting = null;
            pause.resume();
        }
    }
}
