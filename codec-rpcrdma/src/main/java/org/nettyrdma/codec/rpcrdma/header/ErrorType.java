package org.nettyrdma.codec.rpcrdma.header;

import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;

/**
 * An error code beside those of the base protocol, for {@link HeaderExtensions}. By version-two-08, section 9.3 such a code has
 * no body, which is {@link XdrType#VOID}. An error that needs a body gets a {@link HeaderType} of its own. Use another body here
 * only with peers that have agreed on it.
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
