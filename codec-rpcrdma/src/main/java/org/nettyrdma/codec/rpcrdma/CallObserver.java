package org.nettyrdma.codec.rpcrdma;

/**
 * Is told how each answered call of a client travelled; see {@link RpcRdmaBuilder#callObserver}. Several event loops may call it
 * at once, each right before the reply is passed up. So it must be thread safe, and must not block. What it throws is logged, and
 * changes nothing for the call.
 */
@FunctionalInterface
public interface CallObserver {

    /**
     * A reply came.
     *
     * @param program   program that was called
     * @param version   its version
     * @param procedure its procedure
     * @param call      how the call travelled
     * @param reply     how the reply travelled
     */
    void replied(int program, int version, int procedure, CallRoute call, ReplyRoute reply);
}
