package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.dcache.oncrpc4j.rpc.OncRpcProgram;
import org.dcache.oncrpc4j.rpc.OncRpcSvc;
import org.dcache.oncrpc4j.rpc.OncRpcSvcBuilder;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.net.IpProtocolType;
import org.nettyrdma.benchmarks.Oncrpc4jItems.Int;
import org.nettyrdma.benchmarks.Oncrpc4jItems.Opaque;

/** The calls of {@link BenchmarkProgram}, served by oncrpc4j on its selector thread. */
final class Oncrpc4jServer implements ServerEnd {

    private final OncRpcSvc service;
    private final ByteBuffer source;

    Oncrpc4jServer(Setup setup) throws IOException {
        source = ByteBuffer.allocateDirect(setup.maxPayloadBytes());
        Payload.fill(source);
        service = new OncRpcSvcBuilder().withTCP().withPort(0).withBindAddress(InetAddress.getLoopbackAddress().getHostAddress())
                .withoutAutoPublish().withSameThreadIoStrategy().withSelectorThreadPoolSize(setup.eventLoops())
                .withRpcService(new OncRpcProgram(BenchmarkProgram.PROGRAM, BenchmarkProgram.VERSION), this::dispatch)
                .build();
        service.start();
    }

    private void dispatch(RpcCall call) throws IOException {
        int procedure = call.getProcedure();
        if (procedure == Operation.READ.procedure()) {
            Int count = new Int(0);
            call.retrieveCall(count);
            call.reply(new Opaque(source.slice(0, count.value())));
            return;
        }
        Opaque argument = new Opaque(null);
        call.retrieveCall(argument);
        if (procedure == Operation.ECHO.procedure()) {
            call.reply(argument);
        } else if (procedure == Operation.WRITE.procedure()) {
            call.reply(new Int(argument.bytes().remaining()));
        } else if (procedure == Operation.CHECKSUM.procedure()) {
            call.reply(new Int(Payload.checksum(argument.bytes())));
        } else {
            call.failProcedureUnavailable();
        }
    }

    @Override
    public int port() {
        return service.getInetSocketAddress(IpProtocolType.TCP).getPort();
    }

    @Override
    public Counters counters() {
        return Counters.NONE;
    }

    @Override
    public void close() {
        try {
            service.stop();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
