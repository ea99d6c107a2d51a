package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;
import org.nettyrdma.codec.oncrpc.Xdr;

/** A program whose procedures have every shape of argument and result; its binding is {@link #BINDING}. */
public final class BulkProgram implements SingleVersionProgram {

    public static final int PROGRAM = 0x20000099;
    public static final int NULL = 0;
    /** opaque&lt;&gt; to the same opaque&lt;&gt;; nothing is eligible. */
    public static final int ECHO = 1;
    /** int mark, opaque&lt;&gt; data, int mark to int length, int sum, int mark; the data is eligible. */
    public static final int STORE = 2;
    /** int length, int extra to opaque&lt;extra&gt;, opaque&lt;length&gt;; the second is eligible. */
    public static final int LOAD = 3;
    /** int a, int b to opaque&lt;a&gt;, int mark, opaque&lt;b&gt;, int mark; both opaques are eligible. */
    public static final int LOAD_TWO = 4;
    /** Takes anything and does not answer; see {@link #hanging}. */
    static final int HANG = 5;
    /** Like LOAD, but twice as long as it was asked for. */
    static final int LOAD_TOO_MUCH = 6;

    /**
     * opaque&lt;&gt; head, opaque&lt;&gt; a, int mark, opaque&lt;&gt; b, int mark to length and sum of each opaque; a and b are
     * eligible.
     */
    static final int STORE_TWO = 7;

    public static final int MARK = 0x12345678;

    public static final UpperLayerBinding BINDING = new Binding();

    /** Calls of HANG that wait for whatever the test does with them; their arguments are retained. */
    public final BlockingQueue<RpcCall> hanging = new LinkedBlockingQueue<>();

    private final boolean tellsItems;

    /**
     * @param tellsItems whether replies come with the positions of their items, or leave that to the binding
     */
    public BulkProgram(boolean tellsItems) {
        this.tellsItems = tellsItems;
    }

    /** The next call of HANG, without its arguments. */
    public RpcCall takeHanging() throws InterruptedException {
        RpcCall call = hanging.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(call, "the call has not arrived");
        call.arguments().release();
        return call;
    }

    @Override
    public int program() {
        return PROGRAM;
    }

    @Override
    public void call(RpcCall call) { // results are allocated behind all that can throw: fuzzed calls come here, too
        ByteBuf arguments = call.arguments();
        switch (call.procedure()) {
            case NULL -> call.reply(Unpooled.EMPTY_BUFFER);
            case ECHO -> call.reply(arguments.retain());
            case STORE -> store(call, arguments);
            case LOAD -> load(call, arguments.readInt(), arguments.readInt());
            case LOAD_TOO_MUCH -> load(call, 2 * arguments.readInt(), arguments.readInt());
            case LOAD_TWO -> loadTwo(call, arguments.readInt(), arguments.readInt());
            case STORE_TWO -> storeTwo(call, arguments);
            case HANG -> {
                arguments.retain();
                hanging.add(call);
            }
            default -> call.replyProcedureUnavailable();
        }
    }

    private static void store(RpcCall call, ByteBuf arguments) {
        Xdr.readInt(arguments, "mark");
        ByteBuf data = Xdr.readOpaqueSlice(arguments, Integer.MAX_VALUE, "data");
        int mark = Xdr.readInt(arguments, "mark");
        call.reply(call.alloc().buffer().writeInt(data.readableBytes()).writeInt(sum(data)).writeInt(mark));
    }

    private static void storeTwo(RpcCall call, ByteBuf arguments) {
        ByteBuf head = Xdr.readOpaqueSlice(arguments, Integer.MAX_VALUE, "head");
        ByteBuf a = Xdr.readOpaqueSlice(arguments, Integer.MAX_VALUE, "a");
        int firstMark = Xdr.readInt(arguments, "mark");
        ByteBuf b = Xdr.readOpaqueSlice(arguments, Integer.MAX_VALUE, "b");
        if (firstMark != MARK || Xdr.readInt(arguments, "mark") != MARK || arguments.isReadable()) {
            call.replyProcedureUnavailable(); // an answer that no test expects
            return;
        }
        ByteBuf results = call.alloc().buffer();
        for (ByteBuf data : List.of(head, a, b)) {
            results.writeInt(data.readableBytes()).writeInt(sum(data));
        }
        call.reply(results);
    }

