package org.nettyrdma.example.nfs.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Arithmetic on absolute paths with {@code /} between names, as servers and symbolic links use them. */
final class RemotePath {

    private RemotePath() {
    }

    /** Returns {@code path} as an absolute path without empty names, {@code .} and {@code ..}; the root is {@code /}. */
    static String normalize(String path) {
        return "/" + String.join("/", names(path));
    }

    /** Says whether {@code path} can be that of a directory only, by what follows the last {@code /}; not so the root. */
    static boolean isOfDirectory(String path) {
        String last = path.substring(path.lastIndexOf('/') + 1);
        return (last.isEmpty() || last.equals(".") || last.equals("..")) && !names(path).isEmpty();
    }

    /** Returns the names of {@code path} from the root down; {@code ..} at the root stays at the root. */
    static List<String> names(String path) {
        Deque<String> names = new ArrayDeque<>();
        for (String name : path.split("/")) {
            if (name.equals("..")) {
                names.pollLast();
            } else if (!name.isEmpty() && !name.equals(".")) {
                names.addLast(name);
            }
        }
        return List.copyOf(names);
    }

    /** Returns the last name of a normalised path, or an empty string for the root. */
    static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Returns the directory that holds {@code path}; the root holds itself. */
    static String parent(String path) {
        List<String> names = names(path);
        return names.isEmpty() ? "/" : "/" + String.join("/", names.subList(0, names.size() - 1));
    }

    /** Returns {@code name} below {@code directory}. */
    static String child(String directory, String name) {
        return directory.equals("/") ? "/" + name : directory + "/" + name;
    }

    /** Says whether {@code path} is {@code directory} or lies below it; both normalised. */
    static boolean isAtOrBelow(String path, String directory) {
        return directory.equals("/") || path.equals(directory) || path.startsWith(directory + "/");
    }
}
