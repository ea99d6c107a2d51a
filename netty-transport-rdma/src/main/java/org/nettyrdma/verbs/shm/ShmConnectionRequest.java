package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.nettyrdma.verbs.support.SocketConnectionRequest;

/** A domain socket on which a request has arrived that is not answered. */
final class ShmConnectionRequest extends SocketConnectionRequest {

    private final SetupFrame frame;

    /**
     * @param directory    that holds the files of the peer
     * @param localAddress where the listener is
     * @throws ShmProtocolException if the frame has no proper address of the peer
     */
    ShmConnectionRequest(ProcessDirectory directory, SocketChannel channel, SetupFrame frame, SocketAddress localAddress)
            throws IOException {
        super(channel, ShmAddresses.asked(localAddress, frame.text()), ShmAddresses.ofPeer(localAddress,
                directory.file(frame.instance(), OwnControl.KIND, frame.control()), frame.address(), frame.port()));
        this.frame = frame;
    }

    @Override
    public ByteBuffer privateData() {
        return frame.privateDataBuffer();
    }

    @Override
    protected ByteBuffer rejection(ByteBuffer privateData) {
        return SetupFrame.rejection("", SetupFrame.checkPrivateData(privateData)).encode();
    }

    SetupFrame frame() {
        return frame;
    }
}
