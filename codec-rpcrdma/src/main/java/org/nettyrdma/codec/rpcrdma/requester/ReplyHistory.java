package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;

/**
 * How large the replies to the calls of one connection were, by procedure and by the order of magnitude of the call: what an
 * echo answers goes by the length of what it is asked. It remembers {@value #MAX_RECORDS} of these, a new one in the place of
 * an old one, so that a connection takes no more memory for many procedures. Event loop only.
 */
final class ReplyHistory {

    static final int MAX_RECORDS = 64;

    /** Replies that say something about the next one. */
    private static final int ENOUGH_REPLIES = 8;
    /** By how much the next reply may well be larger than all before it. */
    private static final int HEADROOM = 4;
    private static final int HASH_FACTOR = 0x9E37_79B9; // 2^32 divided by the golden ratio

    private Record[] records; // made for the first call of which nobody says how large its reply can get

    /**
     * What is known about calls like this one.
     *
     * @return the record to be kept up to date, {@code null} if this is not a whole call
     */
    Record of(ByteBuf call) {
        if (!RpcOffsets.hasCallHeader(call)) {
            return null;
        }
        int program = RpcOffsets.word(call, RpcOffsets.PROGRAM);
        int version = RpcOffsets.word(call, RpcOffsets.VERSION);
        int procedure = RpcOffsets.word(call, RpcOffsets.PROCEDURE);
        int magnitude = Integer.SIZE - Integer.numberOfLeadingZeros(call.readableBytes());
        if (records == null) {
            records = new Record[MAX_RECORDS];
        }
        int hash = (((program * 31 + version) * 31 + procedure) * 31 + magnitude) * HASH_FACTOR;
        int index = hash >>> Integer.SIZE - Integer.numberOfTrailingZeros(MAX_RECORDS);
        Record record = records[index];
        if (record == null || !record.isOf(program, version, procedure, magnitude)) {
            record = new Record(program, version, procedure, magnitude);
            records[index] = record;
        }
        return record;
    }

    /** The replies to calls of one kind. */
    static final class Record {

        private final int program;
        private final int version;
        private final int procedure;
        private final int magnitude;
        private int replies;
        private int largestBytes;

        private Record(int program, int version, int procedure, int magnitude) {
            this.program = program;
            this.version = version;
            this.procedure = procedure;
            this.magnitude = magnitude;
        }

        private boolean isOf(int otherProgram, int otherVersion, int otherProcedure, int otherMagnitude) {
            return program == otherProgram && version == otherVersion && procedure == otherProcedure
                    && magnitude == otherMagnitude;
        }

        /** A reply of this length has come. */
        void replied(int replyBytes) {
            if (replies < ENOUGH_REPLIES) {
                replies++;
            }
            largestBytes = Math.max(largestBytes, replyBytes);
        }

        /** A reply had no room. Nothing smaller than all there is will be offered to calls of this kind from now on. */
        void outgrown() {
            largestBytes = Integer.MAX_VALUE;
        }

        /**
         * Whether nothing speaks against offering as much to the next reply, for want of replies as well as by those there were.
         */
        boolean maySuffice(int replyBytes) {
            return (long) largestBytes * HEADROOM <= replyBytes;
        }

        /** What the next reply needs in all likelihood, in bytes, with some to spare; more than there is if that is not known. */
        long guessBytes() {
            return replies < ENOUGH_REPLIES ? Long.MAX_VALUE : (long) largestBytes * HEADROOM;
        }
    }
}
