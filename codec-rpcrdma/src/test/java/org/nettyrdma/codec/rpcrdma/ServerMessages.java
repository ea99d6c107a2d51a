package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.requester.RequesterChunkHandlerPropertyTest.Event;
import org.nettyrdma.codec.rpcrdma.requester.RequesterModel;

/** What the server of {@link RequesterModel} says that is not just a good reply, each time made from the numbers of an event. */
public final class ServerMessages {

    public static final int[] UNKNOWN_TYPES = {2, 3, 6, 100, -1};
    private static final int[] MAXIMA = {0, 1, 2, 16, -1};
    private static final int[] LENGTHS = {0, 100, 5000, 6000, 20_000, RequesterModel.MAX_MESSAGE_BYTES,
            RequesterModel.MAX_MESSAGE_BYTES + 1, -1};

    private ServerMessages() {
    }

    /** Reserved flags are not for the receiver to mind (version-two-08, section 3.2). */
    public static int flags(Event event) {
        return event.detail() % 4 == 0 ? event.detail() & ~HeaderDigits.RESPONSE : 0;
    }

    public static int responseFlags(Event event) {
        return flags(event) | HeaderDigits.RESPONSE;
    }

    public static boolean isError(String message) {
        return message.startsWith("00000004", 24);
    }

    /** A reply that fails the call, in ways that a client has to see. */
    public static String badReply(HeaderDigits version, int xid, Event event, boolean reverse) {
        int flags = responseFlags(event);
        String rpc = HeaderDigits.words(xid) + RawServer.SUCCESS;
        String other = HeaderDigits.words(~xid) + RawServer.SUCCESS;
        // Where version 1 has calls both ways, a message that is too short to tell its direction is not for any of them.
        boolean lengthened = version == HeaderDigits.ONE && reverse;
        String end = lengthened ? "00000000".repeat(5) : "";
        return switch (event.which() % (version == HeaderDigits.ONE ? 3 : 9)) {
            case 0 -> version.message(xid, event.grant(), HeaderDigits.MSG, flags, 0, "00000002" + end);
            case 1 -> version.message(xid, event.grant(), HeaderDigits.MSG, flags, 0, HeaderDigits.NO_CHUNKS + other);
            case 2 -> version.message(xid, event.grant(), HeaderDigits.NOMSG, flags, 0, HeaderDigits.NO_CHUNKS + rpc);
            case 3 -> HeaderDigits.words(xid, 2, event.grant(), UNKNOWN_TYPES[event.detail() % UNKNOWN_TYPES.length], flags);
            case 4 -> version.message(xid, event.grant(), HeaderDigits.MSG, flags, 0, "00000001 00000004"
                    + "00000bad 00000010 00000000 00000000 00000000 00000000 00000000" + rpc);
            case 5 -> version.error(xid, event.grant(), flags);
            case 6 -> version.error(xid, event.grant(), flags, 4 + event.detail() % 5);
            case 7 -> version.error(xid, event.grant(), flags, 9, 0, 0);
            default -> HeaderDigits.words(xid, 2, event.grant(), HeaderDigits.NOMSG, flags);
        };
    }

    /** A good reply, but for its version. */
    public static String inOtherVersion(HeaderDigits version, int xid, Event event) {
        HeaderDigits other = version == HeaderDigits.ONE ? HeaderDigits.TWO : HeaderDigits.ONE;
        String lists = HeaderDigits.NO_CHUNKS + HeaderDigits.words(xid) + RawServer.SUCCESS;
        String message = Bytes.digits(other.message(xid, event.grant(), HeaderDigits.MSG, HeaderDigits.RESPONSE, 0, lists));
        return event.detail() % 2 == 0 ? message : message.substring(0, 8) + "00000007" + message.substring(16);
    }

    /** The error of version 2 with a code, 4 to 8 with numbers from the event. */
    public static RpcRdmaError errorOf(int code, Event event) {
        long max = Integer.toUnsignedLong(MAXIMA[event.which() % MAXIMA.length]);
        long length = Integer.toUnsignedLong(LENGTHS[event.which() % LENGTHS.length]);
        return switch (code) {
            case 2 -> RpcRdmaError.BAD_XDR;
            case 3 -> RpcRdmaError.INVALID_HEADER_TYPE;
            case 4 -> new RpcRdmaError.ReadChunks(max);
            case 5 -> new RpcRdmaError.WriteChunks(max);
            case 6 -> new RpcRdmaError.Segments(max);
            case 7 -> new RpcRdmaError.WriteResource(Integer.toUnsignedLong(MAXIMA[event.grant() & 3]), length);
            case 8 -> new RpcRdmaError.ReplyResource(length);
            case 9 -> RpcRdmaError.SYSTEM;
            default -> new RpcRdmaError.Unknown(77);
        };
    }

    /** From the code on. */
    public static int[] words(RpcRdmaError error) {
        if (error instanceof RpcRdmaError.ReadChunks read) {
            return new int[] {4, (int) read.max()};
        } else if (error instanceof RpcRdmaError.WriteChunks write) {
            return new int[] {5, (int) write.max()};
        } else if (error instanceof RpcRdmaError.Segments segments) {
            return new int[] {6, (int) segments.max()};
        } else if (error instanceof RpcRdmaError.WriteResource write) {
            return new int[] {7, (int) write.chunkIndex(), (int) write.lengthNeededBytes()};
        } else if (error instanceof RpcRdmaError.ReplyResource reply) {
            return new int[] {8, (int) reply.lengthNeededBytes()};
        }
        return new int[] {error.code()};
    }
}
