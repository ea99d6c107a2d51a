package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.StableHow;

/** Attempts to get out of the export. Beside it lies a directory with a secret. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class EscapeTest extends NfsTest {

    private Path outside;
    private Path secret;

    EscapeTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @BeforeEach
    void writeSecret() throws IOException {
        outside = Files.createDirectory(root.getParent().resolve("beside"));
        secret = Files.writeString(outside.resolve("secret"), "secret");
    }

    @Test
    void shouldNotFollowALinkToAFile() {
        client.symbolicLink(top, "link", secret.toString()).ok(NfsTestClient.Created::read);
        NfsTestClient.Found link = client.lookup(top, "link");
        assertEquals(FileType.SYMBOLIC_LINK, link.attributes().type());
        assertAttributes(client.readReply(link.handle(), 0, 10), NfsStatus.INVAL);
        assertSharedChanges(client.write(link.handle(), 0, new byte[10], StableHow.UNSTABLE), NfsStatus.INVAL);
        assertChanges(client.setAttributes(link.handle(), Sattr.NONE.withSize(0), null), NfsStatus.INVAL);
        assertChanges(client.create(top, "link", CreateMode.UNCHECKED, Sattr.NONE.withSize(0), 0), NfsStatus.EXIST);
        assertUntouched();
    }

    @Test
    void shouldNotFollowALinkToADirectory() {
        client.symbolicLink(top, "link", outside.toString()).ok(NfsTestClient.Created::read);
        FileHandle link = client.lookup(top, "link").handle();
        assertAttributes(client.call(NfsProcedure.LOOKUP, NfsTestClient.name(link, "secret")), NfsStatus.NOTDIR);
        assertAttributes(client.readDirectoryReply(link, 0, 0, 4096), NfsStatus.NOTDIR);
        assertChanges(client.create(link, "file", CreateMode.GUARDED, Sattr.NONE, 0), NfsStatus.NOTDIR);
        assertChanges(client.remove(link, "secret"), NfsStatus.NOTDIR);
        assertChanges(client.makeDirectoryReply(link, "x", Sattr.NONE), NfsStatus.NOTDIR);
        assertUntouched();
    }

    @Test
    void shouldNotWalkUp() {
        for (String name : List.of("../beside", "..\0", "../beside/secret", "/etc", secret.toString())) {
            assertNotEquals(NfsStatus.OK, client.call(NfsProcedure.LOOKUP, NfsTestClient.name(top, name)).status());
            assertNotEquals(NfsStatus.OK, client.remove(top, name).status());
            assertNotEquals(NfsStatus.OK, client.makeDirectoryReply(top, name, Sattr.NONE).status());
            assertNotEquals(NfsStatus.OK, client.rename(top, name, top, "x").status());
        }
        assertEquals(top, client.lookup(client.lookup(top, "..").handle(), "..").handle());
        assertEquals(2, client.readDirectory(top, 0, 0, 4096).entries().size());
        assertEquals(client.attributes(top).fileId(), client.readDirectory(top, 0, 0, 4096).entries().get(1).fileId());
        assertUntouched();
    }

    @Test
    void shouldNotFollowALinkThatReplacedADirectory() throws IOException {
        FileHandle directory = client.makeDirectory(top, "directory");
        FileHandle file = client.create(directory, "secret", "mine");
        // The same file is now reached through a link, from outside of the export.
        Files.move(root.resolve("directory"), outside.resolve("moved"), StandardCopyOption.ATOMIC_MOVE);
        Files.createSymbolicLink(root.resolve("directory"), outside.resolve("moved"));
        assertNotEquals(NfsStatus.OK, client.readReply(file, 0, 10).status());
        assertNotEquals(NfsStatus.OK, client.readDirectoryReply(directory, 0, 0, 4096).status());
        assertNotEquals(NfsStatus.OK, client.create(directory, "x", CreateMode.GUARDED, Sattr.NONE, 0).status());
        assertNotEquals(NfsStatus.OK, client.remove(directory, "secret").status());
        assertEquals("mine", Files.readString(outside.resolve("moved/secret")));
        assertFalse(Files.exists(outside.resolve("moved/x")));
    }

    /** One client swaps a directory and a link for each other while another reads and writes through that name. */
    @Test
    void shouldNotLoseARaceAgainstAnotherClient() throws Exception {
        FileHandle directory = client.makeDirectory(top, "directory");
        FileHandle mine = client.create(directory, "secret", "mine");
        client.symbolicLink(top, "link", outside.toString()).ok(NfsTestClient.Created::read);
        NfsTestClient attacker = as(NfsTestClient.user(USER));
        AtomicBoolean stop = new AtomicBoolean();
        Thread swapper = new Thread(() -> {
            while (!stop.get()) {
                attacker.rename(top, "directory", top, "aside");
                attacker.rename(top, "link", top, "directory");
                attacker.rename(top, "directory", top, "link");
                attacker.rename(top, "aside", top, "directory");
            }
        });
        swapper.start();
        try {
            for (int i = 0; i < 300; i++) {
                NfsTestClient.Reply reply = client.call(NfsProcedure.LOOKUP, NfsTestClient.name(directory, "secret"));
                if (reply.status() == NfsStatus.OK) {
                    assertEquals(mine, reply.ok(NfsTestClient.Found::read).handle());
                }
                client.create(directory, "new", CreateMode.UNCHECKED, Sattr.NONE, 0);
                client.remove(directory, "new");
                assertEquals("mine", client.read(mine));
            }
        } finally {
            stop.set(true);
            swapper.join();
        }
        assertUntouched();
    }

    private void assertUntouched() {
        try {
            assertEquals("secret", Files.readString(secret));
            try (var entries = Files.list(outside)) {
                assertTrue(entries.allMatch(secret::equals));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
