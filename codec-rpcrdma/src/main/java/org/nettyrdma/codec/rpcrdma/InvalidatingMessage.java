package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;

/** A message with a call or a reply, by Send with Invalidate. */
final class InvalidatingMessage extends ConveyingMessage {

    private final int invalidatedTag;

    InvalidatingMessage(int version, int xid, int creditWord, int flags, ChunkLists chunks, boolean noMsg, Role role, ByteBuf body,
                        int invalidatedTag) {
        super(version, xid, creditWord, flags, chunks, noMsg, role, body);
        this.invalidatedTag = invalidatedTag;
    }

    /** What another message is, whose reference passes to this one. */
    InvalidatingMessage(ConveyingMessage other, int invalidatedTag) {
        super(other);
        this.invalidatedTag = invalidatedTag;
    }

    @Override
    boolean isInvalidating() {
        return true;
    }

    @Override
    int invalidatedTag() {
        return invalidatedTag;
    }
}
