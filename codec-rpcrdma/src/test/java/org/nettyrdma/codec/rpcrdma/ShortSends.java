package org.nettyrdma.codec.rpcrdma;

/**
 * Builders for tests of what does not fit into a Send: it has 4096 bytes at most, however long the receives of the provider could
 * be.
 */
public final class ShortSends {

    private ShortSends() {
    }

    public static RpcRdmaBuilder client() {
        return RpcRdma.client().inlineThresholdBytes(4096);
    }

    public static RpcRdmaBuilder server() {
        return RpcRdma.server().inlineThresholdBytes(4096);
    }
}
