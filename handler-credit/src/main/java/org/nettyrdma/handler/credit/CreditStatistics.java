package org.nettyrdma.handler.credit;

/**
 * What one {@link CreditGate} counts. A thread other than the event loop may see numbers of a moment ago, and not all of the same
 * moment.
 *
 * @param requests the requests that this end sends
 * @param served   the requests that the peer sends
 */
public record CreditStatistics(Requests requests, Served served) {

    /**
     * The requests that this end sends.
     *
     * @param granted            how many the peer grants now
     * @param inProgress         how many have no response now
     * @param waiting            how many wait for a credit now
     * @param highestWaiting     how many have ever waited at once
     * @param refused            how many were refused because too many waited
     * @param unmatchedResponses responses that answered no request in progress and gave no credit
     * @param grantsOfZero       responses that granted 0, which counts as 1
     * @param grantsAboveMaximum responses that granted more than this end wanted; they count as what it wanted
     * @param waits              how many requests have waited for a credit, and wait no more
     * @param waitedNanos        how long these waited in all, in nanoseconds
     */
    public record Requests(int granted, int inProgress, int waiting, int highestWaiting, long refused,
            long unmatchedResponses, long grantsOfZero, long grantsAboveMaximum, long waits, long waitedNanos) {
    }

    /**
     * The requests that the peer sends.
     *
     * @param granted    how many this end has granted with its last response, 1 before the first
     * @param inProgress how many have no response now
     * @param exceeded   1 when one has come although there was no credit for it, which closes the connection; 0 before
     */
    public record Served(int granted, int inProgress, long exceeded) {
    }
}
