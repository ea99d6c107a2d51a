package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;

/**
 * What to call, for {@link RpcClient#call}. Not thread safe while it is being set. One request makes one call.
 */
public final class RpcRequest {

    private static final long MAX_TIMEOUT_MILLIS = TimeUnit.DAYS.toMillis(36_500);

    private final int program;
    private final int version;
    private final int procedure;
    private final ByteBuf arguments;
    /** Whether {@link #arguments} is a buffer of this request, with {@link HeadRoom}. */
    private final boolean headRoom;
    private OpaqueAuth credential = OpaqueAuth.NONE;
    private List<DataItem> dataItems;
    private ReplySpace replySpace;
    private long timeoutMillis;
    private Integer xid;
    private Retransmission retransmission = Retransmission.ALWAYS;

    /**
     * Creates a request.
     *
     * @param program   number of the program
     * @param version   version of the program, an unsigned 32-bit number
     * @param procedure number of the procedure, an unsigned 32-bit number
     * @param arguments the arguments in XDR; its reference passes to this request and on to the call. A
     *                  {@link io.netty.buffer.CompositeByteBuf} with room for one more component, and without another reference,
     *                  takes the header as its first component
     */
    public RpcRequest(int program, int version, int procedure, ByteBuf arguments) {
        this(program, version, procedure, arguments, false);
    }

    /**
     * Creates a request whose arguments the caller writes to {@link #arguments} before the call. That costs less than a buffer of
     * the caller's: there is room in front for the headers of a call, so that they and the arguments leave as one piece, and
     * nothing is copied. That holds as long as nobody else has a reference to the buffer, and the credential is not much longer
     * than 50 bytes.
     *
     * @param program       number of the program
     * @param version       version of the program, an unsigned 32-bit number
     * @param procedure     number of the procedure, an unsigned 32-bit number
     * @param alloc         where the buffer comes from; the allocator of the channel spares the transport a copy
     * @param argumentBytes how many bytes the buffer has room for before it grows, 0 or more
     * @throws IllegalArgumentException if {@code argumentBytes} is negative, or leaves no room for the headers
     */
    public RpcRequest(int program, int version, int procedure, ByteBufAllocator alloc, int argumentBytes) {
        this(program, version, procedure, HeadRoom.newMessage(alloc, argumentBytes, "argumentBytes"), true);
    }

    private RpcRequest(int program, int version, int procedure, ByteBuf arguments, boolean headRoom) {
        this.program = program;
        this.version = version;
        this.procedure = procedure;
        this.arguments = requireNonNull(arguments, "arguments");
        this.headRoom = headRoom;
    }

    /**
     * Creates a request without arguments.
     *
     * @param program   number of the program
     * @param version   version of the program, an unsigned 32-bit number
     * @param procedure number of the procedure, an unsigned 32-bit number
     */
    public RpcRequest(int program, int version, int procedure) {
        this(program, version, procedure, Unpooled.EMPTY_BUFFER);
    }

    /**
     * Sets who calls; the default is {@link OpaqueAuth#NONE}.
     *
     * @param newCredential the credential
     * @return this
     */
    public RpcRequest setCredential(OpaqueAuth newCredential) {
        credential = requireNonNull(newCredential, "credential");
        return this;
    }

    /**
     * Says where bulk data lies in the arguments. Without this, and without {@link #setReplySpace}, a transport that places
     * data directly asks its binding for the program, if it has one.
     *
     * @param items the items in ascending order of position; positions count from the first readable byte of the arguments
     * @return this
     */
    public RpcRequest setDataItems(List<DataItem> items) {
        dataItems = List.copyOf(items);
        return this;
    }

