package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.server.OpenFileTest.Incident;

/** Which files and directories are forced before a reply, on the file system of the operating system. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StableNamesTest extends NfsTest {

    private final List<String> forced = Collections.synchronizedList(new ArrayList<>());
    private final AtomicReference<Incident> atForce = new AtomicReference<>();
    private String unreadable;
    private OpenFiles openFiles;
    private RpcProgram[] programs;

    StableNamesTest() {
        super(TestFileSystem.DIRECTORY);
    }

    @BeforeEach
    void serve() throws IOException {
        serve(NfsServiceOptions.DEFAULTS);
    }

    private void serve(NfsServiceOptions options) throws IOException {
        FileTree tree = newTree();
        WriteVerifier verifier = new WriteVerifier();
        openFiles = new OpenFiles(tree, verifier, 8, TimeUnit.HOURS.toMillis(1), new Recorder());
        programs = newPrograms(tree, openFiles, verifier, options);
        client = another();
        top = client.mount("/");
        forced.clear();
    }

    private NfsTestClient another() {
        return closeAtTheEnd(new NfsTestClient(NfsTestClient.user(USER).toOpaqueAuth(), programs));
    }

    private final class Recorder implements OpenFiles.Opener {

        @Override
        public FileChannel open(Path path, OpenOption how) throws IOException {
            if (root.relativize(path).toString().equals(unreadable)) {
                throw new AccessDeniedException(path.toString());
            }
            return recorded(path, FileChannel.open(path, how, LinkOption.NOFOLLOW_LINKS));
        }

        @Override
        public FileChannel create(Path path, FileAttribute<?>... attributes) throws IOException {
            return recorded(path, OpenFiles.Opener.super.create(path, attributes));
        }

        private FileChannel recorded(Path path, FileChannel channel) {
            String name = root.relativize(path).toString();
            return new DelegatingChannel(channel) {
                @Override
                public void force(boolean metaData) throws IOException {
                    OpenFileTest.once(atForce);
                    super.force(metaData);
                    assertTrue(metaData);
                    forced.add(name);
                }
            };
        }
    }

    @AfterEach
    void closeFiles() {
        openFiles.close();
    }

    /** What was forced since this was asked last. */
    private List<String> forced() {
        synchronized (forced) {
            List<String> names = List.copyOf(forced);
            forced.clear();
            return names;
        }
    }

    @Test
    void shouldForceTheDirectoryOfWhatIsMadeAndRemoved() {
        FileHandle directory = client.makeDirectory(top, "d");
        assertEquals(List.of("d", ""), forced());
        FileHandle file = client.create(directory, "f");
        assertEquals(List.of("d/f", "d"), forced());
        client.symbolicLink(directory, "s", "target").expect(NfsStatus.OK);
        assertEquals(List.of("d"), forced());
        client.link(file, directory, "l").expect(NfsStatus.OK);
        assertEquals(List.of("d/f", "d"), forced());
        for (String name : List.of("f", "l", "s")) {
            client.remove(directory, name).expect(NfsStatus.OK);
            assertEquals(List.of("d"), forced());
        }
        client.removeDirectory(top, "d").expect(NfsStatus.OK);
        assertEquals(List.of(""), forced());
    }

    @Test
    void shouldForceBothDirectoriesOfRename() {
        client.create(top, "f");
        FileHandle directory = client.makeDirectory(top, "d");
        forced();
        client.rename(top, "f", top, "g").expect(NfsStatus.OK);
        assertEquals(List.of(""), forced());
        client.rename(top, "g", directory, "h").expect(NfsStatus.OK);
        assertEquals(List.of("d", ""), forced());
    }

    @Test
    void shouldForceWhatGetsOtherAttributes() {
        FileHandle file = client.create(top, "f");
        FileHandle directory = client.makeDirectory(top, "d");
        forced();
        client.mode(file, 0);
        assertEquals(List.of("f"), forced());
        client.mode(directory, 0700);
        assertEquals(List.of("d"), forced());
        client.setAttributes(file, Sattr.NONE.withMode(0600).withSize(10_000), null).expect(NfsStatus.OK);
        assertEquals(List.of("f"), forced());
    }

    @Test
    void shouldForceAFileThatIsCreatedWithASize() {
        client.create(top, "f", CreateMode.UNCHECKED, Sattr.NONE.withSize(10_000), 0).expect(NfsStatus.OK);
        assertTrue(forced().containsAll(List.of("f", "")));
        client.create(top, "f", CreateMode.UNCHECKED, Sattr.NONE.withSize(0), 0).expect(NfsStatus.OK);
        assertEquals(List.of("f", ""), forced());
    }

    /** A server that was killed may have made the file. */
    @ParameterizedTest
    @EnumSource(value = CreateMode.class, names = "GUARDED", mode = EnumSource.Mode.EXCLUDE)
    void shouldForceFileAndDirectoryWhenACallIsRepeated(CreateMode mode) {
        client.create(top, "f", mode, Sattr.NONE, 7).expect(NfsStatus.OK);
        forced();
        client.create(top, "f", mode, Sattr.NONE, 7).expect(NfsStatus.OK);
        assertEquals(List.of("f", ""), forced());
    }

    /** To open it may take until another process gives back its lease. */
    @Test
    void shouldNotOpenAFileThatTheCallerMayNotRead() {
        FileHandle directory = client.makeDirectory(top, "d");
        client.mode(directory, 0777);
        FileHandle file = client.create(directory, "f");
        client.mode(file, 0600);
        forced();
        NfsTestClient other = closeAtTheEnd(new NfsTestClient(NfsTestClient.user(OTHER_USER).toOpaqueAuth(), programs));
        other.link(file, directory, "l").expect(NfsStatus.OK);
        other.create(directory, "f", CreateMode.UNCHECKED, Sattr.NONE, 0).expect(NfsStatus.OK);
        assertEquals(List.of("d", "d"), forced());
    }

    @Test
    void shouldForceNothingThatIsRefused() {
        client.create(top, "f");
        forced();
        client.create(top, "f", CreateMode.GUARDED, Sattr.NONE, 0).expect(NfsStatus.EXIST);
        client.makeDirectoryReply(top, "f", Sattr.NONE).expect(NfsStatus.EXIST);
        client.remove(top, "g").expect(NfsStatus.NOENT);
        client.setAttributes(top, Sattr.NONE.withMode(0777), new NfsTime(1, 2)).expect(NfsStatus.NOT_SYNC);
        assertEquals(List.of(), forced());
    }

    @Test
    void shouldForceNoNamesWhenAsync() throws IOException {
        openFiles.close();
        serve(NfsServiceOptions.DEFAULTS.withAsync(true));
        FileHandle file = client.create(top, "f");
        client.mode(file, 0600);
        client.rename(top, "f", top, "g").expect(NfsStatus.OK);
        client.remove(top, "g").expect(NfsStatus.OK);
        assertEquals(List.of(), forced());
    }

    @Test
    void shouldTellThatTheDiskFails() {
        String error = "Input/output error";
        // What others have changed meanwhile is not to be taken for the client's.
        assertNoChanges(whileForceFails(error, () -> client.makeDirectoryReply(top, "d", Sattr.NONE)), NfsStatus.IO);
        assertNoChanges(whileForceFails(error, () -> client.removeDirectory(top, "d")), NfsStatus.IO);
    }

    /** The client would be told that somebody else has done it. */
    @Test
    void shouldNotHaveACallRepeatedThatHasChangedNames() {
        client.makeDirectory(top, "d");
        assertNoChanges(whileForceFails("Cannot allocate memory", () -> client.removeDirectory(top, "d")), NfsStatus.IO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Invalid argument", "Operation not supported"})
    void shouldNotMindAFileSystemThatCannotForceDirectories(String text) {
        client.makeDirectory(top, "d");
        whileForceFails(text, () -> client.removeDirectory(top, "d")).expect(NfsStatus.OK);
    }

    private NfsTestClient.Reply whileForceFails(String text, Supplier<NfsTestClient.Reply> call) {
        atForce.set(() -> {
            throw new IOException(text);
        });
        NfsTestClient.Reply reply = call.get();
        assertNull(atForce.get(), "forced");
        return reply;
    }

    @Test
    void shouldServeNamesWhileTheDiskWorks() throws Exception {
        CountDownLatch forcing = new CountDownLatch(1);
        CountDownLatch mayForce = new CountDownLatch(1);
        FileHandle directory = client.makeDirectory(top, "d");
        atForce.set(() -> {
            forcing.countDown();
            OpenFileTest.await(mayForce);
        });
        NfsTestClient caller = another();
        FutureTask<NfsStatus> slow = new FutureTask<>(
                () -> caller.create(directory, "f", CreateMode.GUARDED, Sattr.NONE, 0).status());
        new Thread(slow).start();
        OpenFileTest.await(forcing);
        client.create(top, "f");
        client.rename(directory, "f", top, "g").expect(NfsStatus.OK);
        assertFalse(slow.isDone());
        mayForce.countDown();
        assertEquals(NfsStatus.OK, slow.get(OpenFileTest.GIVE_UP_NANOS, TimeUnit.NANOSECONDS));
    }

    @Test
    void shouldChangeADirectoryThatThisProcessMayNotRead() {
        FileHandle directory = client.makeDirectory(top, "d");
        openFiles.close();
        forced();
        unreadable = "d";
        client.create(directory, "f");
        assertEquals(List.of("d/f"), forced());
    }
}
