package org.nettyrdma.codec.rpcrdma;

import java.util.Objects;

/**
 * An error code beside those of the base protocol, for {@link RpcRdmaExtensions}. By version-two-08, section 9.3 such a code
 * has no body, which is {@link XdrType#VOID}, and an error that needs one gets a {@link HeaderType} of its own; another body is
 * for peers that have agreed on it.
 *
 * @param <T>  what the body is parsed to
 * @param code {@code rdma_err}; any number but 1 to 9
 * @param name what logs call it
 * @param body what follows the code
 */
public record ErrorType<T>(int code, String name, XdrType<T> body) {

    /**
     * Checks the fields.
     *
     * @param code {@code rdma_err}
     * @param name what logs call it
     * @param body what follows the code
     * @throws IllegalArgumentException if the base protocol has the code
     */
    public ErrorType {
        if (code >= VersionTwoLayout.ERR_VERS && code <= VersionTwoLayout.ERR_SYSTEM) {
            throw new IllegalArgumentException("code: " + code + " (expected: none of the base protocol, 1..9)");
        }
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(body, "body");
    }
}
