package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.util.internal.StringUtil;
import java.util.List;
import java.util.Objects;

/**
 * Outbound: one whole RPC message, and what its sender knows about its bulk data. A handler that knows nothing about bulk data
 * writes the plain {@link ByteBuf} instead. The write passes the one reference of the message to the channel.
 *
 * <p>The content is the whole XDR stream from the XID on. The content may consist of several pieces, so that bulk data need not
 * be copied behind the header.
 */
public final class RpcMessage extends DefaultByteBufHolder {

    private final List<DataItem> dataItems;
    private final ReplySpace replySpace;

    /**
     * Creates a message.
     *
     * @param content    the whole message, reader index at its XID; its reference passes to this message
     * @param dataItems  where bulk data lies in it, in ascending order of position; positions count from the reader index of
     *                   {@code content}. An empty list says that no data may be placed directly
     * @param replySpace for a call, how large its reply can get; {@code null} for a reply, and where the caller cannot tell
     */
    public RpcMessage(ByteBuf content, List<DataItem> dataItems, ReplySpace replySpace) {
        super(content);
        this.dataItems = List.copyOf(dataItems);
        this.replySpace = replySpace;
    }

    /**
     * Where the bulk data lies.
     *
     * @return the items in ascending order of position; unmodifiable
     */
    public List<DataItem> dataItems() {
        return dataItems;
    }

    /**
     * How large the reply to this call can get.
     *
     * @return the sizes, or {@code null} if this is a reply or they are not known
     */
    public ReplySpace replySpace() {
        return replySpace;
    }

    @Override
    public RpcMessage replace(ByteBuf content) {
        return new RpcMessage(content, dataItems, replySpace);
    }

    @Override
    public RpcMessage copy() {
        return replace(content().copy());
    }

    @Override
    public RpcMessage duplicate() {
        return replace(content().duplicate());
    }

    @Override
    public RpcMessage retainedDuplicate() {
        return replace(content().retainedDuplicate());
    }

    @Override
    public RpcMessage retain() {
        super.retain();
        return this;
    }

    @Override
    public RpcMessage retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RpcMessage touch() {
        super.touch();
        return this;
    }

    @Override
    public RpcMessage touch(Object hint) {
        super.touch(hint);
        return this;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RpcMessage message && super.equals(other) && dataItems.equals(message.dataItems)
                && Objects.equals(replySpace, message.replySpace);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), dataItems, replySpace);
    }

    @Override
    public String toString() {
        return StringUtil.simpleClassName(this) + '(' + contentToString() + ", " + dataItems + ", " + replySpace + ')';
    }
}
