package org.nettyrdma.example.nfs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

class ConnectionMetersTest {

    @Test
    void shouldNotLetPeersChooseHowManyMetersThereAre() {
        ConnectionMeters meters = new ConnectionMeters(new SimpleMeterRegistry(), "server");
        Set<String> values = new HashSet<>();
        for (int bytes = 1024; bytes < 1024 + 1000; bytes++) {
            values.add(value(meters, "receive", bytes));
        }
        assertEquals(ConnectionMeters.MAX_THRESHOLDS, values.size()); // 4096, and one is for all others
        assertEquals("1024", value(meters, "receive", 1024), "what was there before keeps its number");
        assertEquals("other", value(meters, "send", 3000));
        assertEquals("4096", value(meters, "send", 4096));
    }

    /** Of a connection where the other direction has 4096 bytes. */
    private static String value(ConnectionMeters meters, String direction, int bytes) {
        boolean send = direction.equals("send");
        ConnectionTerms terms = new ConnectionTerms(RpcRdmaVersion.TWO, send ? bytes : 4096, send ? 4096 : bytes, false, false,
                true, PropertySet.EMPTY);
        return meters.tags(terms, "iwarp").stream().filter(tag -> tag.getKey().equals(direction)).map(Tag::getValue).findFirst()
                .orElseThrow();
    }
}
