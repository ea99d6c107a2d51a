package org.nettyrdma.testing;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs test classes of JUnit Jupiter, or single methods ({@code Class#method}), where there is no Maven:
 * {@code java ... TestRun NAME...}. The last lines say for each class how many of its tests passed and failed, and were skipped.
 * Exit status 0 if none failed and some passed.
 */
public final class TestRun {

    private TestRun() {
    }

    /**
     * One line for each test, as it ends, with the milliseconds that it took; a test that hangs is the one after the last line.
     */
    private static final class Progress implements TestExecutionListener {

        private final Map<String, Long> startNanos = new ConcurrentHashMap<>();

        @Override
        public void executionStarted(TestIdentifier test) {
            startNanos.put(test.getUniqueId(), System.nanoTime());
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos.get(test.getUniqueId()));
                System.out.println(result.getStatus() + " " + test.getParentId().orElse("").replaceAll(".*[.:/]", "") + " "
                        + test.getDisplayName() + " " + millis + " ms" + result.getThrowable().map(cause -> ": " + cause)
                        .orElse(""));
            }
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            System.out.println("SKIPPED " + test.getDisplayName() + ": " + reason);
        }
    }

    /**
     * Runs tests.
     *
     * @param names of classes or methods
     */
    public static void main(String[] names) {
        Launcher launcher = LauncherFactory.create();
        Progress progress = new Progress();
        boolean passed = true;
        StringBuilder results = new StringBuilder();
        for (String name : names) {
            DiscoverySelector selector = name.contains("#") ? DiscoverySelectors.selectMethod(name)
                    : DiscoverySelectors.selectClass(name);
            SummaryGeneratingListener summary = new SummaryGeneratingListener();
            launcher.execute(LauncherDiscoveryRequestBuilder.request().selectors(List.of(selector))
                    .filters(EngineFilter.includeEngines("junit-jupiter")).build(), summary, progress);
            summary.getSummary().printFailuresTo(new PrintWriter(System.out, true), 25);
            var counts = summary.getSummary();
            results.append(String.format("%s: %d passed, %d failed, %d skipped%n", name.replaceAll(".*\\.", ""),
                    counts.getTestsSucceededCount(), counts.getTotalFailureCount(),
                    counts.getTestsSkippedCount() + counts.getTestsAbortedCount()));
            passed &= counts.getTotalFailureCount() == 0 && counts.getTestsSucceededCount() > 0;
        }
        System.out.print(results);
        System.exit(passed ? 0 : 1);
    }
}
