package org.nettyrdma.example.nfs.cli;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * All meters of a registry that do not stand at 0, one a line: name, tags as {@code key=value}, number. A timer has a line for
 * the count, the total and, where it keeps one, the maximum, in seconds. Histograms are left out: they are for systems that
 * draw, and would be most of the lines. For people and for scripts.
 */
final class MeterReport {

    private MeterReport() {
    }

    static void print(MeterRegistry registry, PrintWriter out) {
        List<String> lines = new ArrayList<>();
        for (Meter meter : registry.getMeters()) {
            for (Measurement measurement : meter.measure()) {
                if (measurement.getValue() != 0 && meter.getId().getTag("le") == null) {
                    String kind = isTimer(meter) ? ' ' + measurement.getStatistic().getTagValueRepresentation() : "";
                    lines.add(name(meter.getId()) + kind + ' ' + number(measurement.getValue()));
                }
            }
        }
        lines.stream().sorted().forEach(out::println);
        out.flush();
    }

    private static boolean isTimer(Meter meter) {
        return meter instanceof Timer || meter instanceof FunctionTimer;
    }

    private static String name(Meter.Id id) {
        return id.getName() + id.getTags().stream().map(MeterReport::text).collect(Collectors.joining());
    }

    private static String text(Tag tag) {
        return ' ' + tag.getKey() + '=' + tag.getValue();
    }

    private static String number(double value) {
        return value == Math.rint(value) ? String.valueOf((long) value) : String.format(Locale.ROOT, "%.6f", value);
    }
}
