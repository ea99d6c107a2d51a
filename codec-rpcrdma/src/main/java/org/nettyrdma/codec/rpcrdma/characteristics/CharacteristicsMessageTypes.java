package org.nettyrdma.codec.rpcrdma.characteristics;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.header.HeaderType;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.XdrType;

/**
 * The three header types of the extension. None of them takes a credit.
 *
 * @param request  RDMA2_REQPROP
 * @param response RDMA2_RESPPROP
 * @param update   RDMA2_UPDPROP
 */
record CharacteristicsMessageTypes(HeaderType<PropertyRequest> request, HeaderType<PropertyResponse> response,
                    HeaderType<PropertyUpdate> update) {

    static final int REQPROP = 7;
    static final int RESPPROP = 8;
    static final int UPDPROP = 9;
    /** The prefix of a header, which the body of the message follows. */
    private static final int PREFIX_BYTES = 20;

    /**
     * @param sets how sets of the known properties stand on the wire
     */
    static CharacteristicsMessageTypes of(XdrType<PropertySet> sets) {
        return new CharacteristicsMessageTypes(type(REQPROP, "RDMA2_REQPROP", new RequestType(sets)),
                type(RESPPROP, "RDMA2_RESPPROP", new ResponseType()), type(UPDPROP, "RDMA2_UPDPROP", new UpdateType(sets)));
    }

    private static <T> HeaderType<T> type(int code, String name, XdrType<T> body) {
        return new HeaderType<>(code, name, body, false, HeaderType.Accounting.NONE);
    }

    /**
     * Checks that a message fits into a receive of the peer: one that does not ends the connection.
     *
     * @throws IllegalArgumentException if it does not, or the value is none of its type
     */
    static <T> void requireFits(HeaderType<T> type, T body, int receiveBytes) {
        int bytes = PREFIX_BYTES + type.body().lengthOf(body);
        if (bytes > receiveBytes) {
            throw new IllegalArgumentException(type.name() + " of " + bytes + " bytes (expected: at most " + receiveBytes + ')');
        }
    }

    private record RequestType(XdrType<PropertySet> sets) implements XdrType<PropertyRequest> {

        @Override
        public PropertyRequest read(ByteBuf in) {
            return new PropertyRequest(sets.read(in));
        }

        @Override
        public int lengthOf(PropertyRequest request) {
            return sets.lengthOf(request.wanted());
        }

        @Override
        public void write(PropertyRequest request, ByteBuf out) {
            sets.write(request.wanted(), out);
        }
    }

    private static final class ResponseType implements XdrType<PropertyResponse> {

        @Override
        public PropertyResponse read(ByteBuf in) {
            return new PropertyResponse(PropertySubset.XDR.read(in), PropertySubset.XDR.read(in), PropertySubset.XDR.read(in));
        }

        @Override
        public int lengthOf(PropertyResponse response) {
            return PropertySubset.XDR.lengthOf(response.done()) + PropertySubset.XDR.lengthOf(response.rejected())
                    + PropertySubset.XDR.lengthOf(response.pending());
        }

        @Override
        public void write(PropertyResponse response, ByteBuf out) {
            PropertySubset.XDR.write(response.done(), out);
            PropertySubset.XDR.write(response.rejected(), out);
            PropertySubset.XDR.write(response.pending(), out);
        }
    }

    /** The one value of an update stands there as in a set, but without the number of values. */
    private record UpdateType(XdrType<PropertySet> sets) implements XdrType<PropertyUpdate> {

        @Override
        public PropertyUpdate read(ByteBuf in) {
            ByteBuf set = in.alloc().buffer(Integer.BYTES + in.readableBytes());
            try {
                set.writeInt(1).writeBytes(in, in.readerIndex(), in.readableBytes());
                PropertySet.Entry now = sets.read(set).entries().get(0);
                in.skipBytes(set.readerIndex() - Integer.BYTES);
                return new PropertyUpdate(now, Xdr.readBoolean(in, "rdma_pendclr"));
            } finally {
                set.release();
            }
        }

        @Override
        public int lengthOf(PropertyUpdate update) {
            return sets.lengthOf(setOf(update)); // the flag is as long as the number of values
        }

        @Override
        public void write(PropertyUpdate update, ByteBuf out) {
            PropertySet one = setOf(update);
            ByteBuf set = out.alloc().buffer(sets.lengthOf(one));
            try {
                sets.write(one, set);
                out.writeBytes(set.skipBytes(Integer.BYTES));
            } finally {
                set.release();
            }
            Xdr.writeBoolean(out, update.pendingCleared());
        }

        private static PropertySet setOf(PropertyUpdate update) {
            return new PropertySet(List.of(update.now()));
        }
    }
}
