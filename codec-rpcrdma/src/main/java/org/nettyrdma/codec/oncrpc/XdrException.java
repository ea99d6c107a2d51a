package org.nettyrdma.codec.oncrpc;

import io.netty.handler.codec.DecoderException;

/**
 * Bytes that break XDR (RFC 4506): too few of them, or a value outside its range. The message names the field, the value and the
 * limit. A program that throws it out of {@link RpcProgram#call} answers GARBAGE_ARGS.
 */
public class XdrException extends DecoderException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message names the field, its value and the limit
     */
    public XdrException(String message) {
        super(message);
    }
}
