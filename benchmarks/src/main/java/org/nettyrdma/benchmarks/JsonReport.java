package org.nettyrdma.benchmarks;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The results as JSON: every window of every peer, and the ratios with what they are the medians of.
 */
final class JsonReport {

    private static final Gson GSON = new GsonBuilder().setPrettyPrinting().serializeSpecialFloatingPointValues().create();

    private final Map<String, Object> root = new LinkedHashMap<>();

    JsonReport environment(Environment environment) {
        root.put("environment", environment);
        return this;
    }

    JsonReport comparison(List<CaseResult> results) {
        root.put("cases", results.stream().map(JsonReport::caseResult).toList());
        return this;
    }

    JsonReport verdicts(List<Bar.Verdict> verdicts) {
        root.put("bars", verdicts.stream().map(JsonReport::verdict).toList());
        return this;
    }

    JsonReport registrations(List<Registrations.Row> rows) {
        root.put("registrations", rows.stream().map(JsonReport::registrationsRow).toList());
        return this;
    }

    /** Anything that consists of records, lists, maps, strings and numbers. */
    JsonReport section(String name, Object content) {
        root.put(name, content);
        return this;
    }

    String text() {
        return GSON.toJson(root) + '\n';
    }

    private static Map<String, Object> caseResult(CaseResult result) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("case", result.scenario());
        json.put("title", result.scenario().title());
        json.put("placement", result.placement());
        json.put("load", result.scenario().load());
        Map<String, Object> peers = new LinkedHashMap<>();
        result.windows().forEach((peer, windows) -> peers.put(peer.toString(),
                windows.stream().map(JsonReport::window).toList()));
        json.put("windows", peers);
        List<Map<String, Object>> ratios = new ArrayList<>();
        for (Pairing pairing : result.pairings()) {
            for (Figure figure : Figure.compared(result.scenario())) {
                Map<String, Object> ratio = new LinkedHashMap<>();
                ratio.put("of", pairing.peer().toString());
                ratio.put("to", pairing.baseline().toString());
                ratio.put("figure", figure);
                ratio.put("median", pairing.medianRatio(figure));
                ratio.put("pairs", pairing.ratios(figure));
                ratios.add(ratio);
            }
        }
        json.put("ratios", ratios);
        return json;
    }

    private static Map<String, Object> registrationsRow(Registrations.Row row) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("load", row.title());
        json.put("policy", row.policy());
        json.put("windows", row.windows().stream().map(JsonReport::window).toList());
        return json;
    }

    private static Map<String, Object> window(Window window) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("calls", window.calls());
        json.put("elapsedNanos", window.elapsedNanos());
        json.put("callsPerSecond", window.callsPerSecond());
        if (window.load().bulk()) {
            json.put("gigabytesPerSecond", window.gigabytesPerSecond());
            json.put("cpuSecondsPerGigabyte", window.cpuSecondsPerGigabyte());
        }
        Map<String, Double> latency = new LinkedHashMap<>();
        for (double percentile : new double[] {50, 90, 99, 99.9, 100}) {
            latency.put("p" + (percentile == (long) percentile ? String.valueOf((long) percentile) : String.valueOf(percentile)),
                    window.latencyNanos().getValueAtPercentile(percentile) / 1e3);
        }
        json.put("latencyMicros", latency);
        json.put("counters", window.counters());
        return json;
    }

    private static Map<String, Object> verdict(Bar.Verdict verdict) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("case", verdict.bar().scenario());
        json.put("placement", verdict.placement());
        json.put("figure", verdict.bar().figure());
        json.put("of", verdict.bar().peer().toString());
        json.put("to", verdict.baseline().toString());
        json.put("bar", verdict.bar().limitText());
        json.put("ratio", verdict.ratio());
        json.put("holds", verdict.holds());
        json.put("farOutside", verdict.isFarOutside());
        return json;
    }
}
