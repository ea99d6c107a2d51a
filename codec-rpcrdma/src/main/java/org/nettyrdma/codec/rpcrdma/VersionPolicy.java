package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.codec.rpcrdma.format.SpokenVersions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/**
 * The versions of the protocol that a client calls in, or that a server accepts. A server answers every call in
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
     * Version 2, or version 1 with a peer that does not speak version 2. A client finds out by its first call. If that is refused
     * with ERR_VERS, the client sends it again in version 1, with the same XID: that costs one round trip. If the connection is
     * lost before a first answer, or closed here after a call has timed out or was cancelled, the next connections to the same
     * address begin with version 1 for five minutes (version-two-08, section 7.2). If the server then refuses version 1 and
     * speaks version 2, that connection ends, and the next one begins with version 2. A server takes the version that the client
     * begins with.
     */
    PREFER_V2(SpokenVersions.BOTH);

    private final SpokenVersions spoken;

    VersionPolicy(SpokenVersions spoken) {
        this.spoken = spoken;
    }

    SpokenVersions spoken() {
        return spoken;
    }

    /**
     * Whether this side speaks a version at all.
     *
     * @param version any version
     * @return {@code true} if it does
     */
    public boolean speaks(RpcRdmaVersion version) {
        return spoken.includes(version);
    }
}
