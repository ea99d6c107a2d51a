package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.ReferenceCountUtil;
import java.net.SocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;

/**
 * A received call, for the {@link RpcProgram} that serves it.
 *
 * <p>A call takes exactly one answer, from any thread: the first {@code reply} method called wins. A later call of such a method
 * throws {@link IllegalStateException} and releases its results. An answer is released, too, if the connection has ended, or if
 * the handler has answered with SYSTEM_ERR because the program took too long.
 */
public final class RpcCall {

    private static final AtomicIntegerFieldUpdater<RpcCall> ANSWERS =
            AtomicIntegerFieldUpdater.newUpdater(RpcCall.class, "answers");
    /** A buffer up to this size may be held by whatever arguments it has, as a call counts about as much. */
    private static final int SMALL_BUFFER_BYTES = 8 << 10;

    private static final int NONE = 0;
    private static final int GIVEN = 1;
    /** Given on the program's behalf, which does not know and may still give its own. */
    private static final int OVERDUE = 2;

    private final ServedCallOwner owner;
    // The header's fields and not the header, which most programs never ask for as a whole.
    private final int xid;
    private final int program;
    private final int version;
    private final int procedure;
    private final OpaqueAuth credential;
    private final OpaqueAuth verifier;
    private ByteBuf arguments;
    private volatile int answers;
    /** What {@link #newResults} has returned last. */
    private ByteBuf newResults;
    /** What it has of a {@link MemoryBudget}; set before the program sees the call. */
    private long memoryBytes;
    /** {@code null} if nobody measures the call. */
    private RpcCallTimer.Call measured;

    RpcCall(ServedCallOwner owner, RpcCallHeader header, ByteBuf arguments) {
        this.owner = owner;
        this.xid = header.xid();
        this.program = header.program();
        this.version = header.version();
        this.procedure = header.procedure();
        this.credential = header.credential();
        this.verifier = header.verifier();
        this.arguments = arguments;
    }

    /** The same call, not yet answered, whose answer goes to another owner. */
    RpcCall withOwner(ServedCallOwner other) {
        return new RpcCall(other, header(), arguments);
    }

    ServedCallOwner owner() {
        return owner;
    }

    /**
     * The header of the call.
     *
     * @return the header, equal each time but not the same object
     */
    public RpcCallHeader header() {
        return new RpcCallHeader(xid, program, version, procedure, credential, verifier);
    }

    /**
     * The procedure to run.
     *
     * @return an unsigned 32-bit number
     */
    public int procedure() {
        return procedure;
    }

    /**
     * The version of the program to run.
     *
     * @return an unsigned 32-bit number within the program's range
     */
    public int version() {
        return version;
    }

    /**
     * The arguments. The call releases them when {@link RpcProgram#call} returns. A program that needs them longer, or parts of
     * them in its results, retains them.
     *
     * @return the arguments in XDR, reader index at their first byte
     */
    public ByteBuf arguments() {
        return arguments;
    }

    /**
     * The channel that the call came from.
     *
     * @return the channel
     */
    public Channel channel() {
        return owner.channel();
    }

    /**
     * Who calls.
     *
     * @return the peer's address
     */
    public SocketAddress remoteAddress() {
        return channel().remoteAddress();
    }

    /**
     * The allocator for results. Buffers of the allocator of the channel spare the transport a copy.
     *
     * @return the channel's allocator
     */
    public ByteBufAllocator alloc() {
        return channel().alloc();
    }

    /**
     * Makes a buffer for results, to be passed to a {@code reply} method of this call. That costs less than another buffer: there
     * is room in front for the headers of a reply, so that they and the results leave as one piece, and nothing is copied. That
     * holds for the last such buffer, as long as nobody else has a reference to it.
     *
     * @param bytes how many bytes it has room for before it grows, 0 or more
     * @return an empty buffer of {@link #alloc}, which belongs to the caller; its reader index is not 0
     * @throws IllegalArgumentException if {@code bytes} is negative, or leaves no room for the headers
     */
    public ByteBuf newResults(int bytes) {
        newResults = HeadRoom.newMessage(alloc(), bytes, "bytes");
        return newResults;
    }

    /**
     * Whether the call has an answer. A long-running program may ask now and then whether its work is still wanted.
     *
     * @return {@code true} if a {@code reply} method was called, or the program has taken too long
     */
    public boolean isAnswered() {
        return answers != NONE;
    }

    /**
     * Answers with results. Results of more than 1024 bytes are not copied: a {@link io.netty.buffer.CompositeByteBuf} that has
     * room for one more component, and no other reference, takes the header as its first component. For other buffers a composite
     * buffer is made.
     *
     * <p>This method says nothing about bulk data. A transport that places data directly asks its binding for the program, if it
     * has one.
     *
     * @param results the results in XDR; the reference passes to the call
     * @throws IllegalStateException if the call was answered before; {@code results} is released
     */
    public void reply(ByteBuf results) {
        requireUnanswered(tryAnswer(joinResults(results)));
    }

    /**
     * Answers with results, and says where bulk data lies in them.
     *
     * @param results the results in XDR; the reference passes to the call
     * @param items   the items in ascending order of position; positions count from the first readable byte of
     *                {@code results}. An empty list says that no data may be placed directly
     * @throws IllegalStateException if the call was answered before; {@code results} is released
     * @throws ArithmeticException if an item would end up beyond what an {@code int} can hold; {@code results} is released, and
     *         the call is not answered
     */
    public void reply(ByteBuf results, List<DataItem> items) {
        List<DataItem> moved;
        try {
            moved = DataItem.allMovedBy(items, RpcReplyHeader.SUCCESS_BYTES);
        } catch (RuntimeException | Error e) {
            results.release();
            throw e;
        }
        requireUnanswered(tryAnswer(new RpcMessage(joinResults(results), moved, null)));
    }

