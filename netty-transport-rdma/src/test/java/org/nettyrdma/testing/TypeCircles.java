package org.nettyrdma.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;

/**
 * Finds the circles of types: the largest sets of which each type needs all others of the set, directly or through others. Who
 * wants to understand one type of a circle must read all of it. Types that are nested count as a part of the outermost.
 */
public final class TypeCircles {

    private static final int MOST_TYPES = 5;

    private static final Pattern NEED = Pattern.compile("\\s+(\\S+)\\.([^.\\s]+)\\s+->\\s+(\\S+)\\.([^.\\s]+)\\s.*");

    private final Map<String, Set<String>> needs;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> path = new ArrayDeque<>();
    private final List<Set<String>> circles = new ArrayList<>();

    private TypeCircles(Map<String, Set<String>> needs) {
        this.needs = needs;
    }

    /**
     * Finds the circles within each package.
     *
     * @param classes directory of compiled classes
     * @return by package, the circles of more than one type; packages without any are there, too
     */
    public static Map<String, List<Set<String>>> byPackage(Path classes) {
        Map<String, Map<String, Set<String>>> needs = new TreeMap<>();
        output(classes).lines().map(NEED::matcher).filter(Matcher::matches).forEach(line -> {
            Map<String, Set<String>> ofPackage = needs.computeIfAbsent(line.group(1), name -> new TreeMap<>());
            String type = outermost(line.group(2));
            Set<String> ofType = ofPackage.computeIfAbsent(type, name -> new TreeSet<>());
            if (line.group(1).equals(line.group(3)) && !type.equals(outermost(line.group(4)))) {
                ofType.add(outermost(line.group(4)));
            }
        });
        Map<String, List<Set<String>>> circles = new TreeMap<>();
        needs.forEach((name, ofPackage) -> circles.put(name, new TypeCircles(ofPackage).find()));
        return circles;
    }

    /**
     * Fails if there is a circle of more types than somebody can have in mind at once.
     *
     * @param classes directory of compiled classes
     */
    public static void assertSmall(Path classes) {
        Map<String, List<Set<String>>> circles = byPackage(classes);
        assertFalse(circles.isEmpty(), classes::toString);
        circles.values().forEach(ofPackage -> ofPackage.removeIf(circle -> circle.size() <= MOST_TYPES));
        circles.values().removeIf(List::isEmpty);
        assertEquals(Map.of(), circles);
    }

    private static String outermost(String type) {
        int nested = type.indexOf('$');
        return nested < 0 ? type : type.substring(0, nested);
    }

    /** What each class file needs, by the tool of the JDK. */
    private static String output(Path classes) {
        StringWriter output = new StringWriter();
        PrintWriter writer = new PrintWriter(output);
        int result = ToolProvider.findFirst("jdeps").orElseThrow()
                .run(writer, writer, "-verbose:class", "-filter:none", classes.toString());
        if (result != 0) {
            throw new IllegalStateException("jdeps has failed: " + output);
        }
        return output.toString();
    }

    private List<Set<String>> find() {
        needs.keySet().forEach(this::visit);
        return circles;
    }

    /** Tarjan's algorithm. */
    private void visit(String type) {
        if (numbers.containsKey(type)) {
            return;
        }
        numbers.put(type, numbers.size());
        lowest.put(type, numbers.get(type));
        path.push(type);
        for (String needed : needs.getOrDefault(type, Set.of())) {
            visit(needed);
            if (path.contains(needed)) {
                lowest.merge(type, lowest.get(needed), Math::min);
            }
        }
        if (lowest.get(type).equals(numbers.get(type))) {
            Set<String> circle = new TreeSet<>();
            do {
                circle.add(path.peek());
            } while (!path.pop().equals(type));
            if (circle.size() > 1) {
                circles.add(circle);
            }
        }
    }
}
