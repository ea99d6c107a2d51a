package org.nettyrdma.streamtests.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.runners.BlockJUnit4ClassRunner;
import org.junit.runners.model.InitializationError;
import org.junit.runners.model.RunnerScheduler;

/** Runs all tests of a suite at once, each in a thread of its own: for suites that wait, and whose tests share nothing. */
public final class MethodsAtOnce extends BlockJUnit4ClassRunner {

    public MethodsAtOnce(Class<?> suite) throws InitializationError {
        super(suite);
        setScheduler(new Threads());
    }

    private static final class Threads implements RunnerScheduler {

        private final List<CompletableFuture<Void>> tests = new ArrayList<>();

        @Override
        public void schedule(Runnable test) {
            tests.add(CompletableFuture.runAsync(test, each -> new Thread(each).start()));
        }

        @Override
        public void finished() {
            tests.forEach(CompletableFuture::join);
        }
    }
}
