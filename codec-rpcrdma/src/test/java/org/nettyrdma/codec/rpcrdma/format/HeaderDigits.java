package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.nettyrdma.codec.rpcrdma.Bytes;

/** The two header formats, written by hand, for tests that send the same messages in either. Reads as digits, in hexadecimal. */
public enum HeaderDigits {

    /** Of version 1 (RFC 8166, section 4). */
    ONE {
        @Override
        public String message(int xid, long credits, int type, int flags, int named, String lists) {
            return words(xid, 1, (int) credits, type) + lists;
        }
    },
    /** Of version 2 (version-two-08, sections 3 and 5). */
    TWO {
        @Override
        public String message(int xid, long credits, int type, int flags, int named, String lists) {
            return words(xid, 2, (int) credits, type, flags, named) + lists;
        }
    };

    public static final int MSG = 0;
    public static final int NOMSG = 1;
    /** Of a flag word: the message is a reply. */
    public static final int RESPONSE = 1;
    public static final String NO_CHUNKS = " 00000000 00000000 00000000 ";

    /**
     * A header with chunk lists; what version 1 does not have is left out.
     *
     * @param named the handle to invalidate
     * @param lists from the Read list on
     */
    public abstract String message(int xid, long credits, int type, int flags, int named, String lists);

    public int version() {
        return ordinal() + 1;
    }

    /** Length of a header without chunks. */
    public int chunkFreeLength() {
        return message(0, 0, MSG, 0, 0, Bytes.digits(NO_CHUNKS)).length() / 2;
    }

    /** An RDMA_ERROR in the layout of version 1, or RDMA2_ERROR. */
    public String error(int xid, long credits, int flags, int... codeAndBody) {
        return this == ONE ? words(xid, 1, (int) credits, 4) + words(codeAndBody)
                : words(xid, 2, (int) credits, 4, flags) + words(codeAndBody);
    }

    /** An ERR_VERS as both versions have it, with the version word that was refused. */
    public static String versionError(int xid, int version, long credits, int lowest, int highest) {
        return words(xid, version, (int) credits, 4, 1, lowest, highest);
    }

    /** An RDMA2_CONNPROP; each pair is the id and the value of a property that has one word. */
    public static String properties(int credits, int flags, int... idsAndValues) {
        StringBuilder digits = new StringBuilder(words(0, 2, credits, 5, flags, idsAndValues.length / 2));
        for (int i = 0; i < idsAndValues.length; i += 2) {
            digits.append(words(idsAndValues[i], 4, idsAndValues[i + 1]));
        }
        return digits.toString();
    }

    public static String words(int... words) {
        StringBuilder digits = new StringBuilder();
        for (int word : words) {
            digits.append(String.format("%08x", word));
        }
        return digits.toString();
    }

    /** Compares messages without regard for the spaces. */
    public static void requireSame(String expected, String received) {
        assertEquals(Bytes.digits(expected), received);
    }
}
