package org.nettyrdma.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The documents of the project, which lie above this module: README, the pages of {@code docs}, and what others read. */
final class Documents {

    static final Path ROOT = Path.of("..");
    static final Path README = ROOT.resolve("README.md");
    static final Path PAGES = ROOT.resolve("docs");
    /** Where the echo server and its client are. */
    static final Path PROGRAMS = PAGES.resolve("migrating.md");

    private static final String FENCE = "```";

    private Documents() {
    }

    /** README and all pages. */
    static List<Path> all() throws IOException {
        List<Path> documents = new ArrayList<>(List.of(README));
        documents.addAll(pages());
        return documents;
    }

    static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.list(PAGES)) {
            return files.filter(file -> file.toString().endsWith(".md")).sorted().toList();
        }
    }

    /** What stands between two fences. The line is that of the first of them. */
    record Block(Path document, int line, String language, String text) {

        @Override
        public String toString() {
            return document + ", line " + line + ":\n" + text;
        }
    }

    static List<Block> blocks(Path document, String language) throws IOException {
        List<Block> blocks = new ArrayList<>();
        List<String> lines = Files.readAllLines(document);
        for (int i = 0; i < lines.size(); i++) {
            if (!lines.get(i).startsWith(FENCE)) {
                continue;
            }
            int first = i++;
            StringBuilder text = new StringBuilder();
            while (!lines.get(i).equals(FENCE)) {
                text.append(lines.get(i++)).append('\n');
            }
            blocks.add(new Block(document, first + 1, lines.get(first).substring(FENCE.length()), text.toString()));
        }
        blocks.removeIf(block -> !block.language.equals(language));
        return blocks;
    }

    /** The lines of a document that are no part of a block. */
    static List<String> prose(Path document) throws IOException {
        List<String> prose = new ArrayList<>();
        boolean isBlock = false;
        for (String line : Files.readAllLines(document)) {
            if (line.startsWith(FENCE)) {
                isBlock = !isBlock;
            } else if (!isBlock) {
                prose.add(line);
            }
        }
        return prose;
    }
}
