package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/** A task that uses channels: the interrupt of a thread closes them. */
interface ChannelTask<T> {

    T run() throws IOException;

    /** Runs a task, again if the thread was interrupted meanwhile. Afterwards the thread is interrupted if it ever was. */
    static <T> T uninterrupted(ChannelTask<T> task) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return task.run();
                } catch (ClosedByInterruptException e) {
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
