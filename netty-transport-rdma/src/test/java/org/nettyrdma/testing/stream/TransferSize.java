package org.nettyrdma.testing.stream;

/**
 * What one run of {@code rstream} transfers, as its options -S, -C and -I say.
 *
 * @param bytes      bytes of one transfer
 * @param transfers  transfers in one direction before the other has its turn
 * @param iterations how often both directions have their turn
 * @param verified   whether both sides look at each byte, as with {@code -T v}
 */
record TransferSize(int bytes, int transfers, int iterations, boolean verified) {

    private static final String UNVERIFIED = "u";

    /** Reads {@code BYTES:TRANSFERS:ITERATIONS}, verified, or the same and {@code :u}. Other letters are ignored. */
    static TransferSize parse(String text) {
        String[] numbers = text.split(":");
        return new TransferSize(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]), Integer.parseInt(numbers[2]),
                !text.endsWith(':' + UNVERIFIED));
    }

    /** Bytes of one turn. */
    long turnBytes() {
        return (long) bytes * transfers;
    }

    @Override
    public String toString() {
        return bytes + ":" + transfers + ':' + iterations;
    }
}
