package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.example.nfs.protocol.AccessArguments;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DeviceNumber;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.LinkArguments;
import org.nettyrdma.example.nfs.protocol.MakeDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.MakeNodeArguments;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.ReadArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryPlusArguments;
import org.nettyrdma.example.nfs.protocol.RenameArguments;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.SetAttributesArguments;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.SymbolicLinkArguments;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.protocol.WireForm;
import org.nettyrdma.example.nfs.protocol.WriteArguments;

/** What holds for all procedures alike: arguments, repeated calls, callers, read-only exports, statistics, threads. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class NfsProgramTest extends NfsTest {

    NfsProgramTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private int acceptStatus(NfsProcedure procedure, WireForm arguments) {
        client.send(7, Nfs.PROGRAM, Nfs.VERSION, procedure.number(), arguments);
        return client.reply().body().getInt(20);
    }

    /** Arguments that are well-formed for some procedures, and a prefix of those of others. */
    private WireForm arguments(NfsProcedure procedure, FileHandle file) {
        return arguments(procedure, file, top);
    }

    private static WireForm arguments(NfsProcedure procedure, FileHandle file, FileHandle directory) {
        DirectoryOperationArguments name = new DirectoryOperationArguments(directory, "name");
        return switch (procedure) {
            case NULL -> out -> { };
            case GETATTR, READLINK, FSSTAT, FSINFO, PATHCONF -> file;
            case SETATTR -> new SetAttributesArguments(file, Sattr.NONE, null);
            case LOOKUP, REMOVE, RMDIR -> name;
            case ACCESS -> new AccessArguments(file, 0x3F);
            case READ -> new ReadArguments(file, 0, 10);
            case WRITE -> new WriteArguments(file, 0, 2, StableHow.UNSTABLE, Unpooled.wrappedBuffer(new byte[2]));
            case CREATE -> new CreateArguments(name, CreateMode.GUARDED, Sattr.NONE, 0);
            case MKDIR -> new MakeDirectoryArguments(name, Sattr.NONE);
            case SYMLINK -> new SymbolicLinkArguments(name, Sattr.NONE, "x");
            case MKNOD -> new MakeNodeArguments(name, FileType.FIFO, Sattr.NONE,
                    DeviceNumber.NONE);
            case RENAME -> new RenameArguments(name, new DirectoryOperationArguments(directory, "other"));
            case LINK -> new LinkArguments(file, name);
            case READDIR -> new ReadDirectoryArguments(directory, 0, 0, 4096);
            case READDIRPLUS ->
                    new ReadDirectoryPlusArguments(directory, 0, 0, 4096, 4096);
            case COMMIT -> new CommitArguments(file, 0, 0);
        };
    }

    private static byte[] bytes(WireForm arguments) {
        ByteBuf out = Unpooled.buffer();
        arguments.write(out);
        return ByteBufUtil.getBytes(out);
    }

    @Test
    void shouldAnswerNull() {
        client.send(7, Nfs.PROGRAM, Nfs.VERSION, 0, out -> { });
        assertEquals(24, client.reply().body().readableBytes());
    }

    @Test
    void shouldRefuseProceduresThatDoNotExist() {
        client.send(7, Nfs.PROGRAM, Nfs.VERSION, 22, out -> { });
        assertEquals(3, client.reply().body().getInt(20), "PROC_UNAVAIL");
    }

    @Test
    void shouldAnswerGarbageArgumentsToEveryTruncation() {
        FileHandle file = client.create(top, "file");
        for (NfsProcedure procedure : NfsProcedure.values()) {
            byte[] whole = bytes(arguments(procedure, file));
            for (int length = 0; length < whole.length; length += 4) {
                int end = length;
                assertEquals(4, acceptStatus(procedure, out -> out.writeBytes(whole, 0, end)), procedure + " " + length);
            }
            assertEquals(0, acceptStatus(procedure, out -> out.writeBytes(whole)));
        }
    }

    /** A client cannot parse it without, and would not learn why the call has failed. */
    @Test
    void shouldKeepToTheFormOfEachFailureWhereTheHandleHasNoFile() {
        FileHandle tooShort = new FileHandle(new byte[8]);
        for (NfsProcedure procedure : NfsProcedure.values()) {
            int bytes = switch (procedure) {
                case NULL, GETATTR -> 0;
                case LOOKUP, ACCESS, READLINK, READ, READDIR, READDIRPLUS, FSSTAT, FSINFO, PATHCONF -> 4;
                case SETATTR, WRITE, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, COMMIT -> 8;
                case LINK -> 12;
                case RENAME -> 16;
            };
            if (procedure != NfsProcedure.NULL) {
                ByteBuf failure = client.call(procedure, arguments(procedure, tooShort, tooShort)).expect(NfsStatus.BADHANDLE);
                assertEquals(Unpooled.wrappedBuffer(new byte[bytes]), failure, procedure::toString);
            }
        }
    }

    @Test
    void shouldRefuseNamesThatTheFileSystemCannotHave() {
        boolean isText = fileSystem == TestFileSystem.MEMORY;
        assertAttributes(client.call(NfsProcedure.LOOKUP, out -> {
            top.write(out);
            out.writeInt(2).writeBytes(new byte[] {(byte) 0xC3, 0x28, 0, 0});
        }), isText ? NfsStatus.ACCES : NfsStatus.NOENT);
    }

    /**
     * To chown(2) this number says that an owner stays as it is: the file would stay root's, with the mode that was asked for.
     */
    @Test
    void shouldRefuseCallersWithTheNumberThatIsNobodys() throws IOException {
        for (Squash squash : Squash.values()) {
            restart(export().withSquash(squash), options());
            top = client.mount("/");
            for (AuthSys nobody : List.of(NfsTestClient.user(-1), new AuthSys(0, "client", USER, -1, List.of()),
                    NfsTestClient.user(USER, USER, -1))) {
                NfsTestClient stranger = as(nobody);
                stranger.send(7, Nfs.PROGRAM, Nfs.VERSION, NfsProcedure.CREATE.number(), new CreateArguments(
                        new DirectoryOperationArguments(top, "file"), CreateMode.GUARDED, Sattr.NONE.withMode(06777), 0));
                assertEquals(1, stranger.reply().body().getInt(16), "AUTH_BADCRED");
                assertFalse(Files.exists(root.resolve("file")));
            }
        }
    }

    @Test
    void shouldRefuseAnAnonymousUserThatIsNobody() {
        assertThrows(IllegalArgumentException.class, () -> export().withAnonymous(-1, 1));
        assertThrows(IllegalArgumentException.class, () -> export().withAnonymous(1, -1));
        assertThrows(IllegalArgumentException.class, () -> export().withAnonymous(1, 1, List.of(1, -1)));
    }

    @Test
    void shouldExecuteARepeatedCallOnce() {
        DirectoryOperationArguments name = new DirectoryOperationArguments(top, "file");
        WireForm create = new CreateArguments(name, CreateMode.GUARDED, Sattr.NONE.withMode(0644), 0);
        NfsTestClient.Created first = client.call(1000, NfsProcedure.CREATE, create).ok(NfsTestClient.Created::read);
        NfsTestClient reconnected = as(NfsTestClient.user(USER));
        assertEquals(first, reconnected.call(1000, NfsProcedure.CREATE, create).ok(NfsTestClient.Created::read));
        assertChanges(reconnected.call(1001, NfsProcedure.CREATE, create), NfsStatus.EXIST);

        WireForm rename = new RenameArguments(name, new DirectoryOperationArguments(top, "other"));
        NfsTestClient.Reply renamed = client.call(1002, NfsProcedure.RENAME, rename);
        assertEquals(NfsStatus.OK, renamed.status());
        assertEquals(renamed.body(), reconnected.call(1002, NfsProcedure.RENAME, rename).body());

        WireForm link = new LinkArguments(first.handle(), name);
        assertEquals(NfsStatus.OK, client.call(1003, NfsProcedure.LINK, link).status());
        assertEquals(NfsStatus.OK, reconnected.call(1003, NfsProcedure.LINK, link).status());
        assertEquals(2, client.attributes(first.handle()).linkCount());

        assertChanges(client.call(1004, NfsProcedure.REMOVE, name), NfsStatus.OK);
        assertChanges(reconnected.call(1004, NfsProcedure.REMOVE, name), NfsStatus.OK);
        assertChanges(reconnected.call(1005, NfsProcedure.REMOVE, name), NfsStatus.NOENT);
        NfsTestClient somebodyElse = as(NfsTestClient.user(OTHER_USER));
        assertChanges(somebodyElse.call(1004, NfsProcedure.REMOVE, name), NfsStatus.NOENT);
    }

    @Test
    void shouldRefuseChangesToAReadOnlyExport() throws IOException {
        FileHandle file = client.create(top, "file", "hello");
        client.makeDirectory(top, "directory");
        restart(export().withReadOnly(true), options());
        top = client.mount("/");
        file = client.lookup(top, "file").handle();
        assertEquals("hello", client.read(file));
        for (NfsProcedure procedure : NfsProcedure.values()) {
            if (procedure == NfsProcedure.NULL) {
                continue;
            }
            NfsStatus status = client.call(procedure, arguments(procedure, file)).status();
            boolean changes = switch (procedure) {
                case SETATTR, WRITE, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK -> true;
                default -> false;
            };
            assertEquals(changes, status == NfsStatus.ROFS, procedure + ": " + status);
        }
        int access = client.call(NfsProcedure.ACCESS, arguments(NfsProcedure.ACCESS, file)).ok(in -> {
            Fattr.readOptional(in);
            return in.readInt();
        });
        assertEquals(1, access, "read only");
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldServeRootAsAnonymousByDefault() {
        assumeFilesCanBeGivenAway();
        NfsTestClient rootUser = as(NfsTestClient.user(0, 0, 0));
        FileHandle file = rootUser.create(top, "file");
        assertEquals(Export.ANONYMOUS_ID, client.attributes(file).userId());
        assertEquals(Export.ANONYMOUS_ID, client.attributes(file).groupId());
        FileHandle mine = client.create(top, "mine");
        client.mode(mine, 0600);
        assertAttributes(rootUser.readReply(mine, 0, 1), NfsStatus.ACCES);
    }

    @Test
    void shouldServeRootAsRootWhenToldSo() throws IOException {
        assumeFilesCanBeGivenAway();
        restart(export().withSquash(Squash.NONE), options());
        top = client.mount("/");
        FileHandle mine = client.create(top, "mine", "mine");
        client.mode(mine, 0);
        NfsTestClient rootUser = as(NfsTestClient.user(0));
        assertEquals("mine", rootUser.read(mine));
        assertEquals(0, rootUser.attributes(rootUser.create(top, "file")).userId());
    }

    @Test
    void shouldServeEverybodyAsAnonymousWhenToldSo() throws IOException {
        assumeFilesCanBeGivenAway();
        restart(export().withSquash(Squash.ALL).withAnonymous(4711, 4712), options());
        Fattr attributes = client.attributes(client.create(client.mount("/"), "file"));
        assertEquals(4711, attributes.userId());
        assertEquals(4712, attributes.groupId());
    }

    @Test
    void shouldGiveTheAnonymousUserFurtherGroups() throws IOException {
        assumeFilesCanBeGivenAway();
        restart(export().withSquash(Squash.NONE), options());
        NfsTestClient rootUser = as(NfsTestClient.user(0));
        FileHandle shared = rootUser.create(client.mount("/"), "shared", "hello");
        rootUser.setAttributes(shared, Sattr.NONE.withOwner(0, 4713).withMode(0640), null).ok(WccData::read);
        restart(export().withSquash(Squash.ALL).withAnonymous(4711, 4712), options());
        assertAttributes(client.readReply(client.lookup(client.mount("/"), "shared").handle(), 0, 5), NfsStatus.ACCES);
        restart(export().withSquash(Squash.ALL).withAnonymous(4711, 4712, List.of(4713)), options());
        assertEquals("hello", client.read(client.lookup(client.mount("/"), "shared").handle()));
        FileHandle own = client.create(client.mount("/"), "own");
        client.setAttributes(own, Sattr.NONE.withOwner(4711, 4713), null).ok(WccData::read);
        assertEquals(NfsStatus.PERM, client.setAttributes(own, Sattr.NONE.withOwner(4711, 4714), null).status());
        assertEquals(4713, client.attributes(own).groupId());
    }

    @Test
    void shouldServeCallersWithoutIdentityAsAnonymous() {
        assumeFilesCanBeGivenAway();
        FileHandle file = as(null).create(top, "file");
        assertEquals(Export.ANONYMOUS_ID, client.attributes(file).userId());
    }

    @Test
    void shouldUseAllGroupsOfTheCaller() {
        assumeFilesCanBeGivenAway();
        FileHandle file = client.create(top, "file", "hello");
        client.mode(file, 0640);
        assertAttributes(as(NfsTestClient.user(OTHER_USER)).readReply(file, 0, 5), NfsStatus.ACCES);
        assertEquals("hello", as(NfsTestClient.user(OTHER_USER, 5, 6, USER)).read(file));
    }

    @Test
    void shouldRefuseCredentialsThatItDoesNotKnow() {
        OpaqueAuth gss = new OpaqueAuth(6, new byte[8]);
        OpaqueAuth malformed = new OpaqueAuth(1, new byte[3]);
        for (OpaqueAuth credential : List.of(gss, malformed)) {
            NfsTestClient stranger = new NfsTestClient(service, credential);
            stranger.send(7, Nfs.PROGRAM, Nfs.VERSION, NfsProcedure.GETATTR.number(), top);
            ByteBuf reply = stranger.reply().body();
            assertEquals(1, reply.getInt(8), "MSG_DENIED");
            assertEquals(1, reply.getInt(12), "AUTH_ERROR");
            assertEquals(1, reply.getInt(16), "AUTH_BADCRED");
            stranger.send(8, Nfs.PROGRAM, Nfs.VERSION, 0, out -> { });
            assertEquals(0, stranger.reply().body().getInt(8), "NULL is for everybody");
            stranger.close();
        }
    }

    @Test
    void shouldCountCalls() {
        FileHandle file = client.create(top, "file", "hello");
        client.read(file);
        client.read(file);
        client.readReply(top, 0, 1);
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        service.statistics().bindTo(registry);
        FunctionTimer reads = registry.get("nfs.server.calls").tag("procedure", "READ").functionTimer();
        assertEquals(3, reads.count());
        assertTrue(reads.totalTime(TimeUnit.NANOSECONDS) > 0);
        assertEquals(1, registry.get("nfs.server.errors").tag("procedure", "READ").functionCounter().count());
        assertEquals(2 * (104 + 8) + 4 + 88,
                registry.get("nfs.server.results").tag("procedure", "READ").functionCounter().count());
        assertEquals(NfsProcedure.values().length, registry.get("nfs.server.calls").functionTimers().size());
    }

    @Test
    void shouldServeSeveralConnectionsAtOnce() throws Exception {
        int threads = 4;
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        List<Future<?>> results = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            NfsTestClient own = as(NfsTestClient.user(USER));
            String prefix = "thread" + i + '-';
            results.add(executor.submit(() -> work(own, prefix)));
        }
        for (Future<?> result : results) {
            result.get();
        }
        executor.shutdown();
        assertEquals(2, client.readDirectory(top, 0, 0, 65536).entries().size());
    }

    private void work(NfsTestClient own, String prefix) {
        for (int i = 0; i < 30; i++) {
            FileHandle directory = own.makeDirectory(top, prefix + i);
            FileHandle file = own.create(directory, "file", prefix + i);
            assertEquals(NfsStatus.OK, own.rename(directory, "file", top, prefix + "file").status());
            assertEquals(prefix + i, own.read(file));
            assertTrue(own.readDirectory(top, 0, 0, 65536).names().contains(prefix + "file"));
            own.remove(top, prefix + "file").ok(WccData::read);
            own.removeDirectory(top, prefix + i).ok(WccData::read);
            assertFalse(own.exists(top, prefix + i));
        }
    }

    @Test
    void shouldTellWhichVersionItSpeaks() {
        client.send(5, Nfs.PROGRAM, 2, 1, out -> { });
        ByteBuf reply = client.reply().body();
        assertEquals(2, reply.getInt(20), "PROG_MISMATCH");
        assertEquals(3, reply.getInt(24));
        assertEquals(3, reply.getInt(28));
    }
}
