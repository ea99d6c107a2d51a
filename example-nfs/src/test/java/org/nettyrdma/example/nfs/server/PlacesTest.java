package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.example.nfs.LocalNames;

/** On the file system of the machine, which alone has parents of its own. */
class PlacesTest {

    private static final int MAX_PATH_BYTES = 4095;
    private final AtomicInteger reads = new AtomicInteger();
    private final Deque<Path> made = new ArrayDeque<>();
    private Path parent;
    private Path root;
    private Places places;

    @BeforeEach
    void start() throws IOException {
        parent = Files.createTempDirectory("places").toRealPath();
        root = directory(parent.resolve("root"));
        places = new Places(root, new DelegatingStore(new UnixAttributes(root, true)) {
            @Override
            public FileStatus read(Path path) throws IOException {
                reads.incrementAndGet();
                return super.read(path);
            }
        });
    }

    @AfterEach
    void delete() throws IOException {
        while (!made.isEmpty()) {
            Files.deleteIfExists(made.pop());
        }
        Files.delete(parent);
    }

    private Path directory(Path path) throws IOException {
        made.push(Files.createDirectory(path));
        return path;
    }

    /** Far enough for the looks at the parents to be chosen. */
    private Path far(Path path) throws IOException {
        Path far = path;
        for (int i = 0; i < 30; i++) {
            far = directory(far.resolve("d"));
        }
        return far;
    }

    private void link(Path path, Path target) throws IOException {
        made.push(Files.createSymbolicLink(path, target));
    }

    /** As deep as the system allows, where each look at all names on the way would take a second. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "\u00e9"})
    void shouldKnowADeepDirectoryWithFewLooks(String name) throws IOException {
        Path deepest = root;
        int bytes = root.toString().length();
        int nameBytes = 1 + name.getBytes(StandardCharsets.UTF_8).length;
        for (; bytes + nameBytes <= MAX_PATH_BYTES; bytes += nameBytes) {
            deepest = directory(LocalNames.child(deepest, name));
        }
        for (Path at = deepest; at.getNameCount() > deepest.getNameCount() - 5; at = at.getParent()) {
            reads.set(0);
            assertTrue(places.isBelowRoot(at));
            assertTrue(reads.get() < 60, reads + " looks");
        }
        assertTrue(places.isInside(deepest));
    }

    @Test
    void shouldKnowTheRootAndWhatIsBelow() throws IOException {
        assertTrue(places.isInside(root));
        assertTrue(places.isBelowRoot(root));
        assertTrue(places.isInside(directory(root.resolve("a"))));
        assertTrue(places.isBelowRoot(directory(root.resolve("a/b"))));
        assertTrue(places.isInside(far(root.resolve("a/b"))));
        assertFalse(places.isBelowRoot(root.resolve("a/c")));
        assertFalse(places.isInside(root.resolve("b/c/d")));
        assertFalse(places.isBelowRoot(root.resolve("b/c/d")));
        assertFalse(places.isInside(root.resolve("b/".repeat(MAX_PATH_BYTES))));
    }

    @Test
    void shouldNotTakeForInsideWhatALinkLeadsOutTo() throws IOException {
        directory(root.resolve("a"));
        directory(parent.resolve("beside"));
        Path outside = directory(parent.resolve("beside/b"));
        directory(outside.resolve("c"));
        link(root.resolve("a/b"), outside);
        assertFalse(places.isBelowRoot(root.resolve("a/b")));
        assertFalse(places.isBelowRoot(root.resolve("a/b/c")));
        link(root.resolve("up"), parent);
        assertFalse(places.isBelowRoot(root.resolve("up/beside/b/c")));
        assertFalse(places.isBelowRoot(root.resolve("up/root/a"))); // another way to it, and not as many names
        Path far = root.resolve("a/b").resolve(outside.relativize(far(outside)));
        assertFalse(places.isInside(far));
        assertFalse(places.isInside(root.resolve("a/b/c")));
    }

    @Test
    void shouldNotTakeForInsideWhatALinkLeadsOutToHighAboveADeepDirectory() throws IOException {
        Path outside = directory(parent.resolve("beside"));
        link(root.resolve("a"), outside);
        Path deep = root.resolve("a");
        for (int i = 0; i < 1500; i++) {
            deep = directory(deep.resolve("b"));
        }
        assertFalse(places.isInside(deep));
    }

    @Test
    void shouldTakeForInsideWhatALinkLeadsToThere() throws IOException {
        directory(root.resolve("a"));
        directory(root.resolve("a/b"));
        link(root.resolve("l"), root.resolve("a"));
        assertTrue(places.isBelowRoot(root.resolve("l/b")));
        Path far = far(root.resolve("a/b"));
        assertTrue(places.isInside(root.resolve("l").resolve(root.resolve("a").relativize(far))));
    }

    @Test
    void shouldNotFollowALinkThatReplacedTheRoot() throws IOException {
        Path far = far(root);
        Path moved = parent.resolve("moved");
        Files.move(root, moved);
        Files.createSymbolicLink(root, moved);
        try {
            assertFalse(places.isInside(root.resolve("d")));
            assertFalse(places.isInside(far));
        } finally {
            Files.delete(root);
            Files.move(moved, root);
        }
    }
}
