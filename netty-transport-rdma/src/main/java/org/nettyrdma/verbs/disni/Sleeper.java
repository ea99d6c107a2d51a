package org.nettyrdma.verbs.disni;

/**
 * What a loop sleeps on.
 *
 * @param sources           handles that the extended library watches
 * @param completionChannel the channel that upstream's library watches
 * @param completionQueue   the only queue on that channel, with upstream's library
 */
record Sleeper(long[] sources, long completionChannel, long completionQueue) {
}
