package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.support.Closing;

/** Listens over TCP and over shared memory. Over TCP it also tells those who ask where to find it in the shared directory. */
final class SameHostListener implements ConnectionListener {

    private final SameHostContext context;
    private final ProcessDirectory directory;
    private final HostProof proof;
    private ConnectionListener tcp;
    private ConnectionListener memory;

    /**
     * @param context whose contexts listen
     * @param address of this host
     */
    SameHostListener(SameHostContext context, SocketAddress address, int backlog, ListenAttributes attributes, Handler handler)
            throws IOException {
        this.context = context;
        directory = context.directory();
        proof = HostProof.create(directory);
        try {
            tcp = context.iwarp().listen(address, backlog, attributes, new Answering(handler));
            memory = context.shm().listen(BoundSocket.bindBeside(directory, (InetSocketAddress) tcp.localAddress(),
                    proof.number(), backlog), attributes, handler);
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    @Override
    public SocketAddress localAddress() {
        return tcp.localAddress();
    }

    @Override
    public void setAccepting(boolean accepting) {
        tcp.setAccepting(accepting);
        memory.setAccepting(accepting);
    }

    @Override
    public void close() {
        context.closed(this);
        Closing closing = new Closing();
        if (tcp != null) {
            closing.step(tcp, ConnectionListener::close);
        }
        if (memory != null) {
            closing.step(memory, ConnectionListener::close);
        }
        closing.step(directory, proof::remove);
        closing.end();
    }

    /** Answers the question, and leaves everything else to the user. */
    private final class Answering implements Handler {

        private final Handler handler;

        Answering(Handler handler) {
            this.handler = handler;
        }

        @Override
        public void connectionRequested(ConnectionRequest request) {
            if (HostProof.isQuestion(request.privateData())) {
                request.reject(proof.answer());
            } else {
                handler.connectionRequested(request);
            }
        }

        @Override
        public void acceptFailed(Throwable cause) {
            handler.acceptFailed(cause);
        }
    }
}
