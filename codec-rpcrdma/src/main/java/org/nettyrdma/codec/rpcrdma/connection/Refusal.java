package org.nettyrdma.codec.rpcrdma.connection;

import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;

/** Makes the header that refuses a message. Only a responder sends one (version-two-08, section 5.3.3). */
public final class Refusal {

    private Refusal() {
    }

    /**
     * The answer to a message. XID and version are copied from the message, as RFC 8166, section 4.5 and version-two-08, section
     * 5.3.3 demand.
     *
     * @param xid     its XID
     * @param version its version word, whether that version is spoken or not
     * @param cause   what is wrong with it
     */
    public static RpcRdmaHeader of(int xid, int version, Throwable cause) {
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
