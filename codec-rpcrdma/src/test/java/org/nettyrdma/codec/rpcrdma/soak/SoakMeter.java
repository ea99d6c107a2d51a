package org.nettyrdma.codec.rpcrdma.soak;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RegisteredByteBufAllocator;

/** Prints now and then what the process holds, in MiB, or as a number. */
final class SoakMeter extends Thread {

    private static final long PERIOD_MILLIS = 5000;

    private SoakMeter() {
        super("meter");
        setDaemon(true);
    }

    static void begin() {
        new SoakMeter().start();
    }

    @Override
    public void run() {
        try {
            while (true) {
                Thread.sleep(PERIOD_MILLIS);
                System.gc();
                System.gc(); // what finalizers and cleaners have held until the first
                print();
            }
        } catch (InterruptedException | IOException e) {
            System.out.println("FAULT: no figures any more: " + e);
        }
    }

    private static void print() throws IOException {
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        System.out.printf("measure seconds=%d heap=%d direct=%d registered=%d resident=%d descriptors=%d threads=%d%n",
                ManagementFactory.getRuntimeMXBean().getUptime() / 1000, heap >> 20, directBytes() >> 20,
                RegisteredByteBufAllocator.of(Rdma.provider()).registeredBytes() >> 20, residentKiB() >> 10, descriptors(),
                threads);
    }

    /** What Netty takes without Java's knowledge, and what Java knows of. */
    private static long directBytes() {
        return Math.max(0, PlatformDependent.usedDirectMemory()) + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
                .stream().filter(pool -> pool.getName().equals("direct")).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
    }

    private static long residentKiB() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException("/proc/self/status does not say how much memory is resident");
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
