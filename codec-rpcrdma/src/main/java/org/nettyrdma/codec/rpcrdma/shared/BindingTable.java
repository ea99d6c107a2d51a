package org.nettyrdma.codec.rpcrdma.shared;

import io.netty.buffer.ByteBuf;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.Collection;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.UpperLayerBinding;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;

/** The bindings of a connection by program, asked with whole messages: positions count from the XID here. */
public final class BindingTable {

    private final IntObjectMap<UpperLayerBinding> byProgram = new IntObjectHashMap<>();

    /**
     * @throws IllegalArgumentException if two are of the same program
     */
    public BindingTable(Collection<UpperLayerBinding> bindings) {
        for (UpperLayerBinding binding : bindings) {
            if (byProgram.put(binding.program(), binding) != null) {
                throw new IllegalArgumentException("two bindings of program " + binding.program());
            }
        }
    }

    /** Describes a call, {@link CallLayout#UNKNOWN} if there is no binding for it or the call does not parse. */
    public CallLayout layoutOfCall(ByteBuf call) {
        UpperLayerBinding binding = byProgram.isEmpty() || !RpcOffsets.hasCallHeader(call)
                ? null : byProgram.get(RpcOffsets.word(call, RpcOffsets.PROGRAM));
        int start = binding == null ? -1 : RpcOffsets.arguments(call);
        if (start < 0) {
            return CallLayout.UNKNOWN;
        }
        CallLayout layout = binding.layoutOfCall(RpcOffsets.word(call, RpcOffsets.VERSION),
                RpcOffsets.word(call, RpcOffsets.PROCEDURE), from(call, start));
        return new CallLayout(DataItem.allMovedBy(layout.items(), start), layout.replySpace());
    }

    /**
     * Whether the Read chunks of a received call hold what its binding says may travel in them, each one whole eligible
     * argument with or without its padding. Always so without a binding, or with one that knows nothing of the call. A
     * Position Zero Read chunk may hold anything.
     *
     * @param chunks in ascending order of position
     * @param call   the whole call, put together from its chunks
     */
    public boolean allow(List<ReadChunk> chunks, ByteBuf call) {
        if (chunks.isEmpty() || chunks.get(chunks.size() - 1).position() == 0) {
            return true;
        }
        CallLayout layout;
        try {
            layout = layoutOfCall(call);
        } catch (RuntimeException | Error e) { // the binding could not parse what the peer sent
            return false;
        }
        if (layout.equals(CallLayout.UNKNOWN)) {
            return true;
        }
        for (ReadChunk chunk : chunks) {
            if (chunk.position() > 0 && chunk.lengthBytes() > 0 && !holdsOneOf(layout.items(), chunk)) {
                return false;
            }
        }
        return true;
    }

    private static boolean holdsOneOf(List<DataItem> items, ReadChunk chunk) {
        for (DataItem item : items) {
            if (item.position() == chunk.position()) {
                return chunk.lengthBytes() == item.length() || chunk.lengthBytes() == RpcOffsets.padded(item.length());
            }
        }
        return false;
    }

    /** Finds the eligible results in a whole reply to a call of {@code program}. */
    public List<DataItem> itemsOfReply(int program, int version, int procedure, ByteBuf reply) {
        UpperLayerBinding binding = byProgram.get(program);
        int start = binding == null ? -1 : RpcOffsets.results(reply);
        return start < 0 ? List.of() : DataItem.allMovedBy(binding.itemsOfReply(version, procedure, from(reply, start)), start);
    }

    /** Finds where placed data belongs in a reply to a call of {@code program}; without a binding it belongs at the end. */
    public List<DataItem> itemsOfReducedReply(int program, int version, int procedure, ByteBuf reply, List<Integer> placedBytes) {
        int start = RpcOffsets.results(reply);
        if (start < 0) {
            return List.of();
        }
        UpperLayerBinding binding = byProgram.get(program);
        return binding == null ? ItemReduction.lastItem(reply, start) : DataItem.allMovedBy(
                binding.itemsOfReducedReply(version, procedure, from(reply, start), placedBytes), start);
    }

    private static ByteBuf from(ByteBuf message, int offset) {
        return message.slice(message.readerIndex() + offset, message.readableBytes() - offset);
    }
}
