package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.UpperLayerBinding;

/**
 * The binding of MOUNT version 3 (RFC 8267, section 4): nothing is eligible for direct placement. Lists of exports and of
 * mounts have no limit in the protocol; {@value #MAX_LIST_BYTES} bytes are offered for them. Thread safe.
 */
public final class MountUpperLayerBinding implements UpperLayerBinding {

    /** Most bytes of a reply of DUMP or EXPORT. */
    public static final int MAX_LIST_BYTES = 1 << 16;

    private static final int RPC_HEADER_BYTES = 24;
    /** Status, handle with its length word, flavors with their count. */
    private static final int MNT_BYTES = 4 + 4 + Nfs.MAX_HANDLE_BYTES + 4 + 4 * MountResult.MAX_FLAVORS;

    /** Creates the binding; it has no state, so one serves all connections. */
    public MountUpperLayerBinding() {
    }

    @Override
    public int program() {
        return Mount.PROGRAM;
    }

    @Override
    public CallLayout layoutOfCall(int version, int procedure, ByteBuf arguments) {
        MountProcedure mountProcedure = MountProcedure.of(procedure);
        if (version != Mount.VERSION || mountProcedure == null) {
            return CallLayout.UNKNOWN;
        }
        int resultBytes = switch (mountProcedure) {
            case NULL, UMNT, UMNTALL -> 0;
            case MNT -> MNT_BYTES;
            case DUMP, EXPORT -> MAX_LIST_BYTES;
        };
        return new CallLayout(List.of(), new ReplySpace(RPC_HEADER_BYTES + resultBytes));
    }

    @Override
    public List<DataItem> itemsOfReply(int version, int procedure, ByteBuf results) {
        return List.of();
    }
}
