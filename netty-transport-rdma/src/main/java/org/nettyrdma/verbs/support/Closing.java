package org.nettyrdma.verbs.support;

import io.netty.util.internal.PlatformDependent;
import java.util.Collection;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The steps of a close, each of which is taken whatever becomes of the others: nobody closes a second time what one of them has
 * left open. The end throws what has failed first, and has what failed behind it suppressed.
 */
public final class Closing {

    private Throwable failure;

    /** Begins without a failure. */
    public Closing() {
        // See above.
    }

    /**
     * Takes a step.
     *
     * @param <T>    what it is for
     * @param member what it is for
     * @param step   what to do; not one that takes memory itself, as of a lambda that captures, since there may be none
     */
    public <T> void step(T member, Consumer<? super T> step) {
        try {
            step.accept(member);
        } catch (Throwable t) {
            failed(t);
        }
    }

    /**
     * Takes a step for each member of a collection, in its order. Each is taken out before, so none may take out another one.
     *
     * @param <T>     the members
     * @param members what the steps are for; empty then
     * @param step    what to do for each
     */
    public <T> void all(Collection<T> members, Consumer<? super T> step) {
        try {
            for (Iterator<T> rest = members.iterator(); rest.hasNext(); ) {
                T member = rest.next();
                rest.remove();
                step(member, step);
            }
        } catch (Throwable t) { // no memory, for instance
            failed(t);
        }
    }

    /**
     * Keeps what was opened among that which is closed with its owner, or closes it, as nobody else would.
     *
     * @param <T>     what it is
     * @param members what the owner closes
     * @param member  what was opened; its close declares no exception
     * @return the same
     * @throws OutOfMemoryError for instance; it is closed
     */
    public static <T extends AutoCloseable> T keep(Set<? super T> members, T member) {
        try {
            members.add(member);
            return member;
        } catch (Throwable t) {
            try {
                member.close();
            } catch (Exception e) {
                PlatformDependent.throwException(e);
            }
            throw t;
        }
    }

    private void failed(Throwable cause) {
        if (failure == null) {
            failure = cause;
        } else if (failure != cause) { // the JVM throws the same error again and again where it has no memory for another one
            try {
                failure.addSuppressed(cause);
            } catch (OutOfMemoryError e) {
                return; // the first is told without it
            }
        }
    }

    /** All steps are taken; throws what the first that failed has thrown. */
    public void end() {
        if (failure != null) {
            PlatformDependent.throwException(failure);
        }
    }
}
