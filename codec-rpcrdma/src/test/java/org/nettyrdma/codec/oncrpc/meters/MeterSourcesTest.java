package org.nettyrdma.codec.oncrpc.meters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class MeterSourcesTest {

    private final MeterRegistry registry = new SimpleMeterRegistry();

    private MeterSources<AtomicLong> with(AtomicLong source) {
        return MeterSources.with(source, registry, "calls", Tags.of("side", "server"));
    }

    @Test
    void shouldAddUpAllWhoBindTheSame() {
        AtomicLong first = new AtomicLong(5);
        AtomicLong second = new AtomicLong(7);
        MeterSources<AtomicLong> sources = with(first);
        assertSame(sources, with(second));
        assertEquals(12, sources.now(AtomicLong::get));
        assertEquals(12, sources.total(AtomicLong::get));
        second.set(9);
        assertEquals(14, sources.total(AtomicLong::get));
    }

    @Test
    void shouldCountOnceWhatIsBoundTwice() {
        AtomicLong source = new AtomicLong(5);
        with(source);
        assertEquals(5, with(source).total(AtomicLong::get));
    }

    @Test
    void shouldRegisterAGaugeOnceAndAgainWhenItWasRemoved() {
        AtomicInteger registrations = new AtomicInteger();
        AtomicLong first = new AtomicLong(5);
        AtomicLong second = new AtomicLong(7);
        registerGauge(first, registrations);
        registerGauge(second, registrations);
        assertEquals(1, registrations.get(), "of a second one the registry would warn");
        assertEquals(12, registry.get("calls").gauge().value());
        registry.clear();
        registerGauge(second, registrations);
        assertEquals(2, registrations.get());
        assertEquals(12, registry.get("calls").gauge().value());
    }

    @Test
    void shouldRegisterAGaugeOnceWhereTwoThreadsBind() throws Exception {
        AtomicInteger registrations = new AtomicInteger();
        MeterSources<AtomicLong> sources = with(new AtomicLong());
        Thread other = new Thread(() -> registerGauge(new AtomicLong(), registrations));
        sources.register(registry, () -> {
            other.start();
            while (other.getState() != Thread.State.BLOCKED && other.isAlive()) {
                Thread.onSpinWait();
            }
            registrations.incrementAndGet();
            return Gauge.builder("calls", sources, all -> all.now(AtomicLong::get)).register(registry);
        });
        other.join();
        assertEquals(1, registrations.get());
    }

    private void registerGauge(AtomicLong source, AtomicInteger registrations) {
        MeterSources<AtomicLong> sources = with(source);
        sources.register(registry, () -> {
            registrations.incrementAndGet();
            return Gauge.builder("calls", sources, all -> all.now(AtomicLong::get)).register(registry);
        });
    }

    @Test
    void shouldTellOtherTagsNamesAndRegistriesApart() {
        AtomicLong source = new AtomicLong(1);
        MeterSources<AtomicLong> sources = with(source);
        assertNotSame(sources, MeterSources.with(source, registry, "calls", Tags.of("side", "client")));
        assertNotSame(sources, MeterSources.with(source, registry, "errors", Tags.of("side", "server")));
        assertNotSame(sources, MeterSources.with(source, new SimpleMeterRegistry(), "calls", Tags.of("side", "server")));
    }

    @Test
    void shouldKeepTheCountOfWhatIsGone() {
        AtomicLong stays = new AtomicLong(5);
        AtomicLong goes = new AtomicLong(7);
        MeterSources<AtomicLong> sources = with(stays);
        with(goes);
        assertEquals(12, sources.total(0, AtomicLong::get));
        assertEquals(24, sources.total(1, counter -> 2 * counter.get()));
        WeakReference<AtomicLong> gone = new WeakReference<>(goes);
        goes = null;
        while (!gone.refersTo(null)) {
            System.gc();
        }
        assertEquals(5, sources.now(AtomicLong::get));
        assertEquals(24, sources.total(1, counter -> 2 * counter.get()));
        assertEquals(12, sources.total(0, AtomicLong::get));
        stays.incrementAndGet();
        assertEquals(13, sources.total(0, AtomicLong::get));
        assertEquals(6, sources.now(AtomicLong::get));
    }
}
