package org.nettyrdma.benchmarks;

import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * Curves as an SVG image, with a logarithmic abscissa. Written here because the libraries that draw charts need AWT and its
 * fonts, which a server's JVM often lacks, to put a few lines and words into a file.
 */
final class SvgPlot {

    private static final int WIDTH = 900;
    private static final int HEIGHT = 450;
    private static final int LEFT = 80;
    private static final int RIGHT = 600;
    private static final int TOP = 50;
    private static final int BOTTOM = 390;
    /** Told apart by those, too, who do not see all colours (Okabe and Ito), with different dashes as well. */
    private static final List<String> COLOURS = List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
            "#000000");
    private static final List<String> DASHES = List.of("none", "6 3", "2 3");

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final boolean logarithmicY;
    private final List<Series> series = new ArrayList<>();

    SvgPlot(String title, String xTitle, String yTitle, boolean logarithmicY) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.logarithmicY = logarithmicY;
    }

    /**
     * A point.
     *
     * @param x     above 0
     * @param y     above 0 where that axis is logarithmic
     * @param label of the abscissa at this point
     */
    record Point(double x, double y, String label) {
    }

    private record Series(String name, List<Point> points) {
    }

    SvgPlot add(String name, List<Point> points) {
        series.add(new Series(name, List.copyOf(points)));
        return this;
    }

    String text() {
        StringWriter text = new StringWriter();
        try {
            XMLStreamWriter xml = XMLOutputFactory.newInstance().createXMLStreamWriter(text);
            xml.writeStartDocument("UTF-8", "1.0");
            xml.writeStartElement("svg");
            xml.writeDefaultNamespace("http://www.w3.org/2000/svg");
            attributes(xml, "width", WIDTH, "height", HEIGHT, "viewBox", "0 0 " + WIDTH + ' ' + HEIGHT, "font-family",
                    "sans-serif",
                    "font-size", 12);
            element(xml, "rect", "width", WIDTH, "height", HEIGHT, "fill", "white");
            draw(xml);
            xml.writeEndElement();
            xml.writeEndDocument();
            xml.close();
        } catch (XMLStreamException e) {
            throw new IllegalStateException(e);
        }
        return text.toString();
    }

    private void draw(XMLStreamWriter xml) throws XMLStreamException {
        List<Point> all = series.stream().flatMap(one -> one.points().stream()).toList();
        if (all.isEmpty()) {
            throw new IllegalStateException(title + " has no point");
        }
        Axis x = new Axis(all.stream().mapToDouble(Point::x).min().orElseThrow(),
                all.stream().mapToDouble(Point::x).max().orElseThrow(),
                true, LEFT, RIGHT);
        Axis y = Axis.rounded(all.stream().mapToDouble(Point::y).min().orElseThrow(),
                all.stream().mapToDouble(Point::y).max().orElseThrow(), logarithmicY, BOTTOM, TOP);
        words(xml, LEFT, TOP - 30, "start", title);
        words(xml, (LEFT + RIGHT) / 2.0, BOTTOM + 42, "middle", xTitle);
        words(xml, LEFT, TOP - 10, "start", yTitle);
        for (double tick : y.ticks()) {
            element(xml, "line", "x1", LEFT, "x2", RIGHT, "y1", y.at(tick), "y2", y.at(tick), "stroke", "#dddddd");
            words(xml, LEFT - 6, y.at(tick) + 4, "end", number(tick));
        }
        all.stream().map(Point::x).distinct().forEach(tick -> {
            String label = all.stream().filter(point -> point.x() == tick).findFirst().orElseThrow().label();
            try {
                element(xml, "line", "x1", x.at(tick), "x2", x.at(tick), "y1", BOTTOM, "y2", BOTTOM + 4, "stroke", "black");
                words(xml, x.at(tick), BOTTOM + 18, "middle", label);
            } catch (XMLStreamException e) {
                throw new IllegalStateException(e);
            }
        });
        element(xml, "polyline", "points", LEFT + "," + TOP + ' ' + LEFT + ',' + BOTTOM + ' ' + RIGHT + ',' + BOTTOM, "fill",
                "none",
                "stroke", "black");
        for (int i = 0; i < series.size(); i++) {
            curve(xml, series.get(i), i, x, y);
        }
    }

    private static void curve(XMLStreamWriter xml, Series one, int number, Axis x, Axis y) throws XMLStreamException {
        String colour = COLOURS.get(number % COLOURS.size());
        String dash = DASHES.get(number / COLOURS.size() % DASHES.size());
        StringBuilder line = new StringBuilder();
        for (Point point : one.points()) {
            line.append(coordinate(x.at(point.x()))).append(',').append(coordinate(y.at(point.y()))).append(' ');
            element(xml, "circle", "cx", x.at(point.x()), "cy", y.at(point.y()), "r", 3, "fill", colour);
        }
        element(xml, "polyline", "points", line.toString().trim(), "fill", "none", "stroke", colour, "stroke-width", 2,
                "stroke-dasharray", dash);
        int height = TOP + 10 + 18 * number;
        element(xml, "line", "x1", RIGHT + 14, "x2", RIGHT + 38, "y1", height, "y2", height, "stroke", colour, "stroke-width", 2,
                "stroke-dasharray", dash);
        words(xml, RIGHT + 44, height + 4, "start", one.name());
    }

    private static void words(XMLStreamWriter xml, double x, double y, String anchor, String words) throws XMLStreamException {
        xml.writeStartElement("text");
        attributes(xml, "x", x, "y", y, "text-anchor", anchor);
        xml.writeCharacters(words);
        xml.writeEndElement();
    }

    private static void element(XMLStreamWriter xml, String name, Object... attributes) throws XMLStreamException {
        xml.writeEmptyElement(name);
        attributes(xml, attributes);
    }

    private static void attributes(XMLStreamWriter xml, Object... namesAndValues) throws XMLStreamException {
        for (int i = 0; i < namesAndValues.length; i += 2) {
            Object value = namesAndValues[i + 1];
            xml.writeAttribute((String) namesAndValues[i], value instanceof Double number ? coordinate(number)
                    : String.valueOf(value));
        }
    }

    private static String coordinate(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    private static String number(double value) {
        if (value >= 1e6) {
            return String.format(Locale.ROOT, "%.3gM", value / 1e6);
        }
        return value >= 1000 ? String.format(Locale.ROOT, "%.0f", value) : String.format(Locale.ROOT, "%.3g", value);
    }

    /** Maps values to coordinates. */
    private record Axis(double lowest, double highest, boolean logarithmic, double from, double to) {

        private static final double MOST_LINEAR_TICKS = 6;
        private static final double ROUNDING = 1e-9;
        /** Of a decade. */
        private static final List<Double> STEPS = List.of(1.0, 2.0, 5.0, 10.0);

        /** An axis that begins, at 0 unless it is logarithmic, and ends at a tick. */
        private static Axis rounded(double lowest, double highest, boolean logarithmic, double from, double to) {
            if (logarithmic) {
                return new Axis(below(lowest), above(highest), true, from, to);
            }
            double step = step(highest);
            return new Axis(0, step == 0 ? 1 : Math.ceil(highest / step) * step, false, from, to);
        }

        private static double decade(double value) {
            return Math.pow(10, Math.floor(Math.log10(value)));
        }

        private static double below(double value) {
            double decade = decade(value);
            return STEPS.stream().map(step -> step * decade).filter(tick -> tick <= value).reduce((one, next) -> next)
                    .orElse(decade);
        }

        private static double above(double value) {
            double decade = decade(value);
            return STEPS.stream().map(step -> step * decade).filter(tick -> tick >= value).findFirst().orElse(10 * decade);
        }

        /** Between ticks of a linear axis that begins at 0. */
        private static double step(double highest) {
            return highest <= 0 ? 0 : above(highest / MOST_LINEAR_TICKS);
        }

        private double at(double value) {
            double range = scaled(highest) - scaled(lowest);
            double part = range == 0 ? 0.5 : (scaled(value) - scaled(lowest)) / range;
            return from + part * (to - from);
        }

        private double scaled(double value) {
            return logarithmic ? Math.log10(value) : value;
        }

        private List<Double> ticks() {
            List<Double> ticks = new ArrayList<>();
            if (!logarithmic) {
                double step = step(highest);
                for (int i = 0; i * step <= highest * (1 + ROUNDING); i++) {
                    ticks.add(i * step);
                }
                return ticks;
            }
            for (double decade = decade(lowest); decade <= highest; decade *= 10) {
                for (double tick : new double[] {decade, 2 * decade, 5 * decade}) {
                    if (tick >= lowest * (1 - ROUNDING) && tick <= highest * (1 + ROUNDING)) {
                        ticks.add(tick);
                    }
                }
            }
            return ticks;
        }
    }
}
