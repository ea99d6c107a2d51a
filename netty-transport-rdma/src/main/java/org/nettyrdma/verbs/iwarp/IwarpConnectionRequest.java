package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.nettyrdma.verbs.support.SocketConnectionRequest;

/** A TCP connection whose MPA request has arrived and is not answered. */
final class IwarpConnectionRequest extends SocketConnectionRequest {

    private final MpaFrame request;

    IwarpConnectionRequest(SocketChannel channel, MpaFrame request) throws IOException {
        super(channel, channel.getLocalAddress(), channel.getRemoteAddress());
        this.request = request;
    }

    @Override
    public ByteBuffer privateData() {
        return request.userData();
    }

    @Override
    protected ByteBuffer rejection(ByteBuffer privateData) {
        return MpaNegotiation.rejection(request, MpaNegotiation.checkPrivateData(privateData)).encode();
    }

    MpaFrame frame() {
        return request;
    }
}
