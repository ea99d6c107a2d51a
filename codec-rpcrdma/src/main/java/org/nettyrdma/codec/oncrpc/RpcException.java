package org.nettyrdma.codec.oncrpc;

import java.io.IOException;

/** Why a call has no results. The message names the program, the version and the procedure that were called. */
public abstract class RpcException extends IOException {

    private static final long serialVersionUID = 1L;

    /** The program that was called. */
    private final int program;
    /** The version of the program. */
    private final int version;
    /** The procedure that was called. */
    private final int procedure;

    RpcException(RpcRequest request, String reason, Throwable cause) {
        super("Call of program " + Integer.toUnsignedString(request.program())
                + " version " + Integer.toUnsignedString(request.version())
                + " procedure " + Integer.toUnsignedString(request.procedure()) + ": " + reason, cause);
        program = request.program();
        version = request.version();
        procedure = request.procedure();
    }

    /**
     * The program that was called.
     *
     * @return its number
     */
    public int program() {
        return program;
    }

    /**
     * The version of the program that was called.
     *
     * @return an unsigned 32-bit number
     */
    public int version() {
        return version;
    }

    /**
     * The procedure that was called.
     *
     * @return an unsigned 32-bit number
     */
    public int procedure() {
        return procedure;
    }
}
