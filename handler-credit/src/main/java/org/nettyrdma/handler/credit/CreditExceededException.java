package org.nettyrdma.handler.credit;

import java.io.IOException;

/** The peer has sent more requests than this end granted it; the connection is closed. */
public final class CreditExceededException extends IOException {

    private static final long serialVersionUID = 1L;

    CreditExceededException(int granted) {
        super("The peer has more than the " + granted + " requests in progress that it was granted");
    }
}
