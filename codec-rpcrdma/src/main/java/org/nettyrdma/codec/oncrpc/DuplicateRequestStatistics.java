package org.nettyrdma.codec.oncrpc;

/**
 * What a {@link DuplicateRequestCache} has seen so far, and what it has now.
 *
 * @param executed  calls that were given to their program
 * @param hits      calls that were answered with a reply that was kept
 * @param joins     calls that came while the same call was being executed
 * @param evictions replies that were forgotten for want of room, before their time
 * @param refused   calls that were answered with SYSTEM_ERR and not executed, because there was no room, or too many waited
 * @param running   calls in execution now
 * @param replies   replies that are kept now
 * @param bytes     what these replies take in bytes
 */
public record DuplicateRequestStatistics(long executed, long hits, long joins, long evictions, long refused, int running,
        int replies, long bytes) {
}
