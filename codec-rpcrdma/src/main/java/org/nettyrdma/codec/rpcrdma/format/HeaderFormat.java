package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ConveyingMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * How the headers of one version stand on the wire, and how a message tells its direction. All that differs between the
 * versions below the chunk and credit handlers is behind this. Stateless, so any thread may use it.
 */
public interface HeaderFormat {

    /** The version. */
    RpcRdmaVersion version();

    /**
     * What a received message is, as far as its header's first words tell.
     *
     * @param received    a message with at least the words that every version has; its reader index stays
     * @param inboundRole what messages have that tell nothing: what this side of the connection mostly receives
     */
    Role roleOf(ByteBuf received, Role inboundRole);

    /**
     * Reads a header.
     *
     * @param in a message with at least the words that every version has; afterwards its reader index stands behind the header
     * @throws RpcRdmaException if it breaks a rule; then the reader index is undefined
     */
    RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException;

    /** Whether messages of this type convey a call or a reply, so that {@link #readChunks} can read their headers. */
    boolean conveys(int type);

    /**
     * Reads the chunks of a call or a reply. What stands in front of them is checked as far as that must be, and left to the
     * caller to get by its place.
     *
     * @param in   a message with at least the words that every version has; afterwards its reader index stands behind the header
     * @param type its type word, which {@link #conveys} knows
     * @throws RpcRdmaException if it breaks a rule; then the reader index is undefined
     */
    ChunkLists readChunks(ByteBuf in, int type) throws RpcRdmaException;

    /**
     * The flag word of a message whose chunks could be read.
     *
     * @param start where the message begins
     */
    int flagsOf(ByteBuf in, int start);

    /** The length of a header in bytes, without what follows it. */
    int lengthOf(RpcRdmaHeader header);

    /**
     * Appends a header to {@code out}, which has room for {@link #lengthOf} bytes.
     *
     * @param role the role of the message
     * @throws IllegalArgumentException if this version cannot say it
     */
    void write(RpcRdmaHeader header, Role role, ByteBuf out);

    /** Appends what {@link #write(RpcRdmaHeader, Role, ByteBuf)} does, without making the header first. */
    void writeConveying(ConveyingMessage message, ByteBuf out);

    /**
     * Whether a received message is a call or a reply without chunks in which nothing is wrong, header and first words of the RPC
     * message alike: what most messages are.
     *
     * @param in       the message; its reader index stays
     * @param response whether a reply is meant
     * @return {@code false} for all others, and for those that have to be looked at more closely
     */
    boolean isInline(ByteBuf in, boolean response);

    /** Appends the header of a call or a reply without chunks, of {@link RpcRdmaVersion#chunkFreeLength} bytes. */
    void writeInline(int xid, int credits, boolean response, ByteBuf out);

    /** The length of a message's header in bytes. */
    default int lengthOf(RpcRdmaMessage message) {
        return message instanceof ConveyingMessage ? version().headerLength(message.chunks()) : lengthOf(message.header());
    }

    /**
     * Appends a message's header to {@code out}, which has room for {@link #lengthOf} bytes.
     *
     * @throws IllegalArgumentException if this version cannot say it
     */
    default void write(RpcRdmaMessage message, ByteBuf out) {
        if (message instanceof ConveyingMessage conveying) {
            writeConveying(conveying, out);
        } else {
            write(message.header(), message.role(), out);
        }
    }
}
