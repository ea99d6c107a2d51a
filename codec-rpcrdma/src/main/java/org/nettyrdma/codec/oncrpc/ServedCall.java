package org.nettyrdma.codec.oncrpc;

import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/** A call on its way to a thread of the executor. */
final class ServedCall implements Runnable {

    private static final AtomicIntegerFieldUpdater<ServedCall> TAKEN =
            AtomicIntegerFieldUpdater.newUpdater(ServedCall.class, "taken");

    private final RpcServerHandler handler;
    private final ReadThrottle throttle;
    /** Those of the connection that no thread has taken yet; any thread. */
    private final Set<ServedCall> waiting;
    private final RpcProgram program;
    private final RpcCall call;
    private final int bytes;
    private volatile int taken;

    ServedCall(RpcServerHandler handler, ReadThrottle throttle, Set<ServedCall> waiting, RpcProgram program, RpcCall call) {
        this.handler = handler;
        this.throttle = throttle;
        this.waiting = waiting;
        this.program = program;
        this.call = call;
        this.bytes = ServedCallMemory.CALL_BYTES + call.arguments().readableBytes();
    }

    /** What it counts for in the {@link ReadThrottle}. */
    int bytes() {
        return bytes;
    }

    @Override
    public void run() {
        if (take()) {
            try {
                handler.serve(program, call);
            } finally {
                throttle.callDone(bytes);
            }
        }
    }

    /** The executor has failed, though perhaps not before it ran this, or queued it. */
    void refuse() {
        if (take()) {
            call.arguments().release();
            call.tryRefuse(AcceptStatus.SYSTEM_ERR);
            throttle.callDone(bytes);
        }
    }

    /** The connection has ended: the executor may get to this late, and by then other connections may have brought as much. */
    void drop() {
        if (take()) {
            call.arguments().release();
            throttle.callDone(bytes);
        }
    }

    private boolean take() {
        waiting.remove(this);
        return TAKEN.compareAndSet(this, 0, 1);
    }
}
