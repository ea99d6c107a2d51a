package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** What the POMs say to those who depend on the libraries. */
class PublishedPomsTest {

    private static final Path PARENT = Documents.ROOT.resolve("pom.xml");
    private static final Path VERSIONS = Documents.ROOT.resolve("netty-rdma-bom/pom.xml");

    private static final Pattern OWN_VERSION = Pattern.compile(
            "<groupId>org\\.nettyrdma</groupId>\\s*<artifactId>[a-z-]+</artifactId>\\s*<version>([^<]*)</version>");

    private final XPath path = XPathFactory.newInstance().newXPath();

    @Test
    void shouldHaveOneVersion() throws Exception {
        assertEquals(text(PARENT, "/project/version"), text(VERSIONS, "/project/version"));
    }

    /** What a user copies from a document is what this build makes, and the changes of a release stand under its number. */
    @Test
    void shouldHaveTheSameVersionInTheDocuments() throws Exception {
        String version = text(PARENT, "/project/version");
        List<String> documented = new ArrayList<>();
        for (Path document : Documents.all()) {
            OWN_VERSION.matcher(Files.readString(document)).results().forEach(found -> documented.add(found.group(1)));
        }
        assertEquals(List.of(version, version, version), documented);

        String newest = Files.readAllLines(Documents.ROOT.resolve("CHANGELOG.md")).stream()
                .filter(line -> line.startsWith("## ")).findFirst().orElseThrow();
        assertEquals("## " + version, newest);
    }

    @Test
    void shouldListEveryLibraryInTheBillOfMaterials() throws Exception {
        TreeSet<String> libraries = new TreeSet<>();
        try (Stream<Path> poms = Files.find(Documents.ROOT, 2, (file, attributes) -> file.endsWith("pom.xml"))) {
            for (Path pom : poms.toList()) {
                if (text(pom, "/project/properties/nettyrdma.internal").equals("false")) {
                    libraries.add(text(pom, "/project/artifactId"));
                }
            }
        }
        assertEquals(libraries, new TreeSet<>(texts(VERSIONS, "//dependency/artifactId")));
    }

    @Test
    void shouldMakeTheBillOfMaterialsWithTheSamePlugins() throws Exception {
        List<String> plugins = texts(VERSIONS, "//plugin/artifactId");
        assertFalse(plugins.isEmpty());
        List<String> versions = new ArrayList<>();
        for (String plugin : plugins) {
            versions.add(text(PARENT, "/project/properties/" + plugin.replaceFirst("^maven-", "") + ".version"));
        }
        assertEquals(versions, texts(VERSIONS, "//plugin/version"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"url", "licenses/license/name", "developers/developer/name", "scm/connection", "scm/url"})
    void shouldSayWhoseItIs(String element) throws Exception {
        String said = text(PARENT, "/project/" + element);
        assertFalse(said.isEmpty());
        assertEquals(said, text(VERSIONS, "/project/" + element));
    }

    private String text(Path pom, String expression) throws Exception {
        return path.evaluate(expression, parse(pom)).strip();
    }

    private List<String> texts(Path pom, String expression) throws Exception {
        NodeList nodes = (NodeList) path.evaluate(expression, parse(pom), XPathConstants.NODESET);
        return Stream.iterate(0, i -> i < nodes.getLength(), i -> i + 1)
                .map(i -> nodes.item(i).getTextContent().strip()).toList();
    }

    private static Document parse(Path pom) throws Exception {
        File file = pom.toFile();
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file);
    }
}
