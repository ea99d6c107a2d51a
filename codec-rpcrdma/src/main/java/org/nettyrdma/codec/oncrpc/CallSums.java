package org.nettyrdma.codec.oncrpc;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;

/**
 * What meters of calls show that have no sums themselves. A registry takes one meter of a name and tags, and does not keep alive
 * what it reads. So whoever has the same registry and tags adds to the same sums, which last as long as the registry.
 */
final class CallSums {

    private static final Map<MeterRegistry, Map<Key, CallSums>> ALL = Collections.synchronizedMap(new WeakHashMap<>());

    private record Key(Side side, Tags tags) {
    }

    final LongAdder calls = new LongAdder();
    final LongAdder queuedNanos = new LongAdder();
    final LongAdder callBytes = new LongAdder();
    final LongAdder replyBytes = new LongAdder();

    private CallSums() {
    }

    static CallSums of(MeterRegistry registry, Side side, Tags tags) {
        return ALL.computeIfAbsent(registry, any -> new ConcurrentHashMap<>())
                .computeIfAbsent(new Key(side, tags), any -> new CallSums());
    }
}
