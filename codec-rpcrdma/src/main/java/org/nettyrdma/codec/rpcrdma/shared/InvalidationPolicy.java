package org.nettyrdma.codec.rpcrdma.shared;

import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.responder.ResponderCall;

/**
 * Which handle of a call its reply may withdraw, by Send with Invalidate instead of Send (reminv-design-03, sections 4.2 and
 * 4.4). Each direction of a connection has the one that follows from its {@link ConnectionTerms}. Stateless.
 *
 * <p>Whatever a reply does not withdraw, the requester withdraws itself before its caller sees the reply. Replies that
 * refuse a call never invalidate.
 */
public sealed interface InvalidationPolicy {

    /** Neither asks for it nor does it: a plain Send for every reply. */
    InvalidationPolicy NONE = new None();

    /** Of calls that this side sends. */
    static InvalidationPolicy ofRequester(ConnectionTerms terms) {
        return of(terms.mayBeInvalidated(), terms.version());
    }

    /** Of calls that this side answers. */
    static InvalidationPolicy ofResponder(ConnectionTerms terms) {
        return of(terms.mayInvalidate(), terms.version());
    }

    private static InvalidationPolicy of(boolean allowed, RpcRdmaVersion version) {
        if (!allowed) {
            return NONE;
        }
        return version == RpcRdmaVersion.TWO ? PerCall.INSTANCE : PerConnection.INSTANCE;
    }

    /**
     * Requester: the handle to name in the header of a call.
     *
     * @param offered the chunks of the call, of which every handle was made for this call alone: one that lives longer must
     *                never be named
     * @return {@link ChunkLists#invalidateHandle}, 0 for none
     */
    int handleToName(ChunkLists offered);

    /**
     * Requester: whether the reply may have withdrawn a handle.
     *
     * @param offered the chunks of the call, whose exposure the handle is known to be of
     */
    boolean allows(ChunkLists offered, int handle);

    /**
     * Responder: the handle to withdraw with the reply.
     *
     * @param call the chunks of the call
     * @return the handle as an unsigned number, or -1 for a plain Send
     */
    long handleToWithdraw(ResponderCall call);

    /** See {@link #NONE}. */
    final class None implements InvalidationPolicy {

        @Override
        public int handleToName(ChunkLists offered) {
            return 0;
        }

        @Override
        public boolean allows(ChunkLists offered, int handle) {
            return false;
        }

        @Override
        public long handleToWithdraw(ResponderCall call) {
            return -1;
        }
    }

    /**
     * Version 1, where the two sides have said in their private data that they cope with it (RFC 8797), and no call says
     * more. The responder withdraws a handle only where the call has no other, as the Linux server does, since it cannot
     * know which of several are meant to live longer. A requester lets it take any: all of ours live as long as their call.
     */
    final class PerConnection implements InvalidationPolicy {

        private static final PerConnection INSTANCE = new PerConnection();

        @Override
        public int handleToName(ChunkLists offered) {
            return 0; // there is no such field
        }

        @Override
        public boolean allows(ChunkLists offered, int handle) {
            return true;
        }

        @Override
        public long handleToWithdraw(ResponderCall call) {
            return call.onlyHandle();
        }
    }

    /**
     * Version 2, where each call names the handle (version-two-08, section 3.3). The requester names that of its largest
     * region, which is the one that takes longest to withdraw on devices where size matters (reminv-design-03, section 5.2).
     * The responder withdraws exactly that one, and nothing when the handle is not one of the call's: it may always choose a
     * Send, to obey could take the memory of another call, and a call that can be served is not refused.
     */
    final class PerCall implements InvalidationPolicy {

        private static final PerCall INSTANCE = new PerCall();

        @Override
        public int handleToName(ChunkLists offered) {
            RemoteSegment largest = null;
            for (ReadChunk chunk : offered.readChunks()) {
                largest = larger(largest, chunk.segments());
            }
            for (WriteChunk chunk : offered.writeChunks()) {
                largest = larger(largest, chunk.segments());
            }
            if (offered.replyChunk() != null) {
                largest = larger(largest, offered.replyChunk().segments());
            }
            return largest == null ? 0 : largest.steeringTag();
        }

        /** A handle that is 0 cannot be named. */
        private static RemoteSegment larger(RemoteSegment largest, List<RemoteSegment> segments) {
            RemoteSegment result = largest;
            for (RemoteSegment segment : segments) {
                if (segment.steeringTag() != 0 && (result == null || segment.length() > result.length())) {
                    result = segment;
                }
            }
            return result;
        }

        @Override
        public boolean allows(ChunkLists offered, int handle) {
            return handle == offered.invalidateHandle();
        }

        @Override
        public long handleToWithdraw(ResponderCall call) {
            return call.namedHandle();
        }
    }
}
