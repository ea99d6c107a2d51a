package org.nettyrdma.channel;

import java.io.IOException;
import org.nettyrdma.stream.StreamMessage;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;

/** Messages as the immediate data of RDMA Writes, of no bytes where there is nothing to write. Event loop only. */
final class ImmediateCarrier implements MessageCarrier {

    private final PostingTools tools;
    private final StreamSends sends;
    private final SendCarrier sendCarrier;

    ImmediateCarrier(PostingTools tools, QueuePair queuePair, StreamMemory memory, StreamSends sends) {
        this.tools = tools;
        this.sends = sends;
        sendCarrier = new SendCarrier(tools, queuePair, memory, sends);
    }

    @Override
    public int workRequestsPerWrite() {
        return 1;
    }

    @Override
    public void write(StreamMessage message, int key, long address, Object payload, int flushed) throws IOException {
        SendWorkRequest request = tools.workRequest().writeWithImmediate(sends.nextId(), key, address, message.encode());
        tools.pieces().addTo(request);
        sendCarrier.post(request, payload, flushed, !(message instanceof StreamMessage.Data));
    }

    @Override
    public void send(StreamMessage message) throws IOException {
        sendCarrier.post(tools.workRequest().writeWithImmediate(sends.nextId(), 0, 0, message.encode()), null, 0, true);
    }

    @Override
    public void sendWithData(StreamMessage message, Object payload, int flushed) throws IOException {
        sendCarrier.sendWithData(message, payload, flushed);
    }
}
