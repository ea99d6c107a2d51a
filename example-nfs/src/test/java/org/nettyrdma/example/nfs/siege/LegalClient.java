package org.nettyrdma.example.nfs.siege;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.NfsClientOptions;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.ReadResult;
import org.nettyrdma.example.nfs.client.RemoteFile;

/** Reads 64 KiB and the attributes of a file, time and again, on a thread of its own, and notes how long that takes. */
final class LegalClient implements Runnable, AutoCloseable {

    private static final int BYTES = 65_536;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int PATIENCE_SECONDS = 30;

    private final NfsEndpoint endpoint;
    private final Thread thread;
    private final List<Sample> samples = new ArrayList<>();
    private long underWaySince;
    private NfsSession session;
    private RemoteFile file;
    private volatile boolean closed;

    /** What was begun at some time, and how long it took, the connection included where that had been lost. */
    record Sample(long beganNanos, long nanos, String failure) {
    }

    /** The latencies of some time. {@code failures} are calls that had no answer. */
    record Latencies(long count, double p50Millis, double p99Millis, List<String> failures) {
    }

    LegalClient(Transport transport, int port) {
        endpoint = new NfsEndpoint(transport, "127.0.0.1", port, "/file");
        thread = new Thread(this, "legal-" + transport);
        thread.setDaemon(true);
        thread.start();
    }

    static NfsSession connect(NfsEndpoint endpoint) throws IOException {
        return NfsSession.open(endpoint, new NfsClientOptions().setConnectTimeoutMillis(PATIENCE_SECONDS * 1000)
                .setCallTimeoutMillis(PATIENCE_SECONDS * 1000));
    }

    @Override
    public void run() {
        while (!closed) {
            long beganNanos = System.nanoTime();
            synchronized (samples) {
                underWaySince = beganNanos;
            }
            String failure = call();
            synchronized (samples) {
                samples.add(new Sample(beganNanos, System.nanoTime() - beganNanos, failure));
                underWaySince = 0;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        disconnect();
    }

    /** Returns what has failed, {@code null} if nothing has. */
    private String call() {
        try {
            if (session == null) {
                session = connect(endpoint);
                file = session.files().find("/file");
            }
            session.client().getAttributes(file.handle()).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            ReadResult result = read(session, file, 0, BYTES);
            int length = result.content().readableBytes();
            result.content().release();
            return length == BYTES ? null : length + " bytes";
        } catch (IOException | ExecutionException | TimeoutException e) {
            disconnect();
            return e.toString();
        } catch (InterruptedException e) {
            closed = true;
            return null;
        }
    }

    /** Data that comes when nobody waits for it any more is given back. */
    private static ReadResult read(NfsSession session, RemoteFile file, long offset, int bytes)
            throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<ReadResult> result = session.client().read(file.handle(), offset, bytes);
        try {
            return result.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | TimeoutException e) {
            result.thenAccept(late -> late.content().release());
            throw e;
        }
    }

    private void disconnect() {
        if (session != null) {
            session.close();
            session = null;
        }
    }

    /** The latencies of what was begun between two times; what is still under way counts with what it has taken so far. */
    Latencies between(long fromNanos, long toNanos) {
        long now = System.nanoTime();
        synchronized (samples) {
            List<Sample> chosen = new ArrayList<>(samples.stream().filter(sample -> sample.beganNanos() - toNanos < 0
                    && (sample.beganNanos() - fromNanos >= 0 || sample.beganNanos() + sample.nanos() - fromNanos > 0)).toList());
            if (underWaySince != 0 && underWaySince - toNanos < 0) {
                chosen.add(new Sample(underWaySince, now - underWaySince, null));
            }
            long[] nanos = chosen.stream().mapToLong(Sample::nanos).sorted().toArray();
            return new Latencies(nanos.length, percentile(nanos, 0.5), percentile(nanos, 0.99),
                    chosen.stream().map(Sample::failure).filter(failure -> failure != null).distinct().toList());
        }
    }

    private static double percentile(long[] sorted, double part) {
        return sorted.length == 0 ? Double.POSITIVE_INFINITY
                : sorted[(int) Math.ceil(part * sorted.length) - 1] / 1e6;
    }

    /** The handle of the file, for attackers. */
    static byte[] handle(NfsEndpoint endpoint) throws IOException {
        try (NfsSession session = connect(endpoint)) {
            return session.files().find("/file").handle().toByteArray();
        }
    }

    /** Reads four MiB by a new connection in pieces of one; returns what has failed, {@code null} if nothing has. */
    static String readFourMebibytes(NfsEndpoint endpoint) {
        try (NfsSession session = connect(endpoint)) {
            RemoteFile file = session.files().find("/file");
            byte[] expected = new byte[1 << 20];
            for (int i = 0; i < 4; i++) {
                ReadResult result = read(session, file, (long) i << 20, 1 << 20);
                byte[] bytes = new byte[result.content().readableBytes()];
                result.content().readBytes(bytes).release();
                Arrays.fill(expected, (byte) i);
                if (!Arrays.equals(expected, bytes)) {
                    return "wrong data in MiB " + i;
                }
            }
            return null;
        } catch (IOException | ExecutionException | TimeoutException e) {
            return e.toString();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return e.toString();
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
