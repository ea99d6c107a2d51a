package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.VerbsContext;

/**
 * Listens over TCP and over shared memory. Over TCP it also tells those who ask where to find it in the shared directory.
 */
final class SameHostListener implements ConnectionListener {

    private final ProcessDirectory directory;
    private final HostProof proof;
    private ConnectionListener tcp;
    private ConnectionListener memory;

    /**
     * @param iwarp   where to listen over TCP
     * @param shm     a context of the same loop
     * @param address of this host
     */
    SameHostListener(VerbsContext iwarp, ShmContext shm, SocketAddress address, int backlog, ListenAttributes attributes,
                     Handler handler) throws IOException {
        directory = shm.parts().directory();
        proof = HostProof.create(directory);
        try {
            tcp = iwarp.listen(address, backlog, attributes, new Answering(handler));
            memory = new ShmListener(shm.parts(), BoundSocket.bindBeside(directory, (InetSocketAddress) tcp.localAddress(),
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
        if (tcp != null) {
            tcp.close();
        }
        if (memory != null) {
            memory.close();
        }
        proof.remove(directory);
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
