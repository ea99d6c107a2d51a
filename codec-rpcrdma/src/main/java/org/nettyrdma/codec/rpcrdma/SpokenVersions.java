package org.nettyrdma.codec.rpcrdma;

/**
 * The versions that one side of a connection understands, which is what its ERR_VERS tells the peer.
 *
 * @param lowest  the lowest
 * @param highest the highest
 */
record SpokenVersions(RpcRdmaVersion lowest, RpcRdmaVersion highest) {

    static final SpokenVersions ONE = new SpokenVersions(RpcRdmaVersion.ONE, RpcRdmaVersion.ONE);
    static final SpokenVersions TWO = new SpokenVersions(RpcRdmaVersion.TWO, RpcRdmaVersion.TWO);
    static final SpokenVersions BOTH = new SpokenVersions(RpcRdmaVersion.ONE, RpcRdmaVersion.TWO);

    boolean includes(RpcRdmaVersion version) {
        return version.compareTo(lowest) >= 0 && version.compareTo(highest) <= 0;
    }

    @Override
    public String toString() {
        return lowest == highest ? Integer.toString(lowest.number()) : lowest.number() + " to " + highest.number();
    }
}
