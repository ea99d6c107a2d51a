package org.nettyrdma.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * What a curve of the library must reach. A run fails for none of them, since windows with many connections scatter.
 *
 * @param series    the curve
 * @param baselines what it is compared with; the best of them counts
 * @param first     the first point for which it is
 * @param last      the last one
 * @param figure    the title of what is measured
 * @param kind      how
 * @param limit     of that
 */
record GrowthBar(String series, List<String> baselines, long first, long last, String figure, Kind kind, double limit) {

    private static final int FEW_CONNECTIONS = 10;
    private static final int SOME_CONNECTIONS = 1000;
    private static final int MANY_CONNECTIONS = 10_000;
    private static final double TIMES_TO_OPEN = 1.3;
    private static final double MORE_IDLE_KIBIBYTES = 8;
    private static final double REFINEMENT_PERCENT = 3;
    private static final double TIMES_P99_OF_EVENT_LOOPS = 1.2;

    /** How the curve is compared. */
    enum Kind {
        /** The best of the others is the largest. */
        AT_LEAST("at least %.2f times"),
        /** The best of the others is the smallest. */
        AT_MOST("at most %.2f times"),
        /** As a difference. */
        AT_MOST_MORE("at most %.2f more"),
        /** With nothing. */
        ALONE_AT_MOST("at most %.2f");

        private final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    static List<GrowthBar> ofConnections(String series, String baseline) {
        List<String> baselines = List.of(baseline);
        int few = FEW_CONNECTIONS;
        int some = SOME_CONNECTIONS;
        int many = MANY_CONNECTIONS;
        return List.of(new GrowthBar(series, baselines, few, many, Figure.CALLS_PER_SECOND.title(), Kind.AT_LEAST, 1),
                new GrowthBar(series, baselines, few, many, Figure.P99_MICROS.title(), Kind.AT_MOST, 1),
                new GrowthBar(series, baselines, few, many, Figure.CPU_MICROS_PER_CALL.title(), Kind.AT_MOST, 1),
                new GrowthBar(series, List.of(), some, some, Figure.REFINEMENT.title(), Kind.ALONE_AT_MOST, REFINEMENT_PERCENT),
                new GrowthBar(series, baselines, many, many, Growth.IDLE_CLIENT, Kind.AT_MOST_MORE, MORE_IDLE_KIBIBYTES),
                new GrowthBar(series, baselines, many, many, Growth.IDLE_SERVER, Kind.AT_MOST_MORE, MORE_IDLE_KIBIBYTES),
                new GrowthBar(series, baselines, many, many, Growth.MILLIS_TO_OPEN, Kind.AT_MOST, TIMES_TO_OPEN));
    }

    static List<GrowthBar> ofEventLoops(String series, List<String> baselines) {
        return List.of(new GrowthBar(series, baselines, 1, Long.MAX_VALUE, Figure.CALLS_PER_SECOND.title(), Kind.AT_LEAST, 1),
                new GrowthBar(series, baselines, 1, Long.MAX_VALUE, Figure.P99_MICROS.title(), Kind.AT_MOST,
                        TIMES_P99_OF_EVENT_LOOPS));
    }

    boolean isOf(Growth.Point point) {
        return point.series().equals(series) && point.x() >= first && point.x() <= last;
    }

    /**
     * What was measured at a point of the curve.
     *
     * @param all the points of all curves
     * @return NaN where nothing was that it is compared with
     */
    double measured(Growth.Point point, List<Growth.Point> all) {
        double value = point.values().get(figure);
        DoubleStream others = all.stream().filter(other -> other.x() == point.x() && baselines.contains(other.series()))
                .mapToDouble(other -> other.values().get(figure));
        return switch (kind) {
            case AT_LEAST -> value / others.max().orElse(Double.NaN);
            case AT_MOST -> value / others.min().orElse(Double.NaN);
            case AT_MOST_MORE -> value - others.min().orElse(Double.NaN);
            case ALONE_AT_MOST -> value;
        };
    }

    boolean holds(double measured) {
        return kind == Kind.AT_LEAST ? measured >= limit : measured <= limit;
    }

    String limitText() {
        return String.format(Locale.ROOT, kind.text, limit);
    }
}
