package org.nettyrdma.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Draws a picture that is written in characters as SVG: lines from box drawing characters, triangles from arrow heads, all else
 * as text. Frames are filled; those of double lines have a colour of their own. A first line {@code # TITLE} is the title.
 *
 * <p>Each character has a cell of a fixed size, and each text is told how wide it is. So the result has the same bytes on all
 * machines, whatever their fonts are. The background is part of the picture, so that it is legible on a page of any colour.
 *
 * <p>This class needs nothing but the JDK: {@code docs/pictures/draw} runs it from its source.
 */
final class TextPicture {

    private static final int CELL_WIDTH = 8;
    private static final int CELL_HEIGHT = 17;
    private static final int MARGIN = 12;
    private static final int HEAD_LENGTH = 9;
    private static final int HEAD_WIDTH = 8;

    private static final int NORTH = 1;
    private static final int EAST = 2;
    private static final int SOUTH = 4;
    private static final int WEST = 8;
    private static final String LINES = "─│┌┐└┘├┤┬┴┼═║╔╗╚╝┄┆";
    private static final int[] DIRECTIONS = {EAST | WEST, NORTH | SOUTH, EAST | SOUTH, SOUTH | WEST, NORTH | EAST, NORTH | WEST,
        NORTH | EAST | SOUTH, NORTH | SOUTH | WEST, EAST | SOUTH | WEST, NORTH | EAST | WEST, NORTH | EAST | SOUTH | WEST,
        EAST | WEST, NORTH | SOUTH, EAST | SOUTH, SOUTH | WEST, NORTH | EAST, NORTH | WEST, EAST | WEST, NORTH | SOUTH};
    private static final String ARROWS = "▶◀▲▼";

    private final String title;
    private final List<String> rows;
    private final int columns;
    private final StringBuilder svg = new StringBuilder();

    private TextPicture(List<String> lines) {
        boolean titled = !lines.isEmpty() && lines.get(0).startsWith("# ");
        title = titled ? lines.get(0).substring(2).strip() : "";
        rows = lines.subList(titled ? 1 : 0, lines.size());
        columns = rows.stream().mapToInt(String::length).max().orElse(0);
    }

    /** Draws each file {@code NAME.txt} as {@code NAME.svg} beside it. */
    public static void main(String[] files) throws IOException {
        for (String file : files) {
            Path source = Path.of(file);
            Files.writeString(drawingOf(source), draw(Files.readString(source)));
        }
    }

    static Path drawingOf(Path source) {
        return source.resolveSibling(source.getFileName().toString().replaceFirst("\\.txt$", ".svg"));
    }

    static String draw(String source) {
        return new TextPicture(source.lines().toList()).toSvg();
    }

    private String toSvg() {
        int width = columns * CELL_WIDTH + 2 * MARGIN;
        int height = rows.size() * CELL_HEIGHT + 2 * MARGIN;
        svg.append(String.format(Locale.ROOT, """
                <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" role="img">
                <title>%3$s</title>
                <style>
                text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1b1f24; white-space: pre }
                .frame { fill: #eaf2fd } .strong { fill: #fdf1d3 } .arrow { fill: #3b4754 }
                .line { fill: none; stroke: #3b4754; stroke-width: 1.4; stroke-linecap: square } .dashed { stroke-dasharray: 3 4 }
                </style>
                <rect width="%1$d" height="%2$d" rx="8" fill="#ffffff" stroke="#d0d7de"/>
                """, width, height, escaped(title)));
        frames();
        for (int row = 0; row < rows.size(); row++) {
            horizontalLines(row);
            texts(row);
        }
        for (int column = 0; column < columns; column++) {
            verticalLines(column);
        }
        return svg.append("</svg>\n").toString();
    }

    private record Frame(int row, int column, int lastRow, int lastColumn, boolean isStrong) {

        int cells() {
            return (lastRow - row) * (lastColumn - column);
        }
    }

    /** Outer frames first, so that they do not hide inner ones. */
    private void frames() {
        List<Frame> frames = new ArrayList<>();
        for (int row = 0; row < rows.size(); row++) {
            for (int column = 0; column < columns; column++) {
                if (directions(row, column) == (EAST | SOUTH)) {
                    addFrame(frames, row, column);
                }
            }
        }
        frames.sort(Comparator.comparingInt(Frame::cells).reversed());
        for (Frame frame : frames) {
            append("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", frame.isStrong ? "strong" : "frame",
                    x(frame.column), y(frame.row), x(frame.lastColumn) - x(frame.column), y(frame.lastRow) - y(frame.row));
        }
    }

    private void addFrame(List<Frame> frames, int row, int column) {
        int lastColumn = column + 1;
        while (hasAll(row, lastColumn, EAST | WEST)) {
            lastColumn++;
        }
        int lastRow = row + 1;
        while (hasAll(lastRow, column, NORTH | SOUTH)) {
            lastRow++;
        }
        if (!hasAll(row, lastColumn, SOUTH | WEST) || !hasAll(lastRow, column, NORTH | EAST)
                || !hasAll(lastRow, lastColumn, NORTH | WEST)) {
            return;
        }
        for (int between = column + 1; between < lastColumn; between++) {
            if (!hasAll(lastRow, between, EAST | WEST)) {
                return;
            }
        }
        frames.add(new Frame(row, column, lastRow, lastColumn, character(row, column) == '╔'));
    }

    private void horizontalLines(int row) {
        for (int column = 0; column < columns; column++) {
            if (!hasAll(row, column, EAST)) {
                continue;
            }
            int first = column;
            boolean isDashed = false;
            while (hasAll(row, column, EAST)) {
                isDashed |= character(row, column) == '┄';
                column++;
            }
            int start = isDrawn(row, first - 1) ? x(first - 1) : x(first) - CELL_WIDTH / 2;
            int end = isDrawn(row, column) ? x(column) : x(column) - CELL_WIDTH / 2;
            line(isDashed, hasAll(row, first, WEST) ? start : x(first), y(row), end, y(row));
        }
    }

    private void verticalLines(int column) {
        for (int row = 0; row < rows.size(); row++) {
            if (!hasAll(row, column, SOUTH)) {
                continue;
            }
            int first = row;
            boolean isDashed = false;
            while (hasAll(row, column, SOUTH)) {
                isDashed |= character(row, column) == '┆';
                row++;
            }
            int start = isDrawn(first - 1, column) ? y(first - 1) : y(first) - CELL_HEIGHT / 2;
            int end = isDrawn(row, column) ? y(row) : y(row) - CELL_HEIGHT / 2;
            line(isDashed, x(column), hasAll(first, column, NORTH) ? start : y(first), x(column), end);
        }
    }

    private void line(boolean isDashed, int x1, int y1, int x2, int y2) {
        append("<path class=\"line%s\" d=\"M%d %dL%d %d\"/>", isDashed ? " dashed" : "", x1, y1, x2, y2);
    }

    /** A text ends where two blanks follow, and where a line begins. */
    private void texts(int row) {
        int column = 0;
        while (column < columns) {
            int first = column;
            if (isArrow(row, column)) {
                arrow(row, column);
            }
            while (isText(row, column) || character(row, column) == ' ' && column > first && isText(row, column + 1)) {
                column++;
            }
            if (column > first) {
                append("<text x=\"%d\" y=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\">%s</text>",
                        x(first) - CELL_WIDTH / 2, y(row) + 4, (column - first) * CELL_WIDTH,
                        escaped(rows.get(row).substring(first, column)));
            } else {
                column++;
            }
        }
    }

    /** The tip touches the line behind it, if there is one. */
    private void arrow(int row, int column) {
        char head = character(row, column);
        int columnStep = head == '▶' ? 1 : head == '◀' ? -1 : 0;
        int rowStep = head == '▼' ? 1 : head == '▲' ? -1 : 0;
        boolean touches = isLine(row + rowStep, column + columnStep);
        int x = x(column) + columnStep * (touches ? CELL_WIDTH : CELL_WIDTH / 2);
        int y = y(row) + rowStep * (touches ? CELL_HEIGHT : CELL_HEIGHT / 2);
        if (isLine(row - rowStep, column - columnStep)) {
            line(false, x(column), y(row), x - columnStep * HEAD_LENGTH, y - rowStep * HEAD_LENGTH);
        }
        int backX = x - columnStep * HEAD_LENGTH;
        int backY = y - rowStep * HEAD_LENGTH;
        append("<path class=\"arrow\" d=\"M%d %dL%d %dL%d %dZ\"/>", x, y, backX + rowStep * HEAD_WIDTH / 2,
                backY + columnStep * HEAD_WIDTH / 2, backX - rowStep * HEAD_WIDTH / 2, backY - columnStep * HEAD_WIDTH / 2);
    }

    private void append(String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }

    private boolean isText(int row, int column) {
        return character(row, column) != ' ' && !isLine(row, column) && !isArrow(row, column);
    }

    private boolean isArrow(int row, int column) {
        return ARROWS.indexOf(character(row, column)) >= 0;
    }

    private boolean isDrawn(int row, int column) {
        return isLine(row, column) || isArrow(row, column);
    }

    private boolean isLine(int row, int column) {
        return directions(row, column) != 0;
    }

    private boolean hasAll(int row, int column, int directions) {
        return (directions(row, column) & directions) == directions;
    }

    private int directions(int row, int column) {
        int index = LINES.indexOf(character(row, column));
        return index < 0 ? 0 : DIRECTIONS[index];
    }

    private char character(int row, int column) {
        boolean isThere = row >= 0 && row < rows.size() && column >= 0 && column < rows.get(row).length();
        return isThere ? rows.get(row).charAt(column) : ' ';
    }

    private static int x(int column) {
        return MARGIN + column * CELL_WIDTH + CELL_WIDTH / 2;
    }

    private static int y(int row) {
        return MARGIN + row * CELL_HEIGHT + CELL_HEIGHT / 2;
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    /** The pictures of a directory, as text. */
    static List<Path> sources(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".txt")).sorted().toList();
        }
    }
}
