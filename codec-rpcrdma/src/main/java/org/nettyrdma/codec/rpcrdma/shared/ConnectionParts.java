package org.nettyrdma.codec.rpcrdma.shared;

import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;

/**
 * What the handlers of one connection share, requester and responder alike. Made once for each connection.
 *
 * @param limits     the limits of this side, as far as the channel's receives allow
 * @param resources  what its calls may take
 * @param memory     where they take it from; all connections share it
 * @param bindings   what is known of the programs
 * @param statistics what has moved, and how; all connections share it
 * @param connection what it has settled
 * @param reverse    whether it is the handlers of calls from server to client that share this
 */
public record ConnectionParts(RpcRdmaLimits limits, ResourceLimits resources, MemoryBudget memory, BindingTable bindings,
                              ChunkCounters statistics, NegotiatedConnection connection, boolean reverse) {

    /** For calls from client to server. */
    public ConnectionParts(RpcRdmaLimits limits, ResourceLimits resources, MemoryBudget memory, BindingTable bindings,
                           ChunkCounters statistics, NegotiatedConnection connection) {
        this(limits, resources, memory, bindings, statistics, connection, false);
    }

    /** The same for calls from server to client, which have memory of their own. */
    public ConnectionParts reversed(MemoryBudget otherMemory) {
        return new ConnectionParts(limits, resources, otherMemory, bindings, statistics, connection, true);
    }
}
