package org.nettyrdma.channel;

/**
 * What the device has of a channel, as {@link Draining} sees it. Event loop only.
 */
interface PostedWork {

    /** Drops what has arrived and nobody will read, and what was not posted and nobody will send. */
    void releaseUnposted();

    /** Work requests that the device has not completed. */
    int outstanding();

    /** Those of them that have a buffer. */
    int buffersWithDevice();

    /** The device has lost all access without saying so; nothing will complete any more. */
    void abandonedByDevice();

    /** The queue pair is closed, and the peer reaches nothing that was exposed, unless the queue pair tells otherwise. */
    void exposureEnded();
}
