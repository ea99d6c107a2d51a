package org.nettyrdma.testing;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes every leak that Netty's detector finds during a test run to the end of the file named by the system property
 * {@code nettyrdma.leakReport}; the build fails when there is one. Installed before the first test of a JVM, because a detector
 * is chosen when its class loads. What was not collected by itself is when the JVM ends: collections after each class took a
 * tenth of the tests' processor time.
 */
public final class LeakReport implements TestExecutionListener {

    private static final String PROPERTY = "nettyrdma.leakReport";

    /** There are as many test plans in a JVM as classes. */
    private static boolean installed;

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        String file = System.getProperty(PROPERTY);
        if (file == null) {
            return;
        }
        Path report = Path.of(file);
        try {
            Files.createDirectories(report.getParent());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new Factory(report));
        if (!installed) {
            installed = true;
            Runtime.getRuntime().addShutdownHook(new Thread(LeakReport::collect, "last-leaks"));
        }
    }

    /** A leak shows when its buffer was collected and another buffer is tracked afterwards. */
    private static void collect() {
        for (int round = 0; round < 3; round++) {
            System.gc();
            ByteBufUtil.writeAscii(UnpooledByteBufAllocator.DEFAULT, "any tracked buffer").release();
        }
    }

    private static final class Factory extends ResourceLeakDetectorFactory {

        private final Path report;

        Factory(Path report) {
            this.report = report;
        }

        @Override
        @Deprecated
        public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int samplingInterval, long maxActive) {
            return newResourceLeakDetector(resource, samplingInterval);
        }

        @Override
        public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int samplingInterval) {
            return new Reporter<>(resource, samplingInterval, report);
        }
    }

    private static final class Reporter<T> extends ResourceLeakDetector<T> {

        private final Path report;

        Reporter(Class<?> resource, int samplingInterval, Path report) {
            super(resource, samplingInterval);
            this.report = report;
        }

        @Override
        protected boolean needReport() {
            return true;
        }

        @Override
        protected void reportTracedLeak(String resourceType, String records) {
            super.reportTracedLeak(resourceType, records);
            write(resourceType + records);
        }

        @Override
        protected void reportUntracedLeak(String resourceType) {
            super.reportUntracedLeak(resourceType);
            write(resourceType);
        }

        private void write(String what) {
            try {
                Files.writeString(report, "LEAK: " + what + System.lineSeparator(),
                        StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
