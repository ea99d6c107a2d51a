package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.protocol.ExportEntry;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountResult;
import org.nettyrdma.example.nfs.protocol.MountStatus;

/** What a server says that has MOUNT and nothing else, as the kernel's server says it of its exports. */
class MountRefusalTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "390003 | sec=krb5", "390004,390005 | sec=krb5i, sec=krb5p", "6,-1 | flavor 6, flavor 4294967295"})
    void shouldSayWhichAuthenticationAServerWants(String flavors, String words) {
        assertEquals("cannot mount /: the server takes calls by " + words + " only, and this client makes them by sec=sys",
                failure(new Mountd(MountStatus.OK, flavors(flavors))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "1", "390003,1", "390003,0"})
    void shouldMountWhereAServerTakesWhatItHas(String flavors) {
        String message = failure(new Mountd(MountStatus.OK, flavors(flavors)));
        assertTrue(message.startsWith("Call of program 100003 "), message);
    }

    @Test
    void shouldNotTakeARefusalOfAHostForOneOfAUser() {
        assertEquals("cannot mount /: permission denied to this host, to ports above 1023, or to this user (MNT3ERR_ACCES)",
                failure(new Mountd(MountStatus.ACCES, List.of())));
    }

    /** A client's end must not wait long for a list that is for people to look at. */
    @ParameterizedTest
    @CsvSource({"390003,false", "0,false", "0,true"})
    void shouldWaitForASecondWhereAServerDoesNotSayThatItHasUnmounted(int flavor, boolean atAnotherPort) {
        AtomicLong calledNanos = new AtomicLong();
        Mountd mountd = new Mountd(MountStatus.OK, List.of(flavor), calledNanos);
        try (ProgramServer server = new ProgramServer(Transport.TCP, mountd)) {
            NfsClientOptions options = new NfsClientOptions();
            failure(server, atAnotherPort ? options.setMountPort(server.endpoint("/").port()) : options);
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - calledNanos.get());
            // a second for the connection and the answer, and less than the two for each of before
            assertTrue((millis > 500 || atAnotherPort) && millis < (atAnotherPort ? 3500 : 1900), millis + " ms");
        }
    }

    private static String failure(Mountd mountd) {
        try (ProgramServer server = new ProgramServer(Transport.TCP, mountd)) {
            return failure(server, new NfsClientOptions());
        }
    }

    /** Behind MOUNT there is no NFS, so a client always fails. */
    private static String failure(ProgramServer server, NfsClientOptions options) {
        NfsEndpoint endpoint = server.endpoint("/");
        return assertThrows(IOException.class, () -> NfsSession.open(endpoint, options)).getMessage();
    }

    private static List<Integer> flavors(String numbers) {
        return numbers.isEmpty() ? List.of() : List.of(numbers.split(",")).stream().map(Integer::valueOf).toList();
    }

    /** {@code unansweredNanos} is when UMNT was called, which is not answered; {@code null} to answer it. */
    private record Mountd(MountStatus status, List<Integer> flavors, AtomicLong unansweredNanos) implements RpcProgram {

        Mountd(MountStatus status, List<Integer> flavors) {
            this(status, flavors, null);
        }

        @Override
        public int program() {
            return Mount.PROGRAM;
        }

        @Override
        public int lowestVersion() {
            return Mount.VERSION;
        }

        @Override
        public int highestVersion() {
            return Mount.VERSION;
        }

        @Override
        public void call(RpcCall call) {
            if (unansweredNanos != null && call.procedure() == MountProcedure.UMNT.number()) {
                unansweredNanos.set(System.nanoTime());
                return;
            }
            ByteBuf results = call.alloc().buffer();
            if (call.procedure() == MountProcedure.EXPORT.number()) {
                ExportEntry.writeList(List.of(new ExportEntry("/", List.of())), results);
            } else {
                results.writeInt(status.code());
                if (status == MountStatus.OK) {
                    new MountResult(new FileHandle(new byte[] {1}), flavors).write(results);
                }
            }
            call.reply(results);
        }
    }
}
