package org.nettyrdma.channel;

/** What an event loop does when there is nothing to do. */
public enum IdleStrategy {
    /**
     * Polls for up to 200 microseconds more and then sleeps. Sleeps at once where measurement shows that polling finds work less
     * than a fifth sooner, where other event loops of the process have much work for all CPUs, or as soon as another thread wants
     * the CPU. The default: low latency under load, no use of the CPU when idle.
     */
    ADAPTIVE,
    /** Sleeps at once. Least use of the CPU; every message that finds the loop idle pays for waking a thread. */
    BLOCKING,
    /**
     * Never sleeps. Lowest latency, at the price of one CPU per event loop; with fewer CPUs than such loops, latency gets
     * far worse than with the other two.
     */
    BUSY_POLL
}
