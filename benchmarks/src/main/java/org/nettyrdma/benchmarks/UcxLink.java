package org.nettyrdma.benchmarks;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * One end of a connection of UCX: a worker and its endpoint. The ends tell each other their addresses over a socket, so that all
 * transports of UCX are set up alike. Used by one thread, which has to call {@link #progress} all the time.
 */
final class UcxLink implements AutoCloseable {

    private final UcpContext context;
    private final UcpWorker worker;
    private UcpEndpoint endpoint;

    /** Loads the native library. */
    UcxLink() {
        try {
            context = new UcpContext(new UcpParams().requestTagFeature());
        } catch (UcxException e) {
            throw new UnsatisfiedLinkError(e.getMessage());
        }
        worker = context.newWorker(new UcpWorkerParams());
    }

    void connect(Socket socket) throws IOException {
        ByteBuffer own = worker.getAddress();
        byte[] address = new byte[own.remaining()];
        own.get(address);
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        out.writeInt(address.length);
        out.write(address);
        out.flush();
        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] remote = in.readNBytes(in.readInt());
        ByteBuffer direct = ByteBuffer.allocateDirect(remote.length).put(remote).flip();
        endpoint = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(direct));
    }

    UcpWorker worker() {
        return worker;
    }

    UcpEndpoint endpoint() {
        return endpoint;
    }

    void progress() {
        try {
            worker.progress();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e); // what a callback has thrown
        }
    }

    @Override
    public void close() {
        if (endpoint != null) {
            endpoint.close();
        }
        worker.close();
        context.close();
    }
}
