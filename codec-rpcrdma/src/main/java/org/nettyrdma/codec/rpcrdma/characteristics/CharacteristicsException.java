package org.nettyrdma.codec.rpcrdma.characteristics;

import java.io.IOException;

/**
 * A request or an offer was not completed, or a message of the peer breaks the rules of the extension. In the second case the two
 * sides no longer agree on their properties, and the connection is closed. The message names the field.
 */
public final class CharacteristicsException extends IOException {

    private static final long serialVersionUID = 1L;

    CharacteristicsException(String message) {
        super(message);
    }
}
