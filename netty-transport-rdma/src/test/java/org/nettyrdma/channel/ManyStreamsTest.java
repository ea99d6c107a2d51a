package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.util.ResourceLeakDetector;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a connection costs that is hardly used. */
@Timeout(120)
class ManyStreamsTest extends StreamFixture {

    private static final int CONNECTIONS = Integer.getInteger("streams", 1000);
    /** What one end of an idle connection may cost besides its ring. */
    private static final long MOST_BYTES_PER_END = 16 << 10;

    private ResourceLeakDetector.Level leakDetection;

    /** Recorded traces of every buffer would cost more than the connections. */
    @BeforeEach
    void stopTracing() {
        leakDetection = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }

    @AfterEach
    void traceAgain() {
        ResourceLeakDetector.setLevel(leakDetection);
    }

    /** Heap and direct memory in use, without that which the allocator has registered: it does so for many blocks at once. */
    private static long usedBytes() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
        direct -= RegisteredByteBufAllocator.of(Rdma.provider("iwarp")).registeredBytes();
        return direct + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private List<End> connect(int count, InetSocketAddress address) throws InterruptedException {
        Bootstrap client = bootstrap();
        List<End> ends = new ArrayList<>();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            End end = new End();
            ends.add(end);
            connects.add(client.clone().handler(end).connect(address));
        }
        for (ChannelFuture connect : connects) {
            await(connect);
        }
        for (int i = 0; i < count; i++) {
            End server = awaitAccepted();
            server.write(bytes(200, 1));
        }
        for (End end : ends) {
            assertArrayEquals(bytes(200, 1), end.awaitBytes(200));
        }
        return ends;
    }

    @Test
    void shouldKeepIdleConnectionsSmall() throws Exception {
        InetSocketAddress address = listen(serverBootstrap()).localAddress();
        connect(10, address); // loads classes and fills the pools of the loops
        long before = usedBytes();
        List<End> ends = connect(CONNECTIONS, address);
        long bytesPerEnd = (usedBytes() - before) / (2 * CONNECTIONS) + StreamMemory.BYTES;
        System.getLogger(ManyStreamsTest.class.getName()).log(System.Logger.Level.INFO,
                "{0} bytes for one end of an idle stream besides its ring", bytesPerEnd);
        assertTrue(ends.stream().allMatch(end -> end.channel.isActive()));
        assertTrue(bytesPerEnd <= MOST_BYTES_PER_END, () -> bytesPerEnd + " bytes for one end of a connection");
    }
}
