package org.nettyrdma.verbs;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;

/**
 * A reliable connection as the device sees it: a queue of sends, a queue of receives, and the memory that the peer may access.
 * Event loop only.
 *
 * <p>Life: created, receives posted, then {@link #connect} or {@link #accept}; {@link Listener#established}; work; and at
 * the end exactly one of {@link Listener#disconnected} and {@link Listener#connectFailed}. From then on, and after
 * {@link #moveToError()}, every work request that is not done completes as
 * {@link WorkCompletionStatus#WORK_REQUEST_FLUSHED}, and new ones are completed the same way while their queue has room.
 * Between {@link #moveToError()} and the end, what the peer takes may still complete as successful. {@link #close()} comes
 * last, when nothing is outstanding. Each work request that was posted completes exactly once, unless the queue pair or its
 * context is closed before.
 *
 * <p>Work requests of the send side complete in the order in which they were posted, receives in the order in which they
 * were posted. An RDMA Write that was posted before a Send is complete in the peer's memory when the peer sees the Send.
 * Immediate data is seen when the RDMA Write that carries it is complete, too.
 */
public interface QueuePair extends AutoCloseable {

    /** Right for {@link #expose}: the peer may read with RDMA Read. */
    int ACCESS_REMOTE_READ = 1;

    /** Right for {@link #expose}: the peer may write with RDMA Write. */
    int ACCESS_REMOTE_WRITE = 2;

    /**
     * Starts to connect. The listener is told the outcome, unless this method throws: then nothing has happened, and it can be
     * called again.
     *
     * @param remoteAddress where the peer listens
     * @param localAddress  where to connect from, or {@code null} to let the system choose
     * @param privateData   sent to the peer from position to limit; at most {@link Capabilities#maxPrivateDataBytes()}
     * @throws IOException if the attempt fails at once, for example because an address was not resolved or nobody listens
     * @throws IllegalArgumentException if the private data is too long, or the provider has no addresses of this kind; of the
     *         latter it may throw an {@code IOException} instead
     * @throws IllegalStateException if this queue pair was created for a request, connects already, or has ended
     */
    void connect(SocketAddress remoteAddress, SocketAddress localAddress, ByteBuffer privateData) throws IOException;

    /**
     * Answers the request that this queue pair was created for. The listener is told the outcome. If this method throws an
     * {@code IOException}, it is told when the queue pair is ended.
     *
     * @param privateData sent to the peer from position to limit; at most {@link Capabilities#maxPrivateDataBytes()}
     * @throws IOException if the peer has gone and that is known at once
     * @throws IllegalArgumentException if the private data is too long; the request can still be answered
     * @throws IllegalStateException if this queue pair was not created for a request, has answered it, or has ended
     */
    void accept(ByteBuffer privateData) throws IOException;

    /**
     * Posts a buffer for one incoming message. Receives are used in the order in which they were posted.
     *
     * @param workRequestId returned with the completion
     * @param region        memory that this provider has registered
     * @param offset        first byte of the buffer within {@code region}
     * @param length        size of the buffer in bytes; 0 where empty messages or immediate data are expected
     * @throws IOException if the queue is full or the device refuses; then there will be no completion
     * @throws IndexOutOfBoundsException if the buffer is not inside the region
     * @throws IllegalStateException if the receives of this queue pair are shared, or it is closed
     */
    void postReceive(long workRequestId, MemoryRegion region, int offset, int length) throws IOException;

    /**
     * Says how many messages this queue pair may take from its {@link SharedReceiveQueue}, all since it was created counted. What
     * comes then waits with the peer. The number may be lower than one said before; at first it is {@link Long#MAX_VALUE}. Only
     * where {@linkplain Capabilities#receiverWaits() messages wait} does a provider have to override this method; with others
     * the messages keep coming.
     *
     * @param messages how many in all
     */
    default void allowReceives(long messages) {
        // A device hands out shared receives by itself.
    }

    /**
     * Posts a work request of the send side. The provider copies what it needs; {@code request} can be used again at once. The
     * memory that it names can be used again after the completion. RDMA Reads beyond the depth that was agreed on wait in the
     * queue, and what was posted after them may wait, too. An RDMA Write or Read of no bytes touches no memory, so its steering
     * tag need not be valid.
     *
     * @param request what to do; its memory is registered by this provider. What is longer than
     *                {@link Capabilities#maxMessageBytes()} fails here or by its completion
     * @throws IOException if the connection does not stand yet, the queue is full, the provider has no such operation, there are
     *                     more pieces than {@link Capabilities} says, no RDMA Read may be outstanding, or the device refuses;
     *                     then there will be no completion
     * @throws IllegalStateException if the queue pair is closed
     */
    void postSend(SendWorkRequest request) throws IOException;

    /**
     * Makes the device start the work requests that were posted since the last call, and the withdrawals. Posting alone need not
     * start them. A failure ends the connection, and the listener is told.
     */
    void flush();

    /**
     * Opens a piece of registered memory to the peer of this connection, and to no other, from now until it is invalidated
     * by {@link #invalidate}, by the peer's Send with Invalidate, or by the end of the connection. Can be called before the
     * connection stands, so that private data can tell of it. An access outside of the piece, or without the right, ends the
     * connection and touches nothing; {@link Capabilities#exposure()} tells where that cannot be.
     *
     * @param region memory that this provider has registered
     * @param offset first byte within {@code region}
     * @param length size in bytes, at least 1
     * @param access {@link #ACCESS_REMOTE_READ} or {@link #ACCESS_REMOTE_WRITE}, or both
     * @return the steering tag, never 0; {@link #remoteOffset} tells the offset that goes with it
     * @throws IOException if the device refuses, or the connection has ended
     * @throws IndexOutOfBoundsException if the piece is not inside the region
     * @throws IllegalArgumentException if it is empty, or {@code access} is anything else
     */
    int expose(MemoryRegion region, int offset, int length, int access) throws IOException;