    /**
     * Says how large the reply can get. Without this, and without {@link #setDataItems}, a transport that must offer memory for
     * the reply asks its binding for the program, if it has one. With this alone, no data of the arguments may be placed
     * directly. If neither the request nor a binding says the size, a call over RDMA offers room for the longest message, as far
     * as there is memory; see {@link ReplySpace} for the cost.
     *
     * @param space the sizes
     * @return this
     */
    public RpcRequest setReplySpace(ReplySpace space) {
        replySpace = requireNonNull(space, "replySpace");
        return this;
    }

    /**
     * Sets how long the caller waits for the reply; the default is the client's. Over RDMA a slower server may lose the
     * connection, see {@link RpcClient}.
     *
     * @param millis milliseconds from the call on, more than 0; more than a hundred years are a hundred years
     * @return this
     * @throws IllegalArgumentException if {@code millis} is not positive
     */
    public RpcRequest setTimeoutMillis(long millis) {
        timeoutMillis = bounded(millis);
        return this;
    }

    /** Deadlines are compared by their difference, which has to be a number. */
    static long bounded(long newTimeoutMillis) {
        return Math.min(checkPositive(newTimeoutMillis, "timeoutMillis"), MAX_TIMEOUT_MILLIS);
    }

    /**
     * Sets the transaction id; by default the client chooses one. A call that was lost with its connection may be made again on
     * another connection under the same id. Then the server can recognise the call, and need not carry it out twice (RFC 8167,
     * section 5.4). For that, set the id of the first attempt, too.
     *
     * <p>The id of a call that was cancelled, or has timed out, must not be used for another call on the same connection before
     * its reply has come. Over RDMA that fails. Over TCP a late reply would be taken for that of the other call.
     *
     * @param newXid the id; all 32 bits are significant. This call fails if another call in progress of the client has the id
     * @return this
     */
    public RpcRequest setXid(int newXid) {
        xid = newXid;
        return this;
    }

    /**
     * Says whether the call may be made again when its connection is lost. Only a client that connects again asks for it,
     * {@code org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClient}; {@link RpcClient} makes each call once.
     *
     * @param newRetransmission the default is {@link Retransmission#ALWAYS}
     * @return this
     */
    public RpcRequest setRetransmission(Retransmission newRetransmission) {
        retransmission = requireNonNull(newRetransmission, "retransmission");
        return this;
    }

    /**
     * The program to call.
     *
     * @return its number
     */
    public int program() {
        return program;
    }

    /**
     * The version of the program to call.
     *
     * @return an unsigned 32-bit number
     */
    public int version() {
        return version;
    }

    /**
     * The procedure to call.
     *
     * @return an unsigned 32-bit number
     */
    public int procedure() {
        return procedure;
    }

    /**
     * The arguments.
     *
     * @return the arguments in XDR, not retained
     */
    public ByteBuf arguments() {
        return arguments;
    }

    boolean hasHeadRoom() {
        return headRoom;
    }

    /**
     * Who calls.
     *
     * @return the credential
     */
    public OpaqueAuth credential() {
        return credential;
    }

    /**
     * Where bulk data lies in the arguments.
     *
     * @return the items, or {@code null} if nothing was said
     */
    public List<DataItem> dataItems() {
        return dataItems;
    }

    /**
     * How large the reply can get.
     *
     * @return the sizes, or {@code null} if nothing was said
     */
    public ReplySpace replySpace() {
        return replySpace;
    }

    /**
     * How long the caller waits for the reply.
     *
     * @return milliseconds, 0 for the client's default
     */
    public long timeoutMillis() {
        return timeoutMillis;
    }

    /**
     * The transaction id.
     *
     * @return the id, or {@code null} if the client is to choose
     */
    public Integer xid() {
        return xid;
    }

    /**
     * Whether the call may be made again when its connection is lost.
     *
     * @return the choice
     */
    public Retransmission retransmission() {
        return retransmission;
    }

    @Override
    public String toString() {
        return "RpcRequest(program " + Integer.toUnsignedString(program) + ", version " + Integer.toUnsignedString(version)
                + ", procedure " + Integer.toUnsignedString(procedure) + ", " + arguments + ')';
    }
}
