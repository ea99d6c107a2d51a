package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Transport headers per second and core. In the codec's package, because what is measured is not public.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Dio.netty.leakDetection.level=disabled")
public class RpcRdmaHeaderBenchmark {

    private static final int XID = 0xCAF06022;
    private static final int CREDITS = 128;

    /** Segments of the one Write chunk in the header; without any there is no chunk. */
    @Param({"0", "4"})
    private int segments;

    /** The version of the header. */
    @Param({"1", "2"})
    private int version;

    private HeaderFormat format;
    private RpcRdmaHeader header;
    private ByteBuf wire;
    private ByteBuf out;

    /**
     * Makes the header and checks that it is the one that the parameter says.
     *
     * @throws RpcRdmaException if it cannot be read
     */
    @Setup(Level.Trial)
    public void setUp() throws RpcRdmaException {
        format = version == 1 ? new VersionOneFormat(RpcRdmaLimits.DEFAULT, SpokenVersions.BOTH)
                : new VersionTwoFormat(RpcRdmaLimits.DEFAULT, HeaderExtensions.NONE);
        header = new Msg(XID, version, CREDITS, 0, chunks());
        wire = PooledByteBufAllocator.DEFAULT.directBuffer(1024);
        out = PooledByteBufAllocator.DEFAULT.directBuffer(1024);
        format.write(header, Role.REQUEST, wire);
        int expectedBytes = (version == 1 ? 28 : 36) + (segments == 0 ? 0 : 8 + segments * 16);
        if (wire.readableBytes() != expectedBytes || !decode().equals(header)) {
            throw new IllegalStateException("not measuring a version " + version + " header with " + segments + " segments");
        }
    }

    private ChunkLists chunks() {
        if (segments == 0) {
            return ChunkLists.EMPTY;
        }
        List<RemoteSegment> list = new ArrayList<>();
        for (int i = 0; i < segments; i++) {
            list.add(new RemoteSegment(0x2200 + i, 4096, (long) XID << 32 | i * 4096));
        }
        return new ChunkLists(List.of(), List.of(new WriteChunk(list)), null);
    }

    /** Releases the buffers. */
    @TearDown(Level.Trial)
    public void tearDown() {
        wire.release();
        out.release();
    }

    /**
     * Reads the header from bytes.
     *
     * @return the header
     * @throws RpcRdmaException if it cannot be read
     */
    @Benchmark
    public RpcRdmaHeader decode() throws RpcRdmaException {
        return format.read(wire.readerIndex(0));
    }

    /**
     * Writes the header as bytes.
     *
     * @return the bytes
     */
    @Benchmark
    public ByteBuf encode() {
        format.write(header, Role.REQUEST, out.clear());
        return out;
    }
}
