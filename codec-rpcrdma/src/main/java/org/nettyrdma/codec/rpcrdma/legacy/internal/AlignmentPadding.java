package org.nettyrdma.codec.rpcrdma.legacy.internal;

import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.malformed;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.format.HeaderLayout;
import org.nettyrdma.codec.rpcrdma.format.PaddingRemoval;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;

/**
 * Takes out the padding that a call of type RDMA_MSGP has ahead of its large opaque arguments (draft-ietf-nfsv4-rpcrdma-02,
 * section 3.5), which made them begin at a multiple of {@code rdma_align} in the server's receive buffers.
 * <pre>{@code
 *   offset in the Send    0        36                    n * align
 *                         | header | ... length | padding | data ... |
 *                           with rdma_align and rdma_thresh }</pre>
 *
 * <p>What the draft leaves open: offsets count from the start of the Send, the only place that alignment in a receive buffer
 * can count from, and where the Linux client counted from while it sent such messages. Data of exactly the threshold is
 * padded, as in the draft's example. Only a binding knows what the opaque arguments are. So nothing is taken out without one
 * for the program, nor from arguments that are not DDP-eligible, nor from a call with Read chunks, whose positions would no
 * longer say where these belong. Replies have no padding: the value that a client reckons with is the server's.
 */
public final class AlignmentPadding implements PaddingRemoval {

    private final BindingTable bindings;

    public AlignmentPadding(BindingTable bindings) {
        this.bindings = bindings;
    }

    @Override
    public ByteBuf remove(ByteBufAllocator alloc, ByteBuf received, int start) throws RpcRdmaException {
        long align = received.getUnsignedInt(start + HeaderLayout.BODY_OFFSET);
        long thresholdBytes = received.getUnsignedInt(start + HeaderLayout.BODY_OFFSET + Integer.BYTES);
        long sendOffset = received.readerIndex() - start; // of the RPC message, had it had no padding so far
        ByteBuf message = received.retainedDuplicate();
        try {
            List<DataItem> items = align == 0 ? List.of() : itemsOf(message);
            for (int i = 0; i < items.size(); i++) {
                DataItem item = items.get(i);
                long over = (sendOffset + item.position()) % align;
                if (item.length() < thresholdBytes || over == 0) {
                    continue;
                }
                long padding = align - over;
                if (item.position() + padding + item.length() > message.readableBytes()) {
                    throw malformed("RPC message of %d bytes ends within the argument of %d bytes behind %d bytes of padding "
                            + "at position %d", message.readableBytes(), item.length(), padding, item.position());
                }
                message = without(alloc, message, item.position(), (int) padding);
                sendOffset += padding;
                items = itemsOf(message); // those behind the padding are found only now
            }
        } catch (RpcRdmaException | RuntimeException | Error e) {
            message.release();
            throw e;
        }
        received.release();
        return message;
    }

    private List<DataItem> itemsOf(ByteBuf call) throws RpcRdmaException {
        try {
            return bindings.layoutOfCall(call).items();
        } catch (RuntimeException | Error e) { // the binding could not parse what the peer sent
            throw malformed("padded arguments cannot be parsed: %s", e);
        }
    }

    private static ByteBuf without(ByteBufAllocator alloc, ByteBuf message, int position, int bytes) {
        CompositeByteBuf parts = alloc.compositeBuffer(2); // first, as there may be no memory for it
        return parts.addComponent(true, message.readRetainedSlice(position)).addComponent(true, message.skipBytes(bytes));
    }
}