    /**
     * Answers that the arguments cannot be decoded (GARBAGE_ARGS).
     *
     * @throws IllegalStateException if the call was answered before
     */
    public void replyGarbageArguments() {
        refuse(AcceptStatus.GARBAGE_ARGS);
    }

    /**
     * Answers that the program has no such procedure (PROC_UNAVAIL).
     *
     * @throws IllegalStateException if the call was answered before
     */
    public void replyProcedureUnavailable() {
        refuse(AcceptStatus.PROC_UNAVAIL);
    }

    /**
     * Answers that the server failed (SYSTEM_ERR).
     *
     * @param cause why; it is counted and logged, and not told to the caller
     * @throws IllegalStateException if the call was answered before
     * @throws NullPointerException if {@code cause} is {@code null}; the call is not answered
     */
    public void replySystemError(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        refuse(AcceptStatus.SYSTEM_ERR);
        owner.programFailed(header(), cause);
    }

    /**
     * Answers that the caller's identity is not trusted (AUTH_ERROR).
     *
     * @param status why
     * @throws IllegalStateException if the call was answered before
     * @throws IllegalArgumentException if {@code status} is {@link AuthStatus#AUTH_OK} or {@link AuthStatus#UNKNOWN}, which are
     *         no reasons; the call is not answered
     * @throws NullPointerException if {@code status} is {@code null}; the call is not answered
     */
    public void replyAuthError(AuthStatus status) {
        Objects.requireNonNull(status, "status"); // before it counts as answered
        if (status == AuthStatus.AUTH_OK || status == AuthStatus.UNKNOWN) {
            throw new IllegalArgumentException("status: " + status + " (expected: why the call is refused)");
        }
        requireUnanswered(tryRefuse(new RpcReplyHeader.AuthError(xid, status)));
    }

    private void refuse(AcceptStatus status) {
        requireUnanswered(tryRefuse(status));
    }

    void measure(RpcCallTimer.Call how) {
        measured = how;
    }

    RpcCallTimer.Call measured() {
        return measured;
    }

    /**
     * The call is about to wait, and its program has not seen it. Small arguments that came in a large buffer are copied: each
     * such call could hold a whole receive buffer otherwise, of which next to nothing is counted.
     */
    void letGoOfLargeBuffer() {
        ByteBuf buffer = arguments;
        while (buffer.unwrap() != null) {
            buffer = buffer.unwrap();
        }
        int bytes = arguments.readableBytes();
        if (buffer.capacity() <= SMALL_BUFFER_BYTES || bytes >= buffer.capacity() / RecordAssembler.MIN_KEPT_SHARE) {
            return;
        }
        ByteBuf copy;
        try {
            copy = bytes == 0 ? Unpooled.EMPTY_BUFFER : alloc().buffer(bytes, bytes);
        } catch (RuntimeException | Error e) {
            return; // no memory: the call can be served as it is
        }
        copy.writeBytes(arguments, arguments.readerIndex(), bytes);
        arguments.release();
        arguments = copy;
    }

    void setMemoryBytes(long bytes) {
        memoryBytes = bytes;
    }

    long memoryBytes() {
        return memoryBytes;
    }

    /** Answers without results; {@code false} if the call was answered before. */
    boolean tryRefuse(AcceptStatus status) {
        return tryRefuse(new RpcReplyHeader.Accepted(xid, status));
    }

    /** Answers without results; {@code false} if the call was answered before. */
    boolean tryRefuse(RpcReplyHeader reply) {
        return tryRefuse(reply, GIVEN);
    }

    /** Answers with SYSTEM_ERR in place of a program that takes too long; {@code false} if the call was answered before. */
    boolean tryGiveUp() {
        return tryRefuse(new RpcReplyHeader.Accepted(xid, AcceptStatus.SYSTEM_ERR), OVERDUE);
    }

    private boolean tryRefuse(RpcReplyHeader reply, int answer) {
        boolean claimed = claim(answer);
        if (claimed) {
            owner.refuse(this, reply);
        }
        return claimed;
    }

    /**
     * Answers with a whole message; {@code false} if the call was answered before, and then the message is released. The answer
     * is claimed only when the message is complete, so that a call whose results are unusable still gets one.
     */
    boolean tryAnswer(Object message) {
        boolean claimed = claim(GIVEN);
        if (claimed) {
            owner.send(this, message);
        } else {
            ReferenceCountUtil.release(message);
        }
        return claimed;
    }

    private boolean claim(int answer) {
        return ANSWERS.compareAndSet(this, NONE, answer);
    }

    private void requireUnanswered(boolean claimed) {
        if (!claimed && answers != OVERDUE) {
            throw new IllegalStateException("answered before: " + header());
        }
    }

    private ByteBuf joinResults(ByteBuf results) {
        int end = results.writerIndex();
        if (results == newResults && HeadRoom.begin(results, RpcReplyHeader.SUCCESS_BYTES)) {
            SuccessHeader.write(xid, results);
            return results.writerIndex(end);
        }
        ByteBuf reply = MessageAssembly.newHeader(alloc(), RpcReplyHeader.SUCCESS_BYTES, results);
        SuccessHeader.write(xid, reply);
        return MessageAssembly.join(alloc(), reply, results);
    }

    @Override
    public String toString() {
        return "RpcCall(" + header() + ", " + arguments + ')';
    }
}
