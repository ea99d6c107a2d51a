package org.nettyrdma.example.nfs.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Text in columns as wide as their longest cell. */
final class TextTable {

    static final String SEPARATOR = "  ";

    private final boolean[] rightAligned;
    private final List<String[]> rows = new ArrayList<>();

    /** One alignment for each column: {@code ">"} for the right side, anything else for the left. */
    TextTable(String... alignments) {
        rightAligned = new boolean[alignments.length];
        for (int i = 0; i < alignments.length; i++) {
            rightAligned[i] = alignments[i].equals(">");
        }
    }

    void add(String... cells) {
        rows.add(cells);
    }

    void print(PrintWriter out) {
        lines().forEach(out::println);
    }

    /** The rows, each of which becomes a line when it is asked for. */
    Stream<String> lines() {
        int[] widths = new int[rightAligned.length];
        for (String[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        return rows.stream().map(row -> line(row, widths));
    }

    private String line(String[] row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < row.length; i++) {
            String padding = " ".repeat(widths[i] - row[i].length());
            line.append(i == 0 ? "" : SEPARATOR).append(rightAligned[i] ? padding + row[i] : row[i] + padding);
        }
        return line.toString().stripTrailing();
    }
}
