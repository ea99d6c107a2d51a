package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.stream.StreamMessage;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;

/** What is posted where the transport has immediate data; no provider without a device has it. */
class ImmediateCarrierTest {

    private final List<String> posted = new ArrayList<>();
    private final PostingTools tools = PostingTools.of(Rdma.provider("iwarp"));
    private final StreamSends sends = new StreamSends(7);

    private final QueuePair queuePair = (QueuePair) Proxy.newProxyInstance(getClass().getClassLoader(),
            new Class<?>[] {QueuePair.class}, (proxy, method, arguments) -> switch (method.getName()) {
                case "postSend" -> {
                    SendWorkRequest request = (SendWorkRequest) arguments[0];
                    posted.add(String.format("%s %08x %x+%d %08x", request.opcode(), request.steeringTag(),
                            request.remoteOffset(), request.totalBytes(), request.immediateData()));
                    yield null;
                }
                case "expose" -> 5;
                case "remoteOffset" -> 0L;
                case "mayUseExposed" -> false;
                default -> throw new UnsupportedOperationException(method.getName());
            });

    @Test
    void shouldTellOfDataByImmediateData() throws Exception {
        StreamMemory memory = new StreamMemory(tools, queuePair);
        MessageCarrier carrier = new ImmediateCarrier(tools, queuePair, memory, sends);
        ByteBuf data = tools.registeredAllocator().directBuffer(100).writeZero(100);
        tools.pieces().find(data, 0, 100);
        carrier.write(new StreamMessage.Data(100), 0x1234, 0x5678, data, 100);
        carrier.send(new StreamMessage.Credits(24));
        carrier.send(StreamMessage.Control.SHUTDOWN);
        assertEquals(List.of("WRITE_WITH_IMMEDIATE 00001234 5678+100 00000064",
                "WRITE_WITH_IMMEDIATE 00000000 0+0 80000018", "WRITE_WITH_IMMEDIATE 00000000 0+0 e0000002"), posted);
        assertEquals(3, sends.outstanding());
        assertEquals(100, sends.complete(0));
        assertEquals(0, data.refCnt());
        assertEquals(0, sends.complete(1));
        assertEquals(0, sends.complete(2));
        memory.release(true);
    }
}
