package org.nettyrdma.codec.rpcrdma.header;

import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * An OPTIONAL header type of version 2, for {@link HeaderExtensions} (version-two-08, section 9.1). Received messages of the
 * type go up the pipeline as {@link RpcRdmaMessage}s with an {@link RpcRdmaHeader.Extension}, and
 * {@link RpcRdmaMessage#extension} makes those to send.
 *
 * @param <T>            what the header is parsed to
 * @param code           the type word, {@code rdma_htype}; any number but the 0, 1, 4 and 5 of the base protocol
 * @param name           what logs call it
 * @param body           what stands behind the prefix
 * @param conveysMessage whether something more may follow, which is then the content of the {@link RpcRdmaMessage};
 *                       otherwise what follows is an error
 * @param accounting     how messages of the type keep within the receives of the peer
 */
public record HeaderType<T>(int code, String name, XdrType<T> body, boolean conveysMessage, Accounting accounting) {

    /** What keeps messages of a type from finding no receive. */
    public enum Accounting {
        /**
         * They take credits and give them back as calls and replies do. RPCRDMA2_F_RESPONSE marks those that give a credit back.
         */
        CREDITS,
        /**
         * They take no credit, and the {@link org.nettyrdma.handler.credit.CreditGate} sends no more than the peer keeps receives
         * for. A message with RPCRDMA2_F_RESPONSE answers the message with the same XID.
         */
        BOUNDED,
        /**
         * They take no credit. The handler that writes them keeps within the few receives that every peer of version 2 has for
         * messages without a call.
         */
        NONE
    }

    /**
     * Checks the fields.
     *
     * @param code           the type word
     * @param name           what logs call it
     * @param body           what stands behind the prefix
     * @param conveysMessage whether something more may follow
     * @param accounting     how messages keep within the receives of the peer
     * @throws IllegalArgumentException if the base protocol has the code
     */
    public HeaderType {
        switch (code) {
            case VersionTwoLayout.RDMA2_MSG, VersionTwoLayout.RDMA2_NOMSG, VersionTwoLayout.RDMA2_ERROR,
                    VersionTwoLayout.RDMA2_CONNPROP ->
                throw new IllegalArgumentException("code: " + code + " (expected: none of the base protocol)");
            default -> { }
        }
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(body, "body");
        Objects.requireNonNull(accounting, "accounting");
    }

    /**
     * A type whose messages are counted like calls, or bounded.
     *
     * @param code           the type word
     * @param name           what logs call it
     * @param body           what stands behind the prefix
     * @param conveysMessage whether something more may follow
     * @param isCredited     whether messages take part in credits; otherwise they are {@linkplain Accounting#BOUNDED bounded}
     * @throws IllegalArgumentException if the base protocol has the code
     */
    public HeaderType(int code, String name, XdrType<T> body, boolean conveysMessage, boolean isCredited) {
        this(code, name, body, conveysMessage, isCredited ? Accounting.CREDITS : Accounting.BOUNDED);
    }

    /**
     * The role of a message of this type with or without RPCRDMA2_F_RESPONSE.
     *
     * @param response whether the flags of the message say that it is a response
     * @return what the message is to the credits
     */
    public Role role(boolean response) {
        return switch (accounting) {
            case CREDITS -> response ? Role.RESPONSE : Role.REQUEST;
            case BOUNDED -> Role.CONTROL;
            case NONE -> Role.NEITHER;
        };
    }
}
