package org.nettyrdma.codec.oncrpc.client;

import java.net.SocketAddress;
import java.util.List;
import java.util.function.Supplier;

/**
 * Where the server is. All connections of a client lead to the same address, as long as attempts there do not fail: then it is
 * the next one's turn. Event loop only.
 */
final class ServerAddresses {

    private final Supplier<? extends List<? extends SocketAddress>> source;
    private int turn;
    private int size = 1;

    ServerAddresses(Supplier<? extends List<? extends SocketAddress>> source) {
        this.source = source;
    }

    /** Asks for the addresses anew, and returns the one whose turn it is. */
    SocketAddress current() {
        List<? extends SocketAddress> addresses = source.get();
        if (addresses.isEmpty()) {
            size = 1;
            throw new IllegalStateException("there is no address of the server");
        }
        size = addresses.size();
        return addresses.get(Math.floorMod(turn, size));
    }

    /** Whose turn it is, to be told by {@link #failed}. */
    int turn() {
        return turn;
    }

    /** An attempt of that turn has failed; what several connections say of one turn counts once. */
    void failed(int failedTurn) {
        if (turn == failedTurn) {
            turn++;
        }
    }

    /** How many addresses there were at last. */
    int size() {
        return size;
    }
}
