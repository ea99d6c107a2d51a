package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {

    private final CaseResult result = CaseResult.of(Case.READ_64K, Placement.TWO_PROCESSES,
            List.of(new Pairing(Peer.RDMA, Peer.NIO,
            List.of(Windows.of(Case.READ_64K, 300)), List.of(Windows.of(Case.READ_64K, 200)))));

    @Test
    void shouldWriteJsonThatParses() {
        JsonObject json = JsonParser.parseString(new JsonReport().comparison(List.of(result)).text()).getAsJsonObject();
        JsonObject only = json.getAsJsonArray("cases").get(0).getAsJsonObject();
        assertEquals("READ_64K", only.get("case").getAsString());
        assertEquals("TWO_PROCESSES", only.get("placement").getAsString());
        assertEquals(300, only.getAsJsonObject("windows").getAsJsonArray("rdma").get(0).getAsJsonObject().get("calls")
                .getAsInt());
        JsonObject ratio = only.getAsJsonArray("ratios").get(0).getAsJsonObject();
        assertEquals("nio", ratio.get("to").getAsString());
        assertEquals(1.5, ratio.get("median").getAsDouble(), 1e-9);
    }

    @Test
    void shouldWriteFiguresThatNoNumberCanSay() {
        String json = new JsonReport().section("none", List.of(Double.NaN)).text();
        assertTrue(json.contains("NaN"), json);
    }

    @Test
    void shouldSayWhatACurveLacks() {
        String text = new MarkdownReport().growth(new Growth.Curves("x", "Title", "things",
                List.of(new Growth.Point("one", 2048, Map.of("calls/s", 3.5), new double[] {3.5})), List.of("4096 are left out"),
                List.of())).text();
        assertTrue(text.contains("Title.\n4096 are left out.\n"), text);
        assertTrue(text.contains("| one | 2Ki | 3.50 |"), text);
    }

    @Test
    void shouldSayWhichBarsOfACurveHold() {
        Map<String, Double> own = Map.of("calls/s", 90.0, "p99, µs", 3.0);
        Growth.Point point = new Growth.Point("own", 4, own, new double[] {90});
        Growth.Point slow = new Growth.Point("slow", 4, Map.of("calls/s", 60.0, "p99, µs", 4.0), new double[] {60});
        Growth.Point fast = new Growth.Point("fast", 4, Map.of("calls/s", 100.0, "p99, µs", 6.0), new double[] {100});
        Growth.Point elsewhere = new Growth.Point("fast", 2, Map.of("calls/s", 500.0, "p99, µs", 1.0), new double[] {500});
        String text = new MarkdownReport().growth(new Growth.Curves("x", "Title", "loops",
                List.of(point, slow, fast, elsewhere), List.of(), GrowthBar.ofEventLoops("own", List.of("slow", "fast")))).text();
        assertTrue(text.contains("| own, calls/s | 4 | slow; fast | at least 1.00 times | 0.90 | missed |"), text);
        assertTrue(text.contains("| own, p99, µs | 4 | slow; fast | at most 1.20 times | 0.75 | holds |"), text);
    }

    @Test
    void shouldBeginWithTheCostOfWakingAThread() {
        double micros = WakeUp.medianMicros();
        assertTrue(micros > 0 && micros < 10_000, micros + " µs");
        String text = new MarkdownReport().wakeUp(4.25).comparison(List.of(result)).text();
        assertTrue(text.startsWith("To wake a thread takes 4.3 µs on this machine."), text);
    }

    @Test
    void shouldWriteATableWithRatios() {
        String text = new MarkdownReport().comparison(List.of(result)).text();
        assertTrue(text.contains("| 64 KiB READ, 8 outstanding, GB/s | 0.02 | 0.01 (1.50) |"), text);
    }
}
