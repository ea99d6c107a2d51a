package org.nettyrdma.peer;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.helpers.MessageFormatter;

/**
 * Writes to the log what peers have caused, so that none of them can fill it. Each event is one line without a stack trace, at
 * most {@value #MAX_CHARACTERS} characters long and without control characters. Within a second at most
 * {@value #MAX_LINES_OF_CONNECTION} lines of each connection and {@value #MAX_LINES} in all are written, warnings and notes
 * apart; the others are counted, and at the end of that second one more line tells how many they were. A line for which there is
 * no memory is left out: it never throws an {@link OutOfMemoryError}.
 *
 * <p>Any thread. A line that is not written costs a lock for a moment, and is not formatted.
 */
public final class PeerLog {

    /** Most lines in a second, those of all connections together. */
    static final int MAX_LINES = 10;

    /** Most lines in a second about one connection. */
    static final int MAX_LINES_OF_CONNECTION = 3;

    /** Longest line; the rest of a longer one is left out. */
    static final int MAX_CHARACTERS = 500;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Logger LOGGER = LoggerFactory.getLogger(PeerLog.class);
    /** Daemon threads: a count that is still to be told does not keep a program alive. */
    private static final Executor AFTER_WINDOW = CompletableFuture.delayedExecutor(WINDOW_NANOS, TimeUnit.NANOSECONDS,
            Runnable::run);
    private static final PeerLog WARNINGS = new PeerLog(Level.WARN, LOGGER, System::nanoTime, AFTER_WINDOW);
    private static final PeerLog NOTES = new PeerLog(Level.INFO, LOGGER, System::nanoTime, AFTER_WINDOW);

    private static final long TRACE_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final AtomicLong NEXT_TRACE_NANOS = new AtomicLong(System.nanoTime());

    private final Level level;
    private final Logger summaryLogger;
    private final LongSupplier nanoClock;
    private final Executor afterWindow;
    /** Lines of this window by the hash of their connection: two with the same one share their lines. */
    private final Map<Integer, Integer> linesByConnection = new HashMap<>();
    private long windowStartNanos;
    private int lines;
    private long suppressed;

    /**
     * @param afterWindow runs a task when a second has passed
     */
    PeerLog(Level level, Logger summaryLogger, LongSupplier nanoClock, Executor afterWindow) {
        this.level = level;
        this.summaryLogger = summaryLogger;
        this.nanoClock = nanoClock;
        this.afterWindow = afterWindow;
        windowStartNanos = nanoClock.getAsLong() - WINDOW_NANOS;
    }

    /**
     * Tells at level WARN what a peer has done wrong.
     *
     * @param logger     of the class that found it
     * @param connection its channel or the peer's address, which the line begins with
     * @param format     what was wrong, with a <code>{}</code> for each argument
     * @param arguments  of a {@link Throwable} only its message is told
     */
    public static void warn(Logger logger, Object connection, String format, Object... arguments) {
        if (logger.isWarnEnabled()) {
            WARNINGS.log(logger, connection, format, arguments);
        }
    }

    /**
     * Tells at level INFO what a peer has caused without doing wrong.
     *
     * @param logger     of the class that found it
     * @param connection its channel or the peer's address, which the line begins with
     * @param format     what has happened, with a <code>{}</code> for each argument
     * @param arguments  of a {@link Throwable} only its message is told
     */
    public static void info(Logger logger, Object connection, String format, Object... arguments) {
        if (logger.isInfoEnabled()) {
            NOTES.log(logger, connection, format, arguments);
        }
    }

    /**
     * Tells at level WARN what has failed at this end for a connection, and may again as often as peers like. The stack trace
     * follows at level WARN once a minute, otherwise at level DEBUG.
     *
     * @param logger     of the class that found it
     * @param connection its channel or the peer's address, which the line begins with
     * @param what       what has failed
     * @param cause      why
     */
    public static void fault(Logger logger, Object connection, String what, Throwable cause) {
        try {
            warn(logger, connection, "{}: {}", what, cause.toString());
            long due = NEXT_TRACE_NANOS.get();
            long now = System.nanoTime();
            if (now - due >= 0 && NEXT_TRACE_NANOS.compareAndSet(due, now + TRACE_INTERVAL_NANOS)) {
                logger.warn("the first such failure of this minute", cause);
            } else {
                logger.debug("such a failure", cause);
            }
        } catch (OutOfMemoryError e) {
            // Untold, as in log().
        }
    }

    /**
     * Makes text of a peer fit for a log or a terminal.
     *
     * @param text any text
     * @return the same with each control and format character, line separator and half of a surrogate pair as
     *         <code>&#92;uXXXX</code>
     */
    public static String printable(String text) {
        if (text.codePoints().allMatch(PeerLog::isPrintable)) {
            return text;
        }
        StringBuilder printable = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(character -> {
            if (isPrintable(character)) {
                printable.appendCodePoint(character);
            } else {
                printable.append("\\u").append(String.format("%04x", character));
            }
        });
        return printable.toString();
    }

    private static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED, Character.PRIVATE_USE -> false;
            default -> true;
        };
    }

    void log(Logger logger, Object connection, String format, Object... arguments) {
        try {
            if (isAllowed(connection.hashCode())) {
                write(logger, lineOf(connection, format, arguments));
            }
        } catch (OutOfMemoryError e) {
            // Untold: the caller has more to do, often to mend what there was no memory for.
        }
    }

    private void write(Logger logger, String line) {
        logger.atLevel(level).log(line);
    }

    private static String lineOf(Object connection, String format, Object[] arguments) {
        Object[] words = arguments.clone();
        for (int i = 0; i < words.length; i++) {
            if (words[i] instanceof Throwable cause) {
                words[i] = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
            }
        }
        String line = printable(connection + " " + MessageFormatter.basicArrayFormat(format, words));
        return line.length() <= MAX_CHARACTERS ? line : line.substring(0, MAX_CHARACTERS - 3) + "...";
    }

    private synchronized boolean isAllowed(int connection) {
        long now = nanoClock.getAsLong();
        if (now - windowStartNanos >= WINDOW_NANOS) {
            windowStartNanos = now;
            lines = 0;
            linesByConnection.clear();
        }
        if (lines < MAX_LINES && linesByConnection.merge(connection, 1, Integer::sum) <= MAX_LINES_OF_CONNECTION) {
            lines++;
            return true;
        }
        if (suppressed == 0) {
            afterWindow.execute(this::tellSuppressed);
        }
        suppressed++; // not before there is something that tells it
        return false;
    }

    private void tellSuppressed() {
        long count;
        synchronized (this) {
            count = suppressed;
            suppressed = 0;
        }
        write(summaryLogger, count + " more lines about peers within a second were left out");
    }
}
