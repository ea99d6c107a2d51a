package org.nettyrdma.codec.rpcrdma.header;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;

/** A message that conveys no call and no reply, or breaks a rule. */
final class OtherMessage extends RpcRdmaMessage {

    private final RpcRdmaHeader header;
    private final Role role;
    private boolean invalidating;
    /** The receiver's steering tag that the Send invalidates, if it is {@link #invalidating}. */
    private int invalidatedTag;

    OtherMessage(RpcRdmaHeader header, Role role, ByteBuf body) {
        super(body);
        this.header = header;
        this.role = role;
    }

    @Override
    public RpcRdmaHeader header() {
        return header;
    }

    @Override
    public ChunkLists chunks() {
        return header instanceof WithChunks conveying ? conveying.chunks() : null;
    }

    @Override
    public int version() {
        return header.version();
    }

    @Override
    public boolean isNoMsg() {
        return header instanceof NoMsg;
    }

    @Override
    public int xid() {
        return header.xid();
    }

    @Override
    public Role role() {
        return role;
    }

    /**
     * The credit word of RDMA2_ERROR must be ignored (version-two-08, section 5.3.3), also where the rest of it cannot be parsed.
     * That of every ERR_VERS is ignored, too: it may be a client's first answer, and the client may send more than one message
     * only behind an answer that is no error (version-two-08, section 7).
     */
    @Override
    public boolean grantsCredits() {
        return header instanceof Malformed malformed ? malformed.granted()
                : !(header instanceof TransportError || header instanceof VersionError);
    }

    @Override
    public long credits() {
        return header.credits();
    }

    @Override
    public RpcRdmaMessage withCredits(int credits) {
        return credits == header.credits() ? this : with(header.withCredits(credits), content());
    }

    @Override
    public RpcRdmaMessage invalidating(int steeringTag) {
        invalidating = true;
        invalidatedTag = steeringTag;
        return this;
    }

    @Override
    public boolean isInvalidating() {
        return invalidating;
    }

    @Override
    public int invalidatedTag() {
        return invalidatedTag;
    }
}
