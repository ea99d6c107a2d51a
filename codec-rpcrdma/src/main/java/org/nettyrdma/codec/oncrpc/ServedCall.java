package org.nettyrdma.codec.oncrpc;

import io.netty.util.internal.PlatformDependent;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A call on its way to a thread of the executor, and a task of the executor, which runs the call whose turn it is, and behind it
 * what waits without a task ({@link CallTurns}).
 */
final class ServedCall implements Runnable {

    private static final AtomicIntegerFieldUpdater<ServedCall> DONE =
            AtomicIntegerFieldUpdater.newUpdater(ServedCall.class, "done");

    private final CallRunner runner;
    private final ReadThrottle throttle;
    private final CallTurns.Connection connection;
    private final RpcProgram program;
    private final RpcCall call;
    private final int bytes;
    // For CallTurns, from the beginning of the call to its end.
    private int addressRound;
    private int connectionRound;
    /** Whether the task has been run, or is not to be. */
    private volatile int done;

    ServedCall(CallRunner runner, ReadThrottle throttle, CallTurns.Connection connection, RpcProgram program, RpcCall call) {
        this.runner = runner;
        this.throttle = throttle;
        this.connection = connection;
        this.program = program;
        this.call = call;
        this.bytes = ServedCallMemory.CALL_BYTES + call.arguments().readableBytes();
    }

    boolean isAnswered() {
        return call.isAnswered();
    }

    /** What it counts for in the {@link ReadThrottle}. */
    int bytes() {
        return bytes;
    }

    @Override
    public void run() {
        if (!DONE.compareAndSet(this, 0, 1)) {
            return;
        }
        CallTurns turns = connection.turns();
        Throwable failure = null;
        for (ServedCall next = turns.next(connection.nanoTime()); next != null;
                next = turns.nextWithoutTask(connection.nanoTime())) {
            try {
                next.serve();
            } catch (Throwable t) { // no memory, for instance; what waits without a task must not wait for ever
                failure = t;
            }
        }
        if (failure != null) {
            PlatformDependent.throwException(failure);
        }
    }

    void begun(int newAddressRound, int newConnectionRound) {
        addressRound = newAddressRound;
        connectionRound = newConnectionRound;
    }

    private void serve() {
        try {
            runner.serve(program, call);
        } finally {
            connection.ended(addressRound, connectionRound);
            throttle.callDone(bytes);
        }
    }

    /** The executor has failed, though perhaps not before it ran this, or queued it. One of the calls that wait gets no task. */
    void refuse() {
        if (DONE.compareAndSet(this, 0, 1)) {
            ServedCall refused = connection.removeOneTooMany();
            if (refused != null) {
                refused.call.arguments().release();
                refused.call.tryRefuse(AcceptStatus.SYSTEM_ERR);
                refused.throttle.callDone(refused.bytes);
            }
        }
    }

    /**
     * The call does not run any more. The executor may get to its task late, or not at all, and by then other connections may
     * have brought as much.
     */
    void drop() {
        call.arguments().release();
        throttle.callDone(bytes);
    }
}
