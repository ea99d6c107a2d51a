package org.nettyrdma.codec.rpcrdma;

/**
 * Is told how each answered call of a client travelled; see {@link RpcRdma.Builder#callObserver}. Called on event loops, by
 * several of them at once, right before the reply is passed up, so it must neither block nor throw.
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
