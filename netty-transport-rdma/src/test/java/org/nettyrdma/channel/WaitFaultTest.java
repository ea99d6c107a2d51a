package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** A context that fails unexpectedly while its loop waits. */
@Timeout(60)
class WaitFaultTest {

    private final VerbsProvider real = new IwarpProvider();
    private final BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    private boolean failed;

    @Test
    void shouldDoAllElseBeforeTheNextWait() throws Exception {
        VerbsProvider provider = (VerbsProvider) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] {VerbsProvider.class}, (proxy, method, arguments) -> {
                    Object result = call(() -> method.invoke(real, arguments));
                    return result instanceof VerbsContext context ? failing(context) : result;
                });
        var group = new RdmaEventLoopGroup(1, new DefaultThreadFactory("rdma"), provider, IdleStrategy.BLOCKING);
        group.submit(() -> { }).sync();
        while (!"await".equals(calls.take())) {
            continue;
        }
        assertEquals("poll", calls.take());
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    private VerbsContext failing(VerbsContext context) {
        return (VerbsContext) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {VerbsContext.class},
                (proxy, method, arguments) -> {
                    calls.add(method.getName());
                    if (method.getName().equals("await") && !failed) {
                        failed = true;
                        throw new IllegalStateException("expected");
                    }
                    return call(() -> method.invoke(context, arguments));
                });
    }

    private interface Call {
        Object run() throws Exception;
    }

    private static Object call(Call call) throws Throwable {
        try {
            return call.run();
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
