package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What the kernel says about the TCP connections of a server, whoever has made them. */
final class SocketBuffers {

    private static final Pattern SEND_BUFFER = Pattern.compile("skmem:\\([^)]*\\btb(\\d+)");

    private SocketBuffers() {
    }

    /**
     * The sizes of the send buffers of both ends, twice what {@code SO_SNDBUF} was set to where it was; asks {@code ss}.
     *
     * @return for people; empty where there is no connection or no {@code ss}
     */
    static String sendBuffers(int port) {
        String listing;
        try {
            Process process = new ProcessBuilder("ss", "-tmnH", "state", "established",
                    "( sport = :" + port + " or dport = :" + port + " )").redirectError(ProcessBuilder.Redirect.DISCARD).start();
            listing = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
        return text(listing);
    }

    /** What a listing of {@code ss -tm} says. */
    static String text(String listing) {
        TreeSet<Integer> sizes = SEND_BUFFER.matcher(listing).results()
                .map((MatchResult match) -> Integer.valueOf(match.group(1)))
                .collect(Collectors.toCollection(TreeSet::new));
        return sizes.isEmpty() ? "" : "send buffers of both ends at the end (bytes): "
                + sizes.stream().map(String::valueOf).collect(Collectors.joining(" and "));
    }
}
