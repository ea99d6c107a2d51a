package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.support.PowerOfTwo;

/**
 * How two sides agree (RFC 5044, section 7.1; RFC 6581, section 9). Pure functions on {@link MpaFrame}s.
 *
 * <p>This side asks in revision 2 in its enhanced form, never for markers. It announces read depths that are powers of two,
 * because Linux {@code siw} rounds up what it is told.
 *
 * @param inboundReadDepth  Reads the peer may have outstanding
 * @param outboundReadDepth Reads this side may have outstanding
 * @param checksum          whether FPDUs carry a CRC: they do when either side asked
 * @param readyBySend       whether the peer announces itself with an empty Send that is no message (responder only)
 */
record MpaNegotiation(int inboundReadDepth, int outboundReadDepth, boolean checksum, boolean readyBySend) {

    private static final byte[] NO_DATA = {};

    /** The request of an initiator. */
    static MpaFrame request(QueuePairAttributes attributes, byte[] privateData) {
        return MpaFrame.enhanced(false, crcFlag(attributes.checksum()), PowerOfTwo.atMost(attributes.inboundReadDepth()),
                PowerOfTwo.atMost(attributes.outboundReadDepth()), privateData);
    }

    /**
     * What an initiator has after the responder's answer.
     *
     * @throws ConnectException if the responder rejected, or wants what this side has not
     */
    static MpaNegotiation afterReply(QueuePairAttributes attributes, MpaFrame reply) throws IOException {
        if (reply.isRejection()) {
            throw new ConnectException("the peer rejected the connection");
        }
        if (reply.wantsMarkers()) {
            throw new ConnectException("the peer wants MPA markers, which this side does not send");
        }
        boolean checksum = attributes.checksum() || reply.wantsCrc();
        int inbound = PowerOfTwo.atMost(attributes.inboundReadDepth());
        int outbound = PowerOfTwo.atMost(attributes.outboundReadDepth());
        if (!reply.isEnhanced()) {
            return new MpaNegotiation(inbound, outbound, checksum, false);
        }
        int wanted = reply.outboundReadDepth() == MpaFrame.READ_DEPTH_LEFT_TO_USERS ? inbound : reply.outboundReadDepth();
        if (wanted > inbound) {
            throw new ProtocolViolationException(TerminateReason.INSUFFICIENT_INBOUND_READ_DEPTH,
                    "the peer wants %d RDMA Reads outstanding, it was offered %d", wanted, inbound);
        }
        return new MpaNegotiation(wanted, Math.min(outbound, reply.inboundReadDepth()), checksum, false);
    }

    /** What is left where two sides do not agree: enough to say so. */
    static MpaNegotiation none(boolean checksum) {
        return new MpaNegotiation(0, 0, checksum, false);
    }

    /** What a responder has when it accepts. */
    static MpaNegotiation afterRequest(QueuePairAttributes attributes, MpaFrame request) {
        boolean checksum = attributes.checksum() || request.wantsCrc();
        int inbound = PowerOfTwo.atMost(attributes.inboundReadDepth());
        int outbound = PowerOfTwo.atMost(attributes.outboundReadDepth());
        if (!request.isEnhanced()) {
            return new MpaNegotiation(inbound, outbound, checksum, false);
        }
        int agreedInbound = Math.min(inbound, request.outboundReadDepth());
        if (readyBy(request) == MpaFrame.READY_BY_READ) {
            agreedInbound = Math.max(1, agreedInbound); // the empty Read that announces the initiator must be answered
        }
        return new MpaNegotiation(agreedInbound, Math.min(outbound, request.inboundReadDepth()), checksum,
                isPeerToPeer(request) && readyBy(request) == 0);
    }

    /** The answer of a responder that accepts; its revision is the request's. */
    MpaFrame reply(MpaFrame request, byte[] privateData) {
        int flags = crcFlag(checksum);
        if (!request.isEnhanced()) {
            return new MpaFrame(true, flags, request.revision(), privateData);
        }
        int inboundWord = inboundReadDepth;
        int outboundWord = outboundReadDepth;
        if (isPeerToPeer(request)) {
            inboundWord |= MpaFrame.PEER_TO_PEER | (readyBySend ? MpaFrame.READY_BY_SEND : 0);
            outboundWord |= readyBy(request);
        }
        return MpaFrame.enhanced(true, flags, inboundWord, outboundWord, privateData);
    }

    /** The answer of a responder that refuses. In the enhanced form the read depths are present and 0. */
    static MpaFrame rejection(MpaFrame request, byte[] privateData) {
        int flags = MpaFrame.FLAG_REJECT | crcFlag(request.wantsCrc());
        return request.isEnhanced() ? MpaFrame.enhanced(true, flags, 0, 0, privateData)
                : new MpaFrame(true, flags, request.revision(), privateData);
    }

    static MpaFrame rejection(MpaFrame request) {
        return rejection(request, NO_DATA);
    }

    /**
     * Copies a user's private data, which must fit behind the read depths.
     *
     * @throws IllegalArgumentException if it is too long
     */
    static byte[] checkPrivateData(ByteBuffer privateData) {
        int limit = MpaFrame.MAX_PRIVATE_LENGTH - MpaFrame.READ_DEPTHS_LENGTH;
        if (privateData.remaining() > limit) {
            throw new IllegalArgumentException("privateData: " + privateData.remaining() + " bytes (expected: 0.." + limit
                    + ')');
        }
        byte[] bytes = new byte[privateData.remaining()];
        privateData.get(privateData.position(), bytes);
        return bytes;
    }

    private static boolean isPeerToPeer(MpaFrame request) {
        return (request.inboundWord() & MpaFrame.PEER_TO_PEER) != 0;
    }

    /**
     * How the initiator shall announce itself, as a flag of the second word. With an RDMA Write, which needs no resource here, if
     * it offers that or nothing; else with an RDMA Read. 0 for a Send, or without peer-to-peer mode.
     */
    private static int readyBy(MpaFrame request) {
        if (!isPeerToPeer(request)) {
            return 0;
        }
        int outboundWord = request.outboundWord();
        boolean sendOffered = (request.inboundWord() & MpaFrame.READY_BY_SEND) != 0;
        boolean readOffered = (outboundWord & MpaFrame.READY_BY_READ) != 0;
        boolean writeOffered = (outboundWord & MpaFrame.READY_BY_WRITE) != 0 || !sendOffered && !readOffered;
        if (writeOffered) {
            return MpaFrame.READY_BY_WRITE;
        }
        return readOffered ? MpaFrame.READY_BY_READ : 0;
    }

    private static int crcFlag(boolean checksum) {
        return checksum ? MpaFrame.FLAG_CRC : 0;
    }
}
