package org.nettyrdma.codec.rpcrdma.characteristics;

import java.io.IOException;

/**
 * A request or an offer that did not come to its end, or a message of the peer that breaks the rules of the extension: then the
 * two sides do not agree any more on what holds, and the connection is closed. The text names the field.
 */
public final class CharacteristicsException extends IOException {

    private static final long serialVersionUID = 1L;

    CharacteristicsException(String message) {
        super(message);
    }
}
