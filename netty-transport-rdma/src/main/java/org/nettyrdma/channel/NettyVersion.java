package org.nettyrdma.channel;

import io.netty.util.Version;
import io.netty.util.internal.SystemPropertyUtil;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Collections;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whether this transport was tested with the Netty that is there. Channels, event loops and buffers extend Netty's classes, and a
 * series that calls other methods of them than these override can send memory that nobody has written.
 */
final class NettyVersion {

    /** Names the version where Netty's own files with it are missing, for instance since Netty was packed into another jar. */
    static final String PROPERTY = "org.nettyrdma.nettyVersion";

    /** By series, the lowest patch level that was tested. */
    static final Map<String, Integer> LOWEST_PATCH_LEVELS =
            Collections.unmodifiableMap(new TreeMap<>(Map.of("4.1", 118, "4.2", 0)));

    /**
     * Each jar of Netty has one. {@link Version#identify()} reads them, too, but of two jars of one artifact it tells the last
     * only.
     */
    private static final String FILE = "META-INF/io.netty.versions.properties";
    private static final Pattern KEY =
            Pattern.compile("(netty-(?:common|buffer|transport|resolver|codec|codec-base|handler))\\.version");
    private static final Pattern VERSION = Pattern.compile(".*=(\\d+\\.\\d+)\\.(\\d{1,9})\\b.*");

    private NettyVersion() {
    }

    /** Why this Netty is not used; {@code null} if it was tested. */
    static String refusal() {
        String named = SystemPropertyUtil.get(PROPERTY);
        try {
            return refusal(named != null ? Set.of(PROPERTY + '=' + named) : found());
        } catch (IOException e) {
            return "the version of Netty cannot be read: " + e;
        }
    }

    /** The same for versions, each with the name of what has it in front: {@code netty-buffer=4.1.140.Final}. */
    static String refusal(Set<String> versions) {
        if (versions.isEmpty()) {
            return "the version of Netty is not known: " + FILE + " is missing, or is that of another jar of Netty, as where "
                    + "all are packed into one; set the system property " + PROPERTY + " to it";
        }
        Set<String> series = new TreeSet<>();
        for (String version : versions) {
            Matcher matcher = VERSION.matcher(version);
            Integer lowest = matcher.matches() ? LOWEST_PATCH_LEVELS.get(matcher.group(1)) : null;
            if (lowest == null || Integer.parseInt(matcher.group(2)) < lowest) {
                return "not tested with this version of Netty: " + versions + ", but from these on: "
                        + LOWEST_PATCH_LEVELS.entrySet()
                        .stream().map(entry -> entry.getKey() + '.' + entry.getValue()).toList();
            }
            series.add(matcher.group(1));
        }
        return series.size() == 1 ? null : "two series of Netty are mixed: " + versions;
    }

    private static Set<String> found() throws IOException {
        Set<String> versions = new TreeSet<>();
        for (URL file : Collections.list(Version.class.getClassLoader().getResources(FILE))) {
            Properties properties = new Properties();
            try (InputStream in = file.openStream()) {
                properties.load(in);
            }
            for (String name : properties.stringPropertyNames()) {
                Matcher matcher = KEY.matcher(name);
                if (matcher.matches()) {
                    versions.add(matcher.group(1) + '=' + properties.getProperty(name));
                }
            }
        }
        return versions;
    }
}