    private void load(RpcCall call, int length, int extra) {
        byte[] first = Bytes.pattern(extra, 1);
        byte[] second = Bytes.pattern(length, 2);
        ByteBuf head = call.alloc().buffer();
        Xdr.writeOpaque(head, first);
        head.writeInt(length);
        int position = head.readableBytes();
        ByteBuf data = call.alloc().buffer(length + 3).writeBytes(second);
        Xdr.writePadding(data, length);
        ByteBuf results = call.alloc().compositeBuffer().addComponents(true, head, data);
        reply(call, results, List.of(new DataItem(position, length)));
    }

    private void loadTwo(RpcCall call, int a, int b) {
        byte[] first = Bytes.pattern(a, 1);
        byte[] second = Bytes.pattern(b, 2);
        ByteBuf results = call.alloc().buffer();
        Xdr.writeOpaque(results, first);
        results.writeInt(MARK);
        Xdr.writeOpaque(results, second);
        results.writeInt(MARK);
        reply(call, results, List.of(new DataItem(4, a), new DataItem(12 + Xdr.paddedLength(a), b)));
    }

    private void reply(RpcCall call, ByteBuf results, List<DataItem> items) {
        if (tellsItems) {
            call.reply(results, items);
        } else {
            call.reply(results);
        }
    }

    static int sum(ByteBuf data) {
        int sum = 1;
        for (byte value : ByteBufUtil.getBytes(data)) { // one access: the leak detector records every one
            sum = 31 * sum + value;
        }
        return sum;
    }

    private static final class Binding implements UpperLayerBinding {

        @Override
        public int program() {
            return PROGRAM;
        }

        @Override
        public CallLayout layoutOfCall(int version, int procedure, ByteBuf arguments) {
            int start = arguments.readerIndex();
            return switch (procedure) {
                case ECHO -> new CallLayout(List.of(), space(arguments.readableBytes()));
                case STORE -> new CallLayout(List.of(new DataItem(8, arguments.getInt(start + 4))), space(12));
                case STORE_TWO -> new CallLayout(itemsOfStoreTwo(arguments), space(24));
                case LOAD, LOAD_TOO_MUCH -> new CallLayout(List.of(),
                        space(8 + Xdr.paddedLength(arguments.getInt(start + 4)), arguments.getInt(start)));
                case LOAD_TWO -> new CallLayout(List.of(),
                        space(16, arguments.getInt(start), arguments.getInt(start + 4)));
                default -> new CallLayout(List.of(), space(0));
            };
        }

        private static List<DataItem> itemsOfStoreTwo(ByteBuf arguments) {
            int start = arguments.readerIndex();
            int a = 4 + Xdr.paddedLength(arguments.getInt(start)) + 4;
            int aBytes = arguments.getInt(start + a - 4);
            int b = a + Xdr.paddedLength(aBytes) + 8;
            return List.of(new DataItem(a, aBytes), new DataItem(b, arguments.getInt(start + b - 4)));
        }

        private static ReplySpace space(int resultBytes, Integer... itemBytes) {
            return new ReplySpace(RpcReplyHeader.SUCCESS_BYTES + resultBytes, List.of(itemBytes));
        }

        @Override
        public List<DataItem> itemsOfReply(int version, int procedure, ByteBuf results) {
            return itemsOfReducedReply(version, procedure, results, List.of());
        }

        @Override
        public List<DataItem> itemsOfReducedReply(int version, int procedure, ByteBuf results, List<Integer> placedBytes) {
            int start = results.readerIndex();
            if (procedure == LOAD || procedure == LOAD_TOO_MUCH) {
                int position = 4 + Xdr.paddedLength(results.getInt(start)) + 4;
                return List.of(new DataItem(position, results.getInt(start + position - 4)));
            }
            if (procedure != LOAD_TWO) {
                return List.of();
            }
            DataItem first = new DataItem(4, results.getInt(start));
            boolean firstPlaced = !placedBytes.isEmpty() && placedBytes.get(0) > 0;
            int second = 4 + (firstPlaced ? 0 : Xdr.paddedLength(first.length())) + 8;
            DataItem last = new DataItem(second, results.getInt(start + second - 4));
            if (placedBytes.isEmpty()) {
                return List.of(first, last);
            }
            boolean lastPlaced = placedBytes.size() > 1 && placedBytes.get(1) > 0;
            return firstPlaced ? lastPlaced ? List.of(first, last) : List.of(first) : List.of(last);
        }
    }
}
