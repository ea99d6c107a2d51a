package org.nettyrdma.codec.rpcrdma.shared;

import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/**
 * Which handle of a call its reply may withdraw, by Send with Invalidate instead of Send (reminv-design-03, sections 4.2 and
 * 4.4). Each direction of a connection has the one that follows from its {@link ConnectionTerms}.
 *
 * <p>Whatever a reply does not withdraw, the requester withdraws itself before its caller sees the reply. Replies that
 * refuse a call never invalidate.
 */
public enum InvalidationPolicy {

    /** Neither asks for it nor does it: a plain Send for every reply. */
    NONE,

    /**
     * Version 1, where the two sides have said in their private data that they cope with it (RFC 8797), and no call says
     * more. The responder withdraws a handle only where the call has no other, as the Linux server does, since it cannot
     * know which of several are meant to live longer. A requester lets it take any: all of ours live as long as their call.
     */
    PER_CONNECTION,

    /**
     * Version 2, where each call names the handle (version-two-08, section 3.3). The requester names that of its largest
     * region, which is the one that takes longest to withdraw on devices where size matters (reminv-design-03, section 5.2).
     * The responder withdraws exactly that one. A handle that is none of the call's could be the memory of another call; then it
     * withdraws nothing. The call can be served, so that it is not refused, and a responder may always choose a Send.
     */
    PER_CALL;

    /** Of calls that this side sends. */
    public static InvalidationPolicy ofRequester(ConnectionTerms terms) {
        return of(terms.mayBeInvalidated(), terms.version());
    }

    /** Of calls that this side answers. */
    public static InvalidationPolicy ofResponder(ConnectionTerms terms) {
        return of(terms.mayInvalidate(), terms.version());
    }

    private static InvalidationPolicy of(boolean allowed, RpcRdmaVersion version) {
        return !allowed ? NONE : version == RpcRdmaVersion.TWO ? PER_CALL : PER_CONNECTION;
    }

    /**
     * Requester: the handle to name in the header of a call.
     *
     * @param offered the chunks of the call, of which every handle was made for this call alone: one that lives longer must
     *                never be named
     * @return {@link ChunkLists#invalidateHandle}, 0 for none, which is all that version 1 has
     */
    public int handleToName(ChunkLists offered) {
        return this == PER_CALL ? largest(offered) : 0;
    }

    /**
     * Requester: whether the reply may have withdrawn a handle.
     *
     * @param offered the chunks of the call, whose exposure the handle is known to be of
     */
    public boolean allows(ChunkLists offered, int handle) {
        return this == PER_CONNECTION || this == PER_CALL && handle == offered.invalidateHandle();
    }

    /**
     * Responder: the handle to withdraw with the reply.
     *
     * @param offered the chunks of the call
     * @return the handle as an unsigned number, or -1 for a plain Send
     */
    public long handleToWithdraw(ChunkLists offered) {
        return switch (this) {
            case NONE -> -1;
            case PER_CONNECTION -> only(offered);
            case PER_CALL -> offered.invalidateHandle() != 0 && isNamedHandleListed(offered)
                    ? Integer.toUnsignedLong(offered.invalidateHandle()) : -1;
        };
    }

    /** Responder: whether the handle that the requester has named, if it has, stands in a segment of the call. */
    public static boolean isNamedHandleListed(ChunkLists offered) {
        if (offered.invalidateHandle() == 0) {
            return true;
        }
        for (int i = 0; i < chunks(offered); i++) {
            List<RemoteSegment> segments = segments(offered, i);
            for (int j = 0; j < segments.size(); j++) {
                if (segments.get(j).steeringTag() == offered.invalidateHandle()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A handle that is 0 cannot be named. */
    private static int largest(ChunkLists offered) {
        RemoteSegment largest = null;
        for (int i = 0; i < chunks(offered); i++) {
            List<RemoteSegment> segments = segments(offered, i);
            for (int j = 0; j < segments.size(); j++) {
                RemoteSegment segment = segments.get(j);
                if (segment.steeringTag() != 0 && (largest == null || segment.length() > largest.length())) {
                    largest = segment;
                }
            }
        }
        return largest == null ? 0 : largest.steeringTag();
    }

    /**
     * The one handle of all segments; -1 if there are none, or several of which some may be meant to live longer (as the Linux
     * client's for padding is). The handle of empty segments alone may stand for no memory at all.
     */
    private static long only(ChunkLists offered) {
        long handle = -1;
        long bytes = 0;
        for (int i = 0; i < chunks(offered); i++) {
            List<RemoteSegment> segments = segments(offered, i);
            for (int j = 0; j < segments.size(); j++) {
                RemoteSegment segment = segments.get(j);
                long next = Integer.toUnsignedLong(segment.steeringTag());
                if (handle != -1 && handle != next) {
                    return -1;
                }
                handle = next;
                bytes += segment.length();
            }
        }
        return bytes == 0 ? -1 : handle;
    }

    private static int chunks(ChunkLists lists) {
        return lists.readChunks().size() + lists.writeChunks().size() + (lists.replyChunk() == null ? 0 : 1);
    }

    /** Of one chunk: Read chunks come first, then Write chunks, then the Reply chunk. */
    private static List<RemoteSegment> segments(ChunkLists lists, int chunk) {
        int behindReads = chunk - lists.readChunks().size();
        if (behindReads < 0) {
            return lists.readChunks().get(chunk).segments();
        }
        return behindReads < lists.writeChunks().size() ? lists.writeChunks().get(behindReads).segments()
                : lists.replyChunk().segments();
    }
}
