package org.nettyrdma.channel;

import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A connect that has no outcome yet, and the time it may take. Event loop only.
 *
 * @param promise       told of the outcome; the user may cancel it
 * @param remoteAddress where to connect
 * @param timeout       ends the attempt, {@code null} without a limit
 */
record ConnectAttempt(ChannelPromise promise, SocketAddress remoteAddress, Future<?> timeout) {

    /** Starts the clock; {@code awaited} says what is missing when the time is over, {@code null} where that is not known. */
    static ConnectAttempt start(ChannelPromise promise, SocketAddress remoteAddress, int timeoutMillis, Supplier<String> awaited,
                                Consumer<ConnectTimeoutException> onTimeout) {
        Future<?> timeout = timeoutMillis <= 0 ? null : promise.channel().eventLoop().schedule(
                () -> onTimeout.accept(timedOut(remoteAddress, timeoutMillis, awaited.get())),
                timeoutMillis, TimeUnit.MILLISECONDS);
        return new ConnectAttempt(promise, remoteAddress, timeout);
    }

    private static ConnectTimeoutException timedOut(SocketAddress remoteAddress, int timeoutMillis, String awaited) {
        return new ConnectTimeoutException("connection timed out after " + timeoutMillis + " ms: " + remoteAddress
                + (awaited == null ? "" : ": " + awaited));
    }

    /** The connection stands; {@code false} if the user has cancelled the attempt. */
    boolean succeed() {
        stopClock();
        return promise.trySuccess();
    }

    /** There is no connection; does nothing if the outcome is known already. */
    void fail(Throwable cause) {
        stopClock();
        promise.tryFailure(cause);
    }

    private void stopClock() {
        if (timeout != null) {
            timeout.cancel(false);
        }
    }
}
