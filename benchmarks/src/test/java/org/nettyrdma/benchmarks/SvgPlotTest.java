package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class SvgPlotTest {

    @Test
    void shouldBeWellFormedWhateverTheNames() throws Exception {
        Document svg = parse(new SvgPlot("a < b & c", "\"x\"", "µs", true)
                .add("<one>", List.of(new SvgPlot.Point(1, 10, "1"), new SvgPlot.Point(10, 1000, "10"))).text());
        assertEquals("svg", svg.getDocumentElement().getTagName());
        assertTrue(texts(svg).anyMatch("<one>"::equals));
    }

    @Test
    void shouldPutPointsWhereTheirValuesAre() throws Exception {
        Document svg = parse(new SvgPlot("t", "x", "y", false)
                .add("s", List.of(new SvgPlot.Point(1, 0, "1"), new SvgPlot.Point(10, 50, "10"),
                new SvgPlot.Point(100, 100, "100")))
                .text());
        NodeList circles = svg.getElementsByTagName("circle");
        assertEquals(3, circles.getLength());
        double left = coordinate(circles, 0, "cx");
        double right = coordinate(circles, 2, "cx");
        assertEquals((left + right) / 2, coordinate(circles, 1, "cx"), 0.1, "the abscissa is logarithmic");
        double bottom = coordinate(circles, 0, "cy");
        double top = coordinate(circles, 2, "cy");
        assertTrue(bottom > top, "more is higher");
        assertEquals((bottom + top) / 2, coordinate(circles, 1, "cy"), 0.1);
    }

    @Test
    void shouldDrawASinglePoint() throws Exception {
        parse(new SvgPlot("t", "x", "y", true).add("s", List.of(new SvgPlot.Point(5, 5, "5"))).text());
    }

    @Test
    void shouldTellManyCurvesApart() throws Exception {
        SvgPlot plot = new SvgPlot("t", "x", "y", true);
        for (int i = 1; i <= 12; i++) {
            plot.add("series " + i, List.of(new SvgPlot.Point(1, i, "1"), new SvgPlot.Point(2, i, "2")));
        }
        NodeList lines = parse(plot.text()).getElementsByTagName("polyline");
        long looks = Stream.iterate(0, i -> i < lines.getLength(), i -> i + 1).map(i -> (Element) lines.item(i))
                .map(line -> line.getAttribute("stroke") + line.getAttribute("stroke-dasharray")).distinct().count();
        assertEquals(13, looks, "12 curves and the axes");
    }

    @Test
    void shouldRefuseToDrawNothing() {
        assertThrows(IllegalStateException.class, () -> new SvgPlot("t", "x", "y", true).text());
    }

    @Test
    void shouldWriteTheFirstFigureOfCurves(@TempDir Path folder) throws Exception {
        Growth.Curves curves = new Growth.Curves("size", "t", "bytes",
                List.of(new Growth.Point("s", 1024, Map.of("GB/s", 1.0), new double[] {1}),
                        new Growth.Point("s", 1 << 20, Map.of("GB/s", 2.0), new double[] {2})), List.of(), List.of());
        assertEquals("throughput-by-size.svg", Plots.growth(folder, curves));
        Document svg = parse(Files.readString(folder.resolve("throughput-by-size.svg")));
        assertTrue(texts(svg).toList().containsAll(List.of("1Ki", "1Mi", "GB/s", "bytes")));
    }

    @Test
    void shouldWriteLatencyPercentilesOfEachPlacement(@TempDir Path folder) throws Exception {
        CaseResult result = CaseResult.of(Case.PING_PONG, Placement.TWO_PROCESSES, List.of(new Pairing(Peer.RDMA, Peer.NIO,
                List.of(Windows.of(Case.PING_PONG, 100)), List.of(Windows.of(Case.PING_PONG, 100)))));
        CaseResult other = CaseResult.of(Case.READ_1M, Placement.TWO_PROCESSES, List.of(new Pairing(Peer.RDMA, Peer.NIO,
                List.of(Windows.of(Case.READ_1M, 100)), List.of(Windows.of(Case.READ_1M, 100)))));
        assertEquals(List.of("latency-percentiles-two-processes.svg"), Plots.latency(folder, List.of(result, other)));
        parse(Files.readString(folder.resolve("latency-percentiles-two-processes.svg")));
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    private static Stream<String> texts(Document svg) {
        NodeList texts = svg.getElementsByTagName("text");
        return Stream.iterate(0, i -> i < texts.getLength(), i -> i + 1).map(i -> texts.item(i).getTextContent());
    }

    private static double coordinate(NodeList nodes, int index, String name) {
        return Double.parseDouble(((Element) nodes.item(index)).getAttribute(name));
    }
}
