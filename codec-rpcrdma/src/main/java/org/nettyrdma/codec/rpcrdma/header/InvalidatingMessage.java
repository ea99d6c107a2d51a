package org.nettyrdma.codec.rpcrdma.header;

/** A message with a call or a reply, by Send with Invalidate. */
final class InvalidatingMessage extends ConveyingMessage {

    private final int invalidatedTag;

    /**
     * What another message is, whose reference passes to this one.
     *
     * @param other the message
     * @param invalidatedTag a steering tag of the receiver
     */
    InvalidatingMessage(ConveyingMessage other, int invalidatedTag) {
        super(other);
        this.invalidatedTag = invalidatedTag;
    }

    @Override
    public boolean isInvalidating() {
        return true;
    }

    @Override
    public int invalidatedTag() {
        return invalidatedTag;
    }
}
