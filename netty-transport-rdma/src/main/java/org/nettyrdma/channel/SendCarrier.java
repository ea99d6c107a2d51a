package org.nettyrdma.channel;

import java.io.IOException;
import org.nettyrdma.stream.StreamMessage;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;

/**
 * Messages as Sends of 4 bytes in this host's order, which is said to be little-endian; what is to be written goes before in an
 * RDMA Write. Event loop only.
 */
final class SendCarrier implements MessageCarrier {

    private final PostingTools tools;
    private final QueuePair queuePair;
    private final StreamMemory memory;
    private final StreamSends sends;

    SendCarrier(PostingTools tools, QueuePair queuePair, StreamMemory memory, StreamSends sends) {
        this.tools = tools;
        this.queuePair = queuePair;
        this.memory = memory;
        this.sends = sends;
    }

    @Override
    public int workRequestsPerWrite() {
        return 2;
    }

    @Override
    public void write(StreamMessage message, int key, long address, Object payload, int flushed) throws IOException {
        boolean isControl = !(message instanceof StreamMessage.Data);
        SendWorkRequest request = tools.workRequest().write(sends.nextId(), key, address);
        tools.pieces().addTo(request);
        post(request, payload, 0, isControl);
        post(request(message), null, flushed, isControl);
    }

    @Override
    public void send(StreamMessage message) throws IOException {
        post(request(message), null, 0, true);
    }

    @Override
    public void sendWithData(StreamMessage message, Object payload, int flushed) throws IOException {
        SendWorkRequest request = request(message);
        tools.pieces().addTo(request);
        post(request, payload, flushed, false);
    }

    private SendWorkRequest request(StreamMessage message) {
        int at = StreamMemory.sendAt(sends.nextSlot());
        memory.bytes().putInt(at, message.encode());
        return tools.workRequest().send(sends.nextId()).addElement(memory.region(), memory.inRegion(at), StreamMessage.BYTES);
    }

    /** The references on the payload pass to the work request, also where this throws. */
    void post(SendWorkRequest request, Object payload, int flushed, boolean isControl) throws IOException {
        try {
            queuePair.postSend(request);
        } catch (Throwable t) {
            StreamSends.release(payload); // no completion will come
            throw t;
        }
        sends.posted(payload, flushed, isControl);
    }
}
