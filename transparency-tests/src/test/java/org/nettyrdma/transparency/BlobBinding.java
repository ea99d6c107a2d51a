package org.nettyrdma.transparency;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.UpperLayerBinding;

/** All that anybody has to know of {@link BlobServer}'s program for direct data placement: where its bulk data lies. */
final class BlobBinding implements UpperLayerBinding {

    @Override
    public int program() {
        return BlobServer.PROGRAM;
    }

    @Override
    public CallLayout layoutOfCall(int version, int procedure, ByteBuf arguments) {
        int length = arguments.getInt(arguments.readerIndex());
        int replyBytes = RpcReplyHeader.SUCCESS_BYTES + Integer.BYTES;
        return procedure == BlobServer.LOAD ? new CallLayout(List.of(), new ReplySpace(replyBytes, List.of(length)))
                : new CallLayout(List.of(new DataItem(Integer.BYTES, length)), new ReplySpace(replyBytes));
    }

    @Override
    public List<DataItem> itemsOfReply(int version, int procedure, ByteBuf results) {
        return procedure == BlobServer.LOAD ? List.of(new DataItem(Integer.BYTES, results.getInt(results.readerIndex())))
                : List.of();
    }
}
