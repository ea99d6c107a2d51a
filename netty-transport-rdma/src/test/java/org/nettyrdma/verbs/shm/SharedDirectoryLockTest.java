package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.testing.Jvm;

/** Another user who may write in the shared directory can take its lock, and put other things in its place. */
class SharedDirectoryLockTest {

    private static final int HOSTILE = 12_346;

    @TempDir
    private Path temporary;

    @Test
    void shouldNotWaitForEverForALockThatAnotherProcessHolds() throws Exception {
        Path shared = Files.createDirectory(temporary.resolve("shm"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        ProcessDirectory directory = ProcessDirectory.of(new ShmSettings(shared, Set.of()));
        Path dead = Files.createDirectory(shared.resolve("i0000000000000002"));
        Process holder = new ProcessBuilder(Jvm.command(List.of("-Xmx64m"), SharedDirectoryLockTest.class,
                shared.resolve("lock").toString())).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertEquals('1', holder.getInputStream().read());
            String message = assertThrows(IOException.class, () -> lock(shared, 20)).getMessage();
            assertTrue(message.contains("locked by another process for 20 ms"), message);
            directory.shared().removeDead(); // says in the log that it could not, and does not wait for ever
            assertTrue(Files.exists(dead));
        } finally {
            holder.destroyForcibly().waitFor();
        }
        directory.shared().removeDead();
        assertTrue(Files.notExists(dead));
        directory.forget();
    }

    @Test
    void shouldRemoveAllThatCanBeRemovedOfAProcessThatHasEnded() throws Exception {
        Path shared = temporary.resolve("shm");
        ProcessDirectory directory = ProcessDirectory.of(new ShmSettings(shared, Set.of()));
        Path dead = Files.createDirectory(shared.resolve("i0000000000000002"));
        Path strange = Files.createDirectory(dead.resolve("m16"));
        for (int i = 0; i < 32; i++) {
            Files.createFile(Files.exists(dead.resolve("m" + i)) ? strange.resolve("file") : dead.resolve("m" + i));
        }
        directory.shared().removeDead();
        try (var files = Files.list(dead)) {
            assertEquals(List.of(strange), files.toList());
        }
        Files.delete(strange.resolve("file"));
        Files.delete(strange);
        directory.shared().removeDead();
        assertTrue(Files.notExists(dead));
        directory.forget();
    }

    /** The thread that looks may find no heap to do so. */
    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldLookAgainWhenAskedAfterALookThatHasFailed() throws Exception {
        Path shared = temporary.resolve("shm");
        ProcessDirectory directory = ProcessDirectory.of(new ShmSettings(shared, Set.of()));
        Path dead = Files.createDirectory(shared.resolve("i0000000000000002"));
        CountDownLatch failed = new CountDownLatch(1);
        Properties properties = System.getProperties();
        System.setProperties(new Properties(properties) {
            @Override
            public String getProperty(String key) {
                if (key.equals(SharedDirectory.propertyOf(dead))) {
                    failed.countDown();
                    throw new OutOfMemoryError("Java heap space");
                }
                return super.getProperty(key);
            }
        });
        try {
            directory.shared().removeDeadSoon();
            failed.await();
        } finally {
            System.setProperties(properties);
        }
        while (Files.exists(dead)) {
            directory.shared().removeDeadSoon();
            Thread.onSpinWait();
        }
        directory.forget();
    }

    /** The lock of another user is opened by a thread, which is waited for. */
    @Test
    void shouldTakeTheLockOfAnotherUserOnAThreadThatIsInterrupted() throws Exception {
        assumeTrue(ShmSettings.userId() == 0);
        Path shared = Files.createDirectory(temporary.resolve("shm"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.setAttribute(Files.createFile(shared.resolve("lock")), "unix:uid", HOSTILE);
        Thread.currentThread().interrupt();
        ProcessDirectory directory = ProcessDirectory.of(new ShmSettings(shared, Set.of()));
        Path dead = Files.createDirectory(shared.resolve("i0000000000000002"));
        directory.shared().removeDead();
        assertTrue(Thread.interrupted(), "as it was");
        assertTrue(Files.notExists(dead));
        directory.forget();
    }

    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldRefuseAPipeInThePlaceOfTheLock() throws Exception {
        Path pipe = temporary.resolve("lock");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        String message = assertThrows(IOException.class, () -> lock(temporary, 20)).getMessage();
        assertTrue(message.contains("is no plain file"), message);
    }

    @Test
    void shouldNotFollowALinkInThePlaceOfTheLock() throws IOException {
        Path precious = temporary.resolve("precious");
        Files.createSymbolicLink(temporary.resolve("lock"), precious);
        assertThrows(IOException.class, () -> lock(temporary, 20));
        assertTrue(Files.notExists(precious));
    }

    /** A lease makes whoever opens the file wait for up to 45 seconds. Only root can make files that belong to another user. */
    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldWaitForALeaseOfAnotherUserForATimeOnly() throws Exception {
        assumeTrue(ShmSettings.userId() == 0 && Files.isExecutable(Path.of("/usr/bin/perl")));
        Path lock = Files.createFile(temporary.resolve("lock"));
        Files.setAttribute(lock, "unix:uid", HOSTILE);
        Process holder = new ProcessBuilder("/usr/bin/perl", "-e", "$SIG{IO} = 'IGNORE'; open(F, '+<', $ARGV[0]) or die; "
                + "fcntl(F, 1024, 1) or die; syswrite(STDOUT, '1'); <STDIN>;", lock.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assumeTrue(holder.getInputStream().read() == '1', "the file system has no leases");
            String message = assertThrows(IOException.class, () -> lock(temporary, 20)).getMessage();
            assertTrue(message.contains("could not be opened within 20 ms"), message);
        } finally {
            holder.destroyForcibly().waitFor();
        }
        while (OtherUsersFiles.hasAbandoned(HOSTILE)) {
            Thread.onSpinWait();
        }
        lock(temporary, 1000).close();
    }

    /** The process that holds the lock, until it is killed. */
    public static void main(String[] arguments) throws Exception {
        FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE);
        channel.lock();
        System.out.write('1');
        System.out.flush();
        System.in.read(); // until it is killed, or the test has ended without doing so
    }

    private static FileChannel lock(Path directory, int limitMillis) throws IOException {
        return new SharedDirectory(new ShmSettings(directory, Set.of())).lock(limitMillis);
    }
}
