package org.nettyrdma.stream;

import java.io.IOException;

/** A peer has broken the rules of the stream. The message names the field, its value and the limit. */
public final class StreamProtocolException extends IOException {

    private static final long serialVersionUID = 1;

    /**
     * What a peer did.
     *
     * @param message names the field, its value and the limit
     */
    public StreamProtocolException(String message) {
        super("stream protocol: " + message);
    }
}
