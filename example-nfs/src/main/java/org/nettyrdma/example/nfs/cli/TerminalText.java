package org.nettyrdma.example.nfs.cli;

import org.nettyrdma.example.nfs.protocol.NameText;

/** Text of somebody else on its way to a terminal, which must not obey it. */
final class TerminalText {

    private TerminalText() {
    }

    /**
     * Shows what moves the cursor, changes the terminal or the direction of writing as an escape: {@code \x1b} for control
     * characters of ASCII and for bytes of names that are not UTF-8, {@code \}{@code u202e} for others. A line stays a line.
     */
    static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(codePoint -> {
            if (NameText.isEscape(codePoint)) {
                escaped.append(String.format("\\x%02x", codePoint & 0xFF));
            } else if (codePoint < 0x80 && Character.isISOControl(codePoint)) {
                escaped.append(String.format("\\x%02x", codePoint));
            } else if (isObeyed(codePoint)) {
                escaped.append(String.format("\\u%04x", codePoint));
            } else {
                escaped.appendCodePoint(codePoint);
            }
        });
        return escaped.toString();
    }

    private static boolean isObeyed(int codePoint) {
        return Character.isISOControl(codePoint) || switch (Character.getType(codePoint)) {
            case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE -> true;
            default -> switch (codePoint) {
                // Marks, embeddings, overrides and isolates of right-to-left writing.
                case 0x061C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069 -> true;
                default -> false;
            };
        };
    }
}
