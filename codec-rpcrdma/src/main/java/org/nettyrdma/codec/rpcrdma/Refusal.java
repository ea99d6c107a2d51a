package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.VersionError;

/** Makes the header that refuses a message. Only a responder sends one (version-two-08, section 5.3.3). */
final class Refusal {

    private Refusal() {
    }

    /**
     * The answer to a message. XID and version are copied from it, as version-two-08, section 5.3.3 demands; in version 1,
     * where rfc5666bis-01, section 5.5 leaves it open, that is what Linux does.
     *
     * @param xid     its XID
     * @param version its version word, whether that version is spoken or not
     * @param cause   what is wrong with it
     */
    static RpcRdmaHeader of(int xid, int version, Throwable cause) {
        RpcRdmaError error = cause instanceof RpcRdmaException e ? e.error() : null;
        if (error instanceof RpcRdmaError.Versions versions) {
            return new VersionError(xid, version, 0, versions.lowest(), versions.highest());
        }
        if (version == VersionTwoLayout.VERSION) {
            return new TransportError(xid, 0, error == null ? RpcRdmaError.SYSTEM : error);
        }
        return new ChunkError(xid, version, 0);
    }
}
