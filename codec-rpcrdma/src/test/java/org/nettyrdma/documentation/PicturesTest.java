package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.xml.sax.InputSource;

/** Each picture is what its text says; {@code docs/pictures/draw} draws them. */
class PicturesTest {

    private static final Path DIRECTORY = Documents.PAGES.resolve("pictures");

    static List<Path> sources() throws IOException {
        return TextPicture.sources(DIRECTORY);
    }

    @ParameterizedTest
    @MethodSource("sources")
    void shouldBeDrawnFromItsText(Path source) throws IOException {
        assertEquals(TextPicture.draw(Files.readString(source)), Files.readString(TextPicture.drawingOf(source)),
                "run docs/pictures/draw");
    }

    @ParameterizedTest
    @MethodSource("sources")
    void shouldBeXmlWithTitleAndBackground(Path source) throws Exception {
        var svg = DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(TextPicture.draw(Files.readString(source))))).getDocumentElement();

        assertFalse(svg.getElementsByTagName("title").item(0).getTextContent().isBlank());
        assertEquals("#ffffff", svg.getElementsByTagName("rect").item(0).getAttributes().getNamedItem("fill").getNodeValue());
    }

    @Test
    void shouldHaveATextForEachPicture() throws IOException {
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            for (Path picture : files.filter(file -> file.toString().endsWith(".svg")).toList()) {
                assertTrue(sources().stream().map(TextPicture::drawingOf).anyMatch(picture::equals), picture::toString);
            }
        }
    }

    @Test
    void shouldFillFramesAndEscapeText() {
        String svg = TextPicture.draw("# A & B\n┌───┐\n│a<b│\n└───┘\n");

        assertTrue(svg.contains("<title>A &amp; B</title>"), svg);
        assertTrue(svg.contains("<rect class=\"frame\" x=\"16\" y=\"20\" width=\"32\" height=\"34\"/>"), svg);
        assertTrue(svg.contains(">a&lt;b</text>"), svg);
    }

    @Test
    void shouldEndAnArrowAtTheFrameThatItPointsTo() {
        String svg = TextPicture.draw("──▶┌─┐\n   └─┘\n");

        assertTrue(svg.contains("<path class=\"arrow\" d=\"M40 20L"), svg);
    }
}
