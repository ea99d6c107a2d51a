package org.nettyrdma.codec.rpcrdma.format;

import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/**
 * The versions that one side of a connection understands, which is what its ERR_VERS tells the peer.
 *
 * @param lowest  the lowest
 * @param highest the highest
 */
public record SpokenVersions(RpcRdmaVersion lowest, RpcRdmaVersion highest) {

    public static final SpokenVersions ONE = new SpokenVersions(RpcRdmaVersion.ONE, RpcRdmaVersion.ONE);
    public static final SpokenVersions TWO = new SpokenVersions(RpcRdmaVersion.TWO, RpcRdmaVersion.TWO);
    public static final SpokenVersions BOTH = new SpokenVersions(RpcRdmaVersion.ONE, RpcRdmaVersion.TWO);

    public boolean includes(RpcRdmaVersion version) {
        return version.compareTo(lowest) >= 0 && version.compareTo(highest) <= 0;
    }

    @Override
    public String toString() {
        return lowest == highest ? Integer.toString(lowest.number()) : lowest.number() + " to " + highest.number();
    }
}
