package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Outcome;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;
import org.nettyrdma.codec.oncrpc.RpcCallMetrics;

class MeterReportTest {

    @Test
    void shouldShowCallsWithoutTheirHistogram() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new RpcCallMetrics(registry, Tags.empty()).ended(Side.SERVER, 1, 2, 3, Outcome.SUCCESS, 1_500_000, 0, 40, 0);
        StringWriter text = new StringWriter();
        MeterReport.print(registry, new PrintWriter(text));
        String tags = " outcome=success procedure=3 program=1 version=2 ";
        assertEquals(List.of("rpc.server.call.duration" + tags + "count 1", "rpc.server.call.duration" + tags + "total 0.001500",
                "rpc.server.call.request" + tags + "40"), text.toString().lines().toList());
    }
}
