package org.nettyrdma.codec.rpcrdma;

import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;

/**
 * The description of a call by an {@link UpperLayerBinding}.
 *
 * @param items      the DDP-eligible arguments in ascending order; positions count from the first byte of the arguments
 * @param replySpace how large the reply can get, or {@code null} if that is not known
 */
public record CallLayout(List<DataItem> items, ReplySpace replySpace) {

    /** A call of which nothing is known: it has no eligible arguments, and its reply may have any size. */
    public static final CallLayout UNKNOWN = new CallLayout(List.of(), null);

    /**
     * Copies the list unless it is immutable.
     *
     * @param items      the DDP-eligible arguments
     * @param replySpace how large the reply can get, or {@code null}
     */
    public CallLayout {
        items = List.copyOf(items);
    }
}
