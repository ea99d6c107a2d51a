package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import org.nettyrdma.example.nfs.client.RemoteFile;
import org.nettyrdma.example.nfs.client.RemoteFiles;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsTime;

/** How files are shown. */
final class FileFormat {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm")
            .withZone(ZoneId.systemDefault());
    private static final String PERMISSIONS = "rwxrwxrwx";

    private FileFormat() {
    }

    /** The columns of {@code ls -l} before the name: mode, links, owner, group, size, time. */
    static String[] longColumns(Fattr attributes) {
        return new String[] {mode(attributes), Integer.toUnsignedString(attributes.linkCount()),
            Integer.toUnsignedString(attributes.userId()), Integer.toUnsignedString(attributes.groupId()),
            Long.toUnsignedString(attributes.size()), time(attributes.modifyTime())};
    }

    /** The last column of {@code ls -l}: the name, and the target of a symbolic link. */
    static String nameAndTarget(RemoteFiles files, RemoteFile file) throws IOException {
        return TerminalText.escape(file.name()) + (file.attributes().type() == FileType.SYMBOLIC_LINK
                ? " -> " + TerminalText.escape(files.readLink(file)) : "");
    }

    /** Type and permissions as in {@code drwxr-sr-t}. */
    static String mode(Fattr attributes) {
        StringBuilder text = new StringBuilder().append(typeLetter(attributes.type()));
        for (int i = 0; i < PERMISSIONS.length(); i++) {
            boolean set = (attributes.mode() >> PERMISSIONS.length() - 1 - i & 1) != 0;
            text.append(set ? PERMISSIONS.charAt(i) : '-');
        }
        markSpecial(text, attributes.mode(), 04000, 3, 's');
        markSpecial(text, attributes.mode(), 02000, 6, 's');
        markSpecial(text, attributes.mode(), 01000, 9, 't');
        return text.toString();
    }

    private static void markSpecial(StringBuilder text, int mode, int bit, int index, char letter) {
        if ((mode & bit) != 0) {
            text.setCharAt(index, text.charAt(index) == 'x' ? letter : Character.toUpperCase(letter));
        }
    }

    private static char typeLetter(FileType type) {
        return switch (type) {
            case REGULAR -> '-';
            case DIRECTORY -> 'd';
            case SYMBOLIC_LINK -> 'l';
            case BLOCK_DEVICE -> 'b';
            case CHARACTER_DEVICE -> 'c';
            case SOCKET -> 's';
            case FIFO -> 'p';
        };
    }

    static String time(NfsTime time) {
        return TIME.format(time.toFileTime().toInstant());
    }
}
