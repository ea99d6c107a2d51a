package org.nettyrdma.channel;

import java.io.IOException;
import org.nettyrdma.stream.StreamMessage;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;

/**
 * Messages as the immediate data of RDMA Writes, of no bytes where there is nothing to write. Event loop only.
 */
final class ImmediateCarrier implements MessageCarrier {

    private final PostingTools tools;
    private final QueuePair queuePair;
    private final StreamSends sends;
    private final SendCarrier dataInMessages;

    ImmediateCarrier(PostingTools tools, QueuePair queuePair, StreamMemory memory, StreamSends sends) {
        this.tools = tools;
        this.queuePair = queuePair;
        this.sends = sends;
        dataInMessages = new SendCarrier(tools, queuePair, memory, sends);
    }

    @Override
    public int workRequestsPerWrite() {
        return 1;
    }

    @Override
    public void write(StreamMessage message, int key, long address, Object payload, int flushed) throws IOException {
        SendWorkRequest request = tools.workRequest().writeWithImmediate(sends.nextId(), key, address, message.encode());
        tools.pieces().addTo(request);
        try {
            queuePair.postSend(request);
        } catch (Throwable t) {
            StreamSends.release(payload); // no completion will come
            throw t;
        }
        sends.posted(payload, flushed, !(message instanceof StreamMessage.Data));
    }

    @Override
    public void send(StreamMessage message) throws IOException {
        queuePair.postSend(tools.workRequest().writeWithImmediate(sends.nextId(), 0, 0, message.encode()));
        sends.posted(null, 0, true);
    }

    @Override
    public void sendWithData(StreamMessage message, Object payload, int flushed) throws IOException {
        dataInMessages.sendWithData(message, payload, flushed);
    }
}
