package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** What is drawn of the results. */
final class Plots {

    private static final double[] PERCENTILES = {50, 75, 90, 99, 99.9, 99.99};

    private Plots() {
    }

    /** Writes a file for each placement in which latency was measured; returns their names. */
    static List<String> latency(Path folder, List<CaseResult> results) throws IOException {
        List<String> names = new ArrayList<>();
        for (CaseResult result : results) {
            if (result.scenario().measuresLatency()) {
                String name = "latency-percentiles-" + result.placement().title().replace(' ', '-') + ".svg";
                Files.writeString(folder.resolve(name), latency(result).text());
                names.add(name);
            }
        }
        return names;
    }

    private static SvgPlot latency(CaseResult result) {
        SvgPlot plot = new SvgPlot(result.scenario().title() + ", " + result.placement().title(), "percentile of the calls", "µs",
                true);
        result.windows().forEach((peer, windows) -> {
            Histogram all = Histograms.newHistogram();
            windows.forEach(window -> all.add(window.latencyNanos()));
            List<SvgPlot.Point> points = new ArrayList<>();
            for (double percentile : PERCENTILES) {
                String label = percentile == (long) percentile ? String.valueOf((long) percentile) : String.valueOf(percentile);
                points.add(new SvgPlot.Point(100 / (100 - percentile), all.getValueAtPercentile(percentile) / 1e3, label));
            }
            plot.add(peer.title(), points);
        });
        return plot;
    }

    /** Writes the first figure of some curves; returns the file's name. */
    static String growth(Path folder, Growth.Curves curves) throws IOException {
        Map<String, List<SvgPlot.Point>> series = new LinkedHashMap<>();
        String figure = curves.points().get(0).values().keySet().iterator().next();
        for (Growth.Point point : curves.points()) {
            series.computeIfAbsent(point.series(), key -> new ArrayList<>())
                    .add(new SvgPlot.Point(point.x(), point.values().get(figure), quantity(point.x())));
        }
        SvgPlot plot = new SvgPlot(curves.title(), curves.axis(), figure, false);
        series.forEach(plot::add);
        String name = "throughput-by-" + curves.name() + ".svg";
        Files.writeString(folder.resolve(name), plot.text());
        return name;
    }

    /** A number as short as it can be said. */
    static String quantity(long value) {
        if (value >= 1 << 20 && value % (1 << 20) == 0) {
            return (value >> 20) + "Mi";
        }
        return value >= 1024 && value % 1024 == 0 ? (value >> 10) + "Ki" : String.valueOf(value);
    }
}
