package org.nettyrdma.codec.rpcrdma.soak;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.Retransmission;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;

/**
 * The program of the soak, and the calls to it. The number of a call says all of it: how much data goes in and out, whether it
 * is written into the ledger, and whether it may be made again. The ledger gets the number of the call and of the process.
 */
record SoakProgram(FileChannel ledger, int process) implements SingleVersionProgram {

    static final int PROGRAM = 0x20000099;
    /** Is written into the ledger each time it is executed. */
    static final int COUNTED = 1;
    /** Idempotent, and not counted. */
    static final int READ = 2;
    static final int ENTRY_BYTES = Long.BYTES + Integer.BYTES;

    private static final int HEAD_BYTES = Long.BYTES + Integer.BYTES;

    @Override
    public int program() {
        return PROGRAM;
    }

    @Override
    public boolean isIdempotent(int version, int procedure) {
        return procedure == 0 || procedure == READ;
    }

    @Override
    public int maxResultBytes(RpcCall call) {
        ByteBuf arguments = call.arguments();
        return HEAD_BYTES + resultBytes(arguments.getLong(arguments.readerIndex()));
    }

    static int procedure(long number) {
        return number % 4 == 0 ? READ : COUNTED;
    }

    /** Data in the arguments; most calls have none. */
    static int argumentBytes(long number) {
        return procedure(number) == READ ? 0 : number % 16 == 1 ? 1 + scattered(number, 64 << 10)
                : number % 256 == 3 ? 512 << 10 : 0;
    }

    /** Data in the results. */
    static int resultBytes(long number) {
        return number % 16 == 4 ? 1 + scattered(number, 64 << 10) : number % 256 == 8 ? 512 << 10
                : number % 16 == 1 ? 1 + scattered(number, 6 << 10) : 0;
    }

    private static int scattered(long number, int bound) {
        return (int) ((number * 0x9E3779B97F4A7C15L >>> 33) % bound);
    }

    static Retransmission retransmission(long number) {
        return number % 8 == 7 ? Retransmission.ONLY_IF_NOT_SENT : Retransmission.ALWAYS;
    }

    static RpcRequest request(ByteBufAllocator alloc, long number) {
        int length = argumentBytes(number);
        ByteBuf arguments = alloc.buffer(HEAD_BYTES + length + 3).writeLong(number).writeInt(length);
        writeData(arguments, number, length);
        return new RpcRequest(PROGRAM, 1, procedure(number), arguments).setRetransmission(retransmission(number))
                .setDataItems(length == 0 ? List.of() : List.of(new DataItem(HEAD_BYTES, length)))
                .setReplySpace(new ReplySpace(RpcReplyHeader.SUCCESS_BYTES + HEAD_BYTES, List.of(resultBytes(number))));
    }

    /** Bytes that belong to this call only, and to their place in it; and what fills up the last four. */
    private static void writeData(ByteBuf target, long number, int length) {
        int position = 0;
        for (; position + Long.BYTES <= length; position += Long.BYTES) {
            target.writeLong(number * 0x9E3779B97F4A7C15L + position);
        }
        for (; position < length; position++) {
            target.writeByte((int) number + position);
        }
        target.writeZero(-length & 3);
    }

    /** Returns whether the data is that of the call. */
    private static boolean isData(ByteBuf data, long number, int length) {
        if (data.readableBytes() < length) {
            return false;
        }
        int position = 0;
        for (; position + Long.BYTES <= length; position += Long.BYTES) {
            if (data.readLong() != number * 0x9E3779B97F4A7C15L + position) {
                return false;
            }
        }
        for (; position < length; position++) {
            if (data.readByte() != (byte) (number + position)) {
                return false;
            }
        }
        return true;
    }

    /** Says what is wrong with an answer, {@code null} if nothing is. */
    static String fault(ByteBuf results, long number) {
        if (results.readableBytes() < HEAD_BYTES) {
            return "a result of " + results.readableBytes() + " bytes";
        }
        long answered = results.readLong();
        int length = results.readInt();
        if (answered != number) {
            return "the answer to " + answered;
        }
        if (length != resultBytes(number)) {
            return length + " instead of " + resultBytes(number) + " bytes of data";
        }
        return isData(results, number, length) ? null : "other data";
    }

    @Override
    public void call(RpcCall call) throws IOException {
        ByteBuf arguments = call.arguments();
        long number = arguments.readLong();
        int length = arguments.readInt();
        if (length != argumentBytes(number) || !isData(arguments, number, length)) {
            System.out.println("FAULT: the data of call " + number + " is not what was sent");
            call.replyGarbageArguments();
            return;
        }
        if (call.procedure() == COUNTED) {
            // One write to a file that is appended to: what is killed has written all of it, or nothing.
            ledger.write(ByteBuffer.allocate(ENTRY_BYTES).putLong(number).putInt(process).flip());
        }
        if (number % 32 == 6) {
            GlobalEventExecutor.INSTANCE.schedule(() -> answer(call, number), 20, TimeUnit.MILLISECONDS);
        } else {
            answer(call, number);
        }
    }

    private static void answer(RpcCall call, long number) {
        int length = resultBytes(number);
        ByteBuf results = call.newResults(HEAD_BYTES + length + 3).writeLong(number).writeInt(length);
        writeData(results, number, length);
        call.reply(results, length == 0 ? List.of() : List.of(new DataItem(HEAD_BYTES, length)));
    }
}
