package org.nettyrdma.benchmarks;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.ucp.UcpRequest;

/** Sends requests over UCX, from the thread that runs the load, which does not sleep before the load has ended. */
final class UcxClient implements ClientEnd {

    private static final long REPLY_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final UcxLink link = new UcxLink();
    private final ByteBuffer request;
    private final ByteBuffer[] replies = new ByteBuffer[UcxMessages.MAX_SLOTS];
    private final int maxPayloadBytes;

    UcxClient(Setup setup, int port) throws IOException {
        maxPayloadBytes = setup.maxPayloadBytes();
        request = UcxMessages.newMessage(UcxMessages.REQUEST_HEADER_BYTES, maxPayloadBytes);
        try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
            link.connect(server);
        }
    }

    @Override
    public void verify(Load load) {
        new Run(load.verification(), true, 0).start();
    }

    @Override
    public LoadResult run(Load load, long durationNanos) {
        long startNanos = System.nanoTime();
        Run run = new Run(load, false, durationNanos);
        run.start();
        return new LoadResult(run.latencies, System.nanoTime() - startNanos);
    }

    @Override
    public Counters counters() {
        return Counters.NONE;
    }

    @Override
    public String description() {
        return "UCX, tagged messages, UCX_TLS=" + System.getenv("UCX_TLS") + ", spinning";
    }

    @Override
    public void close() {
        link.close();
        UcxMessages.free(replies);
        UcxMessages.free(request);
    }

    /** A load under way. */
    private final class Run {

        private final Load load;
        private final boolean everyByte;
        private final long deadlineNanos;
        private final Histogram latencies = Histograms.newHistogram();
        private int outstanding;

        private Run(Load load, boolean everyByte, long durationNanos) {
            this.load = load;
            this.everyByte = everyByte;
            deadlineNanos = System.nanoTime() + durationNanos;
        }

        private void start() {
            outstanding = load.outstanding();
            for (int slot = 0; slot < load.outstanding(); slot++) {
                if (replies[slot] == null) {
                    replies[slot] = ByteBuffer.allocateDirect(UcxMessages.REPLY_HEADER_BYTES + maxPayloadBytes);
                }
                new Slot(this, slot).startCall();
            }
            while (outstanding > 0) {
                link.progress();
                if (System.nanoTime() > deadlineNanos + REPLY_TIMEOUT_NANOS) {
                    throw new IllegalStateException(outstanding + " of " + load + " got no reply");
                }
            }
        }

        private void check(ByteBuffer reply) {
            load.require(load.returnsPayload()
                    ? Payload.isRight(Unpooled.wrappedBuffer(reply), UcxMessages.REPLY_HEADER_BYTES, load.payloadBytes(),
                            everyByte)
                    : reply.getInt(UcxMessages.REPLY_HEADER_BYTES - Integer.BYTES) == load.result());
        }
    }

    /** One call after the other. */
    private final class Slot extends UcxCallback {

        private final Run run;
        private final int slot;
        private final long replyAddress;
        private long startedNanos;

        private Slot(Run run, int slot) {
            this.run = run;
            this.slot = slot;
            replyAddress = UcxMessages.address(replies[slot]);
        }

        private void startCall() {
            startedNanos = System.nanoTime();
            Operation operation = run.load.operation();
            int bytes = run.load.payloadBytes();
            link.worker().recvTaggedNonBlocking(replyAddress, replies[slot].capacity(), slot, UcxMessages.WHOLE_TAG, this);
            link.endpoint().sendTaggedNonBlocking(UcxMessages.address(request), UcxMessages.requestBytes(operation, bytes),
                    UcxMessages.requestTag(operation, slot, bytes), null);
        }

        @Override
        public void onSuccess(UcpRequest reply) {
            long nowNanos = System.nanoTime();
            if (reply.getRecvSize() != UcxMessages.replyBytes(run.load.operation(), run.load.payloadBytes())) {
                throw new IllegalStateException("a reply to " + run.load + " has " + reply.getRecvSize() + " bytes");
            }
            run.check(replies[slot]);
            Histograms.record(run.latencies, nowNanos - startedNanos);
            if (nowNanos < run.deadlineNanos) {
                startCall();
            } else {
                run.outstanding--;
            }
        }

        @Override
        public void onError(int status, String text) {
            throw new IllegalStateException(text);
        }
    }
}
