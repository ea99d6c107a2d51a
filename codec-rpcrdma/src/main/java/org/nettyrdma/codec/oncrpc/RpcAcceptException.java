package org.nettyrdma.codec.oncrpc;

import java.util.Optional;

/** The server accepted the call but did not carry it out. */
public final class RpcAcceptException extends RpcException {

    private static final long serialVersionUID = 1L;

    /** What the server says. */
    private final AcceptStatus status;
    private final transient VersionRange versions;

    RpcAcceptException(RpcRequest request, RpcReplyHeader.Accepted reply) {
        super(request, reply.versions() == null ? reply.status().toString()
                : reply.status() + ", the server has versions " + reply.versions(), null);
        status = reply.status();
        versions = reply.versions();
    }

    /**
     * What the server says.
     *
     * @return the status, never {@link AcceptStatus#SUCCESS}
     */
    public AcceptStatus status() {
        return status;
    }

    /**
     * Which versions of the program the server has.
     *
     * @return the range, empty unless the status is {@link AcceptStatus#PROG_MISMATCH}
     */
    public Optional<VersionRange> versions() {
        return Optional.ofNullable(versions);
    }
}
