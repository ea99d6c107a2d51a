package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testing.Jvm;

/** What jlink makes has the modules of Java that were asked for. One that a program on the class path needs may be missing. */
class ReducedJavaTest {

    @Test
    void shouldNotOfferSharedMemoryWherePeersUsersAreNotTold() throws Exception {
        String said = say("java.management,jdk.jfr,jdk.unsupported");

        assertEquals("no RDMA provider is available: iwarp-shm: shared memory needs to know the users of its peers, and this "
                + "Java has no module jdk.net to tell them", said);
    }

    @Test
    void shouldOfferSharedMemoryWithTheModulesOfItsDescriptor() throws Exception {
        assertEquals("available", say("java.management,jdk.jfr,jdk.net,jdk.unsupported"));
    }

    private static String say(String modules) throws Exception {
        Process process = new ProcessBuilder(Jvm.command(
                List.of("--limit-modules", modules, "-Dorg.nettyrdma.provider=iwarp-shm"), ReducedJavaTest.class))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        } finally {
            process.destroyForcibly();
        }
    }

    public static void main(String[] arguments) {
        System.out.println(Rdma.isAvailable() ? "available" : Rdma.unavailabilityCause().getMessage());
    }
}
