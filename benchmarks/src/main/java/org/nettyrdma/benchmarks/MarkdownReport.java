package org.nettyrdma.benchmarks;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The results as Markdown.
 */
final class MarkdownReport {

    private final StringBuilder out = new StringBuilder();

    String text() {
        return out.toString();
    }

    /** How to read what follows. */
    MarkdownReport wakeUp(double micros) {
        line(String.format(Locale.ROOT, "To wake a thread takes %.1f µs on this machine. A loop that polls saves that where it"
                + " has a processor to itself. What both ends on one CPU reach owes nothing to polling.", micros));
        line("");
        return this;
    }

    /** The tables of the comparison, one for each placement. */
    MarkdownReport comparison(List<CaseResult> results) {
        for (Placement placement : Placement.values()) {
            List<CaseResult> here = results.stream().filter(result -> result.placement() == placement).toList();
            if (!here.isEmpty()) {
                heading("Both ends: " + placement.title());
                comparisonTable(here);
            }
        }
        return this;
    }

    private void comparisonTable(List<CaseResult> results) {
        Set<Peer> peers = EnumSet.noneOf(Peer.class);
        results.forEach(result -> peers.addAll(result.windows().keySet()));
        List<String> titles = new ArrayList<>(List.of(""));
        peers.forEach(peer -> titles.add(peer.title()));
        row(titles);
        rule(titles.size());
        for (CaseResult result : results) {
            for (Figure figure : Figure.compared(result.scenario())) {
                List<String> cells = new ArrayList<>(List.of(result.scenario().title() + ", " + figure.title()));
                peers.forEach(peer -> cells.add(cell(result, peer, figure)));
                row(cells);
            }
        }
        line("");
        line("In brackets: the figure of " + Peer.RDMA.title()
                + " divided by that of the column; under a variant of it, that of the"
                + " variant divided by that of " + Peer.RDMA.title() + ". Medians of the ratios of neighbouring windows.");
        line("");
    }

    /** A figure and its ratio. */
    private static String cell(CaseResult result, Peer peer, Figure figure) {
        if (!result.windows().containsKey(peer)) {
            return "–";
        }
        String value = figure.format(result.median(peer, figure));
        for (Pairing pairing : result.pairings()) {
            if (pairing.peer() == Peer.RDMA && pairing.baseline() == peer && !peer.rdma()) {
                return value + String.format(Locale.ROOT, " (%.2f)", pairing.medianRatio(figure));
            }
            if (pairing.peer() == peer && pairing.baseline() == Peer.RDMA) {
                return value + String.format(Locale.ROOT, " (%.2f)", pairing.medianRatio(figure));
            }
        }
        return value;
    }

    /** What is counted for each call, of the peers that count it. */
    MarkdownReport costs(List<CaseResult> results) {
        heading("For each call");
        List<Figure> figures = List.of(Figure.CLIENT_ALLOCATED_PER_CALL, Figure.SERVER_ALLOCATED_PER_CALL, Figure.COPIED_PER_CALL,
                Figure.REGISTRATIONS_PER_CALL, Figure.REMOTE_INVALIDATIONS_PER_CALL, Figure.LOCAL_INVALIDATIONS_PER_CALL);
        List<String> titles = new ArrayList<>(List.of("", "ends", "peer"));
        figures.forEach(figure -> titles.add(figure.title()));
        row(titles);
        rule(titles.size());
        for (CaseResult result : results) {
            for (Map.Entry<Peer, List<Window>> entry : result.windows().entrySet()) {
                boolean known = entry.getValue().get(0).counters().movementKnown();
                List<String> cells = new ArrayList<>(
                        List.of(result.scenario().title(), result.placement().title(), entry.getKey().title()));
                for (Figure figure : figures) {
                    double median = result.median(entry.getKey(), figure);
                    cells.add(known || median > 0 ? figure.format(median) : "–");
                }
                row(cells);
            }
        }
        line("");
        return this;
    }

    /** The bars and whether they hold. */
    MarkdownReport verdicts(List<Bar.Verdict> verdicts) {
        heading("Bars");
        row(List.of("", "ends", "", "compared with", "bar", "measured", ""));
        rule(7);
        for (Bar.Verdict verdict : verdicts) {
            Bar bar = verdict.bar();
            row(List.of(bar.scenario().title() + ", " + bar.figure().title(), verdict.placement().title(), bar.peer().title(),
                    verdict.baseline().title(), bar.limitText(), String.format(Locale.ROOT, "%.2f", verdict.ratio()),
                    verdict.holds() ? "holds" : verdict.isFarOutside() ? "**far outside**" : "missed"));
        }
        line("");
        return this;
    }

