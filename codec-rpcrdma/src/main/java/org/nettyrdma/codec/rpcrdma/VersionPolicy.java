package org.nettyrdma.codec.rpcrdma;

/**
 * Which versions of the protocol are spoken: what a client calls in, and what a server accepts. A server answers every call in
 * the version of the call, and takes no other version on that connection from then on (version-two-08, section 7.3).
 */
public enum VersionPolicy {
    /** Version 1. Calls of version 2 are refused with ERR_VERS. */
    V1_ONLY(SpokenVersions.ONE),
    /**
     * Version 2. A client whose server does not speak it fails all its calls; a server refuses calls of version 1 with ERR_VERS.
     */
    V2_ONLY(SpokenVersions.TWO),
    /**
     * Version 2, or version 1 with a peer that does not speak it. A client finds out by its first call, and sends it again, with the
     * same XID, where it is refused with ERR_VERS: that costs one round trip. Where instead the connection is lost before a
     * first answer, its next connections to the same address begin with version 1 for five minutes (version-two-08,
     * section 7.2). A server takes what the client begins with.
     */
    PREFER_V2(SpokenVersions.BOTH);

    private final SpokenVersions spoken;

    VersionPolicy(SpokenVersions spoken) {
        this.spoken = spoken;
    }

    SpokenVersions spoken() {
        return spoken;
    }

    boolean speaks(RpcRdmaVersion version) {
        return spoken.includes(version);
    }
}
