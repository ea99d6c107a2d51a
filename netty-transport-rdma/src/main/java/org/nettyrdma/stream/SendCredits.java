package org.nettyrdma.stream;

/** How many data messages may still be sent. Both counters have 16 bits and wrap. */
public final class SendCredits {

    private static final int MASK = StreamMessage.LIMIT_MASK;

    private final int granted;
    private final int reserve;
    private int sent;
    private int limit;

    /**
     * Nothing is sent yet.
     *
     * @param granted what the peer has granted, 1 to 65535
     * @param reserve how many of them are left unused, for a peer whose receives must also take messages that need no credit
     */
    public SendCredits(int granted, int reserve) {
        this.granted = granted;
        this.reserve = reserve;
        limit = granted;
    }

    /**
     * Whether a data message may be sent.
     *
     * @return {@code true} if so
     */
    public boolean isAvailable() {
        return left(limit) > reserve;
    }

    private int left(int newLimit) {
        return newLimit - sent & MASK;
    }

    /** A data message is sent. */
    public void sent() {
        sent = sent + 1 & MASK;
    }

    /**
     * The peer has told a new limit.
     *
     * @param newLimit its low 16 bits
     * @throws StreamProtocolException if it is lower than the last one, or further ahead than the peer has receives
     */
    public void update(int newLimit) throws StreamProtocolException {
        int left = left(newLimit);
        if (left > granted || left < left(limit)) {
            throw new StreamProtocolException("a credit limit of " + newLimit + " after " + limit + ", " + sent
                    + " messages were sent (limit: not before the last one, at most " + granted + " after the messages sent)");
        }
        limit = newLimit & MASK;
    }
}
