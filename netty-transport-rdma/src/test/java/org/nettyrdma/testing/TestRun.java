package org.nettyrdma.testing;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs test classes, or single methods ({@code Class#method}), where there is no Maven: {@code java ... TestRun NAME...}. Exit status 0 if all
 * passed and there were some.
 */
public final class TestRun {

    private TestRun() {
    }

    /** One line for each test, as it ends; a test that hangs is the one after the last line. */
    private static final class Progress implements TestExecutionListener {

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                System.out.println(result.getStatus() + " " + test.getParentId().orElse("").replaceAll(".*[.:/]", "") + " "
                        + test.getDisplayName() + result.getThrowable().map(cause -> ": " + cause).orElse(""));
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
        List<? extends DiscoverySelector> selectors = Arrays.stream(names).map(name -> name.contains("#")
                ? DiscoverySelectors.selectMethod(name) : DiscoverySelectors.selectClass(name)).toList();
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        Launcher launcher = LauncherFactory.create();
        launcher.execute(LauncherDiscoveryRequestBuilder.request().selectors(selectors).build(), summary, new Progress());
        summary.getSummary().printFailuresTo(new PrintWriter(System.out, true), 25);
        var counts = summary.getSummary();
        System.out.println(counts.getTestsSucceededCount() + " passed, " + counts.getTotalFailureCount() + " failed, "
                + (counts.getTestsSkippedCount() + counts.getTestsAbortedCount()) + " skipped");
        System.exit(counts.getTotalFailureCount() == 0 && counts.getTestsSucceededCount() > 0 ? 0 : 1);
    }
}
