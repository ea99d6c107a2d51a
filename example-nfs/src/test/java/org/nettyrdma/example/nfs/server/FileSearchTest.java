package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.StableHow;

/** What others do while the server looks for {@code a/b/c/file}, whose handle was given out before a restart. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FileSearchTest extends NfsTest {

    private final FileHandles handles = new FileHandles(new byte[FileHandles.KEY_BYTES]);
    private AttributeStore store;
    private OpenFiles openFiles;
    private RpcProgram[] programs;
    private FileHandle file;
    private final List<FutureTask<NfsStatus>> tasks = new ArrayList<>();
    private volatile String placeName;
    private volatile OpenFileTest.Incident atPlace;

    FileSearchTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @BeforeEach
    void serveTree() throws IOException {
        FileHandle directory = top;
        for (String name : new String[] {"a", "b", "c"}) {
            directory = client.makeDirectory(directory, name);
        }
        client.create(directory, "file", "hello");
        store = new DelegatingStore(NfsService.attributeStore(root, export())) {
            @Override
            public FileStatus read(Path path) throws IOException {
                OpenFileTest.Incident incident = atPlace;
                if (incident != null && path.endsWith(placeName)) {
                    atPlace = null;
                    incident.happen();
                }
                return super.read(path);
            }
        };
        file = handles.handleOf(store.read(root.resolve("a/b/c/file")).id());
        FileTree tree = newTree(store);
        WriteVerifier verifier = new WriteVerifier();
        openFiles = new OpenFiles(tree, verifier, 8, TimeUnit.HOURS.toMillis(1));
        programs = newPrograms(tree, openFiles, verifier, options());
        client = another();
        top = client.mount("/");
    }

    @AfterEach
    void endTasksAndCloseFiles() {
        tasks.forEach(FileSearchTest::end); // else a client could be closed before it has read its reply
        openFiles.close();
    }

    private NfsTestClient another() {
        return closeAtTheEnd(new NfsTestClient(NfsTestClient.user(USER).toOpaqueAuth(), programs));
    }

    private void when(String name, OpenFileTest.Incident incident) {
        placeName = name;
        atPlace = incident;
    }

    private FutureTask<NfsStatus> begin(Function<NfsTestClient, NfsTestClient.Reply> call) {
        NfsTestClient caller = another();
        FutureTask<NfsStatus> task = new FutureTask<>(() -> call.apply(caller).status());
        tasks.add(task);
        Thread thread = new Thread(task);
        thread.start();
        OpenFileTest.awaitWaiting(thread, task);
        return task;
    }

    private static NfsStatus end(FutureTask<NfsStatus> task) {
        try {
            return task.get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("still waiting while the search goes on", e);
        }
    }

    private static Function<NfsTestClient, NfsTestClient.Reply> attributesOf(FileHandle handle) {
        return caller -> caller.call(NfsProcedure.GETATTR, handle);
    }

    private FileHandle directory(String... names) {
        FileHandle directory = top;
        for (String name : names) {
            directory = client.lookup(directory, name).handle();
        }
        return directory;
    }

    /** The walk looks at 1000 names. */
    @Test
    void shouldFindAFileBesideADirectoryOfMoreNamesThanASearchLooksAt() throws IOException {
        Path large = Files.createDirectory(root.resolve("large"));
        for (int i = 0; i < 2000; i++) {
            Files.createFile(large.resolve("name" + i));
        }
        assertEquals(NfsStatus.OK, attributesOf(file).apply(client).status());
    }

    /** Of the names that are not looked at first. */
    @Test
    void shouldFindAFileInALargeDirectory() throws IOException {
        for (int i = 0; i < 600; i++) {
            Files.createFile(root.resolve("a/b/c/name" + i));
        }
        FileHandle handle;
        try (Stream<Path> paths = Files.list(root.resolve("a/b/c"))) {
            handle = handles.handleOf(store.read(paths.skip(600).findFirst().orElseThrow()).id());
        }
        assertEquals(NfsStatus.OK, attributesOf(handle).apply(client).status());
    }

    /** Begins when the walk comes by "a", and waits for the end when it is at "b". */
    @Test
    void shouldLetOthersChangeNamesDuringASearch() {
        boolean[] wasThere = new boolean[1];
        when("a", () -> {
            FutureTask<NfsStatus> creation = begin(caller -> caller.makeDirectoryReply(top, "new", Sattr.NONE));
            when("b", () -> {
                assertEquals(NfsStatus.OK, end(creation));
                wasThere[0] = true;
            });
        });
        assertEquals("hello", client.read(file));
        assertTrue(wasThere[0]);
    }

    @Test
    void shouldFindAFileWhoseDirectoryIsMovedToWhereTheSearchHasBeen() {
        FileHandle b = directory("a", "b");
        when("a", () -> begin(caller -> caller.rename(b, "c", top, "moved")));
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldFindAFileThatIsMovedToWhereTheSearchHasBeen() {
        FileHandle c = directory("a", "b", "c");
        when("a", () -> begin(caller -> caller.rename(c, "file", top, "moved")));
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldFindAFileBelowADirectoryThatIsRenamedDuringTheSearch() {
        when("a", () -> begin(caller -> caller.rename(top, "a", top, "renamed")));
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldLetOthersComeAgainThatNeedALongSearch() throws IOException {
        FileHandle other = handles.handleOf(store.read(root.resolve("a/b")).id());
        NfsStatus[] status = new NfsStatus[1];
        when("a", () -> status[0] = end(begin(attributesOf(other))));
        assertEquals("hello", client.read(file));
        assertEquals(NfsStatus.JUKEBOX, status[0]);
        assertEquals(NfsStatus.OK, attributesOf(other).apply(client).status(), "the search has come by");
    }

    /** What waits for the lock of the contents waits on a thread, too. */
    @Test
    void shouldHoldNoLockOfTheContentsDuringASearch() {
        NfsStatus[] status = new NfsStatus[1];
        when("a", () -> status[0] = end(begin(caller -> caller.write(file, 0, new byte[] {1}, StableHow.UNSTABLE))));
        client.setAttributes(file, Sattr.NONE.withMode(0640), null).expect(NfsStatus.OK);
        assertEquals(NfsStatus.JUKEBOX, status[0]);
    }
}
