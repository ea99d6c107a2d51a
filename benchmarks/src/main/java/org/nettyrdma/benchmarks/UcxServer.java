package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpRequest;

/** Answers requests over UCX, on a thread of its own that never sleeps. */
final class UcxServer implements ServerEnd {

    /** The low bits of a request's tag may be anything. */
    private static final long ANY_TAG = 0;

    private final ServerSocket listener;
    private final int maxPayloadBytes;
    private final Thread thread = new Thread(this::serve, "ucx-server");
    private volatile boolean stopping;

    /** Sent by {@link Operation#READ}s again and again. */
    private final ByteBuffer source;
    private final ByteBuffer[] shortReplies = new ByteBuffer[UcxMessages.MAX_SLOTS];
    private final ByteBuffer[] requests = new ByteBuffer[UcxMessages.MAX_SLOTS];

    UcxServer(Setup setup) throws IOException {
        maxPayloadBytes = setup.maxPayloadBytes();
        source = UcxMessages.newMessage(UcxMessages.REPLY_HEADER_BYTES, maxPayloadBytes);
        for (int slot = 0; slot < shortReplies.length; slot++) {
            shortReplies[slot] = ByteBuffer.allocateDirect(UcxMessages.REPLY_HEADER_BYTES + 1024);
        }
        new UcxLink().close(); // fails here rather than in the thread where there is no UCX
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        thread.setDaemon(true);
        thread.start();
    }

    private void serve() {
        try (UcxLink link = new UcxLink()) {
            try (Socket client = listener.accept()) {
                link.connect(client);
            }
            for (int i = 0; i < requests.length; i++) {
                requests[i] = ByteBuffer.allocateDirect(UcxMessages.REQUEST_HEADER_BYTES + maxPayloadBytes);
                new Receive(link, requests[i]).post();
            }
            while (!stopping) {
                link.progress();
            }
        } catch (UcxException e) {
            return; // how UCX says that the client has gone; a client that still wants something notices by its own time limit
        } catch (IOException e) {
            if (!stopping) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public int port() {
        return listener.getLocalPort();
    }

    @Override
    public Counters counters() {
        return Counters.NONE;
    }

    @Override
    public void close() {
        stopping = true;
        try {
            listener.close();
            thread.join();
            UcxMessages.free(requests); // a window has a server of its own, and no garbage collection may come in time
            UcxMessages.free(shortReplies);
            UcxMessages.free(source);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Memory for one request, posted again when it is answered. */
    private final class Receive extends UcxCallback {

        private final UcxLink link;
        private final ByteBuffer message;
        private final long address;

        private Receive(UcxLink link, ByteBuffer message) {
            this.link = link;
            this.message = message;
            address = UcxMessages.address(message);
        }

        private void post() {
            link.worker().recvTaggedNonBlocking(address, message.capacity(), 0, ANY_TAG, this);
        }

        @Override
        public void onSuccess(UcpRequest request) {
            long tag = request.getSenderTag();
            Operation operation = UcxMessages.operation(tag);
            int bytes = UcxMessages.payloadBytes(tag);
            int slot = UcxMessages.slot(tag);
            ByteBuffer reply = operation == Operation.READ ? source : shortReplies[slot];
            switch (operation) {
                case ECHO -> reply.put(UcxMessages.REPLY_HEADER_BYTES, message, UcxMessages.REQUEST_HEADER_BYTES, bytes);
                case READ -> { }
                case WRITE -> reply.putInt(UcxMessages.REPLY_HEADER_BYTES - Integer.BYTES, bytes);
                case CHECKSUM -> reply.putInt(UcxMessages.REPLY_HEADER_BYTES - Integer.BYTES,
                        Payload.checksum(message.slice(UcxMessages.REQUEST_HEADER_BYTES, bytes)));
            }
            link.endpoint().sendTaggedNonBlocking(UcxMessages.address(reply), UcxMessages.replyBytes(operation, bytes), slot,
                    null);
            post();
        }

        @Override
        public void onError(int status, String text) {
            if (!stopping) {
                throw new IllegalStateException(text);
            }
        }
    }
}