    /** The counts of the library that have bars. */
    MarkdownReport counted(List<CaseResult> results) {
        heading("Bars of counts, " + Peer.RDMA.title());
        row(List.of("", "ends", "bar", "measured", ""));
        rule(5);
        for (CaseResult result : results) {
            for (CountedBar bar : CountedBar.ALL) {
                if (bar.scenario() == result.scenario() && result.windows().containsKey(Peer.RDMA)) {
                    double measured = result.median(Peer.RDMA, bar.figure());
                    row(List.of(bar.scenario().title() + ", " + bar.figure().title(), result.placement().title(),
                            "at most " + bar.figure().format(bar.most()), bar.figure().format(measured),
                            bar.holds(measured) ? "holds" : "missed"));
                }
            }
        }
        line("");
        return this;
    }

    /** What exposed memory costs. */
    MarkdownReport registrations(List<Registrations.Row> rows) {
        heading("Registrations and invalidations");
        List<Figure> figures = List.of(Figure.CALLS_PER_SECOND, Figure.CPU_MICROS_PER_CALL, Figure.REGISTRATIONS_PER_CALL,
                Figure.REMOTE_INVALIDATIONS_PER_CALL, Figure.LOCAL_INVALIDATIONS_PER_CALL);
        List<String> titles = new ArrayList<>(List.of("", "who withdraws"));
        titles.add("calls/s, half of the windows");
        figures.forEach(figure -> titles.add(figure.title()));
        row(titles);
        rule(titles.size());
        for (Registrations.Row row : rows) {
            double[] rates = Figure.CALLS_PER_SECOND.of(row.windows());
            List<String> cells = new ArrayList<>(List.of(row.title(), row.policy().title(),
                    String.format(Locale.ROOT, "%.0f to %.0f",
                    Statistics.quantile(0.25, rates), Statistics.quantile(0.75, rates))));
            figures.forEach(figure -> cells.add(figure.format(row.median(figure))));
            row(cells);
        }
        line("");
        return this;
    }

    /** Curves as a table. */
    MarkdownReport growth(Growth.Curves curves) {
        heading("Against " + curves.axis());
        line(curves.title() + ".");
        curves.notes().forEach(note -> line(note + "."));
        line("");
        Set<String> figures = curves.points().get(0).values().keySet();
        List<String> titles = new ArrayList<>(List.of("", curves.axis()));
        titles.addAll(figures);
        row(titles);
        rule(titles.size());
        for (Growth.Point point : curves.points()) {
            List<String> cells = new ArrayList<>(List.of(point.series(), Plots.quantity(point.x())));
            figures.forEach(figure -> cells.add(String.format(Locale.ROOT, point.values().get(figure) < 100 ? "%.2f" : "%.0f",
                    point.values().get(figure))));
            row(cells);
        }
        line("");
        if (!curves.bars().isEmpty()) {
            growthBars(curves);
        }
        return this;
    }

    private void growthBars(Growth.Curves curves) {
        row(List.of("", curves.axis(), "compared with the best of", "bar", "measured", ""));
        rule(6);
        for (GrowthBar bar : curves.bars()) {
            for (Growth.Point point : curves.points()) {
                double measured = bar.isOf(point) ? bar.measured(point, curves.points()) : Double.NaN;
                if (!Double.isNaN(measured)) {
                    row(List.of(bar.series() + ", " + bar.figure(), Plots.quantity(point.x()),
                            String.join("; ", bar.baselines()), bar.limitText(), String.format(Locale.ROOT, "%.2f", measured),
                            bar.holds(measured) ? "holds" : "missed"));
                }
            }
        }
        line("");
    }

    /** Files beside the report. */
    MarkdownReport plots(List<String> names) {
        names.forEach(name -> line("![" + name + "](" + name + ")"));
        line("");
        return this;
    }

    /** What idle connections cost. */
    MarkdownReport idle(List<IdleCost> costs) {
        heading("A connection with nothing to do");
        row(List.of("", "% of one CPU, whole process"));
        rule(2);
        for (IdleCost cost : costs) {
            row(List.of(cost.peer().title(), String.format(Locale.ROOT, "%.2f", cost.percent())
                    + (cost.holds() ? "" : " **above the bar**")));
        }
        line("");
        return this;
    }

    /** Where the run was made. */
    MarkdownReport environment(Environment environment) {
        heading("Environment");
        line("- " + environment.date() + ", commit " + environment.commit() + ", `benchmarks/run " + environment.command() + "`");
        line("- " + environment.processor() + ", " + environment.processors() + " processors, "
                + (environment.memory() >> 30) + " GiB");
        line("- " + environment.kernel() + ", " + environment.java() + ", " + environment.versions());
        line("- send buffers that nobody has set (`tcp_wmem`): " + environment.tcpWmem() + "; congestion control: "
                + environment.tcpCongestion());
        environment.connections().forEach((peer, description) -> line("- " + peer.title() + ": " + description));
        line("");
        return this;
    }

    MarkdownReport heading(String heading) {
        line("## " + heading);
        line("");
        return this;
    }

    void row(List<String> cells) {
        line("| " + String.join(" | ", cells) + " |");
    }

    void rule(int cells) {
        line("|" + "---|".repeat(cells));
    }

    void line(String line) {
        out.append(line).append('\n');
    }
}