    /**
     * The tagged offset by which the peer names the first exposed byte.
     *
     * @param steeringTag from {@link #expose}, still valid
     * @return the offset, an unsigned 64-bit number
     * @throws IllegalArgumentException if the tag is not valid
     */
    long remoteOffset(int steeringTag);

    /**
     * Withdraws a steering tag. New accesses of the peer are refused at once. When the withdrawal is complete, no access is in
     * progress any more and the memory can be used again. The withdrawal of a tag that the peer has already invalidated, that
     * ended with the connection, or that this queue pair does not know, is complete at once.
     *
     * @param workRequestId returned with the completion, if there is one. The completion may be out of the order of the send side
     * @param steeringTag   from {@link #expose}
     * @return {@code true} if the withdrawal is complete and there will be no completion, {@code false} if the completion
     *         will tell
     * @throws IOException if the device refuses; then there will be no completion
     */
    boolean invalidate(long workRequestId, int steeringTag) throws IOException;

    /**
     * This side's address.
     *
     * @return the address, or {@code null} before it is known
     */
    SocketAddress localAddress();

    /**
     * The peer's address.
     *
     * @return the address, or {@code null} before it is known
     */
    SocketAddress remoteAddress();

    /**
     * Which provider carries the connection, where that of the context chooses among several.
     *
     * @return its {@link VerbsProvider#name()}; {@code null} for that of the context, or before the choice
     */
    default String carrier() {
        return null;
    }

    /**
     * What a connection that has no outcome yet is waiting for, and why that may not come: for the message of a user whose time
     * is over. A provider that cannot tell need not override it.
     *
     * @return words that follow an address and a colon; {@code null} where nothing is known, or nothing is waited for
     */
    default String awaited() {
        return null;
    }

    /**
     * What the connection has moved in both directions, with the part that has moved of work requests which are not complete, and
     * with what frames them. A peer that takes a little is to be seen here soon, so a provider may {@link #flush} for that. One
     * whose device tells of whole work requests only need not override it.
     *
     * @return bytes so far, never fewer than before; -1 where that is not known
     */
    default long movedBytes() {
        return -1;
    }

    /**
     * Ends the connection. Outstanding work requests are flushed, and the peer is told. Sends that were posted before may or may
     * not reach the peer. Can be called in every state, also more than once.
     */
    void moveToError();

    /**
     * Ends the connection like {@link #moveToError}, and drops what the peer has not taken: the peer learns of the end as soon as
     * the network can tell it, and from then on fails when it sends. A provider whose connections end so in any case need not
     * override it. Can be called in every state, also more than once.
     */
    default void abort() {
        moveToError();
    }

    /**
     * Frees the queue pair; does nothing if that was done. A connection that has not ended ends now, and the listener is told
     * nothing more. Completions may still be delivered, of what was done before as of what is flushed now, but need not be; only
     * those of {@linkplain SharedReceiveQueue shared receives} always are, since others still use that queue. From then on the
     * device accesses neither the memory of work requests nor exposed memory; {@link #mayUsePosted()} and {@link #mayUseExposed}
     * tell where that was not possible. Nothing can be posted any more, while {@link #flush()}, {@link #moveToError()} and {@link
     * #abort()} do nothing.
     */
    @Override
    void close();

    /**
     * Tells, after {@link #close()} or the end of its context, whether the device may still use the memory of work requests that
     * have not completed. Then that memory must never be used for anything else, and never be given back. A provider that can
     * always end the access, such as one in software, need not override this method.
     *
     * @return {@code true} if the queue pair could not be ended
     */
    default boolean mayUsePosted() {
        return false;
    }

    /**
     * Tells, after {@link #close()} or the end of its context, whether the peer may still reach memory that was exposed and not
     * withdrawn before; also where {@link #close()} has thrown an exception. Then that memory must never be used for anything
     * else, and never be given back.
     *
     * @param steeringTag from {@link #expose}
     * @return {@code true} if the access could not be taken away
     */
    default boolean mayUseExposed(int steeringTag) {
        return false;
    }

    /**
     * Told, on the event loop and from {@link VerbsContext#poll} only, of the life of one connection.
     */
    interface Listener {

        /**
         * The connection stands. Messages can be sent. Received messages will be delivered after this call.
         *
         * @param parameters what was agreed
         */
        void established(ConnectionParameters parameters);

        /**
         * The connection was not made, or this side has ended it before it stood. Nothing follows except completions of flushed
         * work requests.
         *
         * @param cause       why; a {@link java.net.ConnectException} where nobody listens or the peer rejected
         * @param privateData what a peer that rejected sent along, read-only, else empty
         */
        void connectFailed(IOException cause, ByteBuffer privateData);

        /**
         * The connection has ended. Every message that arrived before has been delivered. Nothing follows except completions of
         * flushed work requests.
         *
         * @param cause why, or {@code null} if the peer closed in order, or this side called {@link #moveToError} or
         *              {@link #abort}
         */
        void disconnected(IOException cause);
    }
}
