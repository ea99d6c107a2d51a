package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.support.SteeringTagGenerator;

/** Of connections whose peers owe their request: for how long, and how many. */
class OwedRequestsTest {

    private static final String REQUEST_BEGINNING = "4d504120494420526571204672616d65 10 02 0004 0010 00";
    private static final String REQUEST = REQUEST_BEGINNING + "10";

    private long now;
    private int clockCallsToFailure;
    private IwarpTestPeer peer;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer(this::readClock, new SteeringTagGenerator());
    }

    private long readClock() {
        if (clockCallsToFailure > 0 && --clockCallsToFailure == 0) {
            throw new OutOfMemoryError("expected");
        }
        return now;
    }

    @AfterEach
    void tearDown() {
        peer.close();
    }

    @Test
    void shouldDropPeersThatSendNoWholeRequestInTime() throws IOException {
        try (RawPeer silent = RawPeer.connect(peer, peer.listen());
             RawPeer slow = RawPeer.connect(peer, peer.listener.localAddress())) {
            slow.send(REQUEST_BEGINNING);
            peer.settle();
            now += 5_000_000_000L;
            silent.expectEnd();
            slow.expectEnd();
        }
        assertEquals(2, peer.provider.statistics().lateRequests());
        assertTrue(peer.requests.isEmpty());
    }

    @Test
    void shouldDropEachSilentPeerInItsTime() throws IOException {
        try (RawPeer first = RawPeer.connect(peer, peer.listen())) {
            peer.settle();
            now += 3_000_000_000L;
            try (RawPeer second = RawPeer.connect(peer, peer.listener.localAddress())) {
                peer.settle();
                now += 2_000_000_000L;
                first.expectEnd();
                assertEquals(1, peer.provider.statistics().lateRequests());
                now += 3_000_000_000L; // nobody has connected since
                second.expectEnd();
            }
        }
    }

    /** The clock is read for when it is to end, for how long that is, and by the timers. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldDropAPeerAtOnceWhereThereIsNoMemoryForItsTimer(int clockCalls) throws IOException {
        List<Throwable> failures = new ArrayList<>();
        try (ConnectionListener listener = peer.server.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8,
                new ListenAttributes(5000, 8, 8, 0, true), new ConnectionListener.Handler() {
                    @Override
                    public void connectionRequested(ConnectionRequest request) {
                        peer.requests.add(request);
                    }

                    @Override
                    public void acceptFailed(Throwable cause) {
                        failures.add(cause);
                    }
                })) {
            listener.setAccepting(true);
            try (RawPeer first = RawPeer.connect(peer, listener.localAddress())) {
                clockCallsToFailure = clockCalls;
                peer.settle();
                assertEquals(1, failures.size());
                first.expectEnd();
            }
            try (RawPeer second = RawPeer.connect(peer, listener.localAddress())) {
                peer.settle();
                now += 5_000_000_000L;
                second.expectEnd();
            }
        }
        assertEquals(1, peer.provider.statistics().lateRequests());
    }

    @Test
    void shouldDropTheOthersAtOnceWhereThereIsNoMemoryForTheNextTimer() throws IOException {
        try (RawPeer first = RawPeer.connect(peer, peer.listen())) {
            peer.settle();
            now += 3_000_000_000L;
            try (RawPeer second = RawPeer.connect(peer, peer.listener.localAddress())) {
                peer.settle();
                now += 2_000_000_000L;
                clockCallsToFailure = 3; // behind those for what is due, and for who is late
                assertThrows(OutOfMemoryError.class, peer::settle);
                first.expectEnd();
                second.expectEnd();
            }
        }
        assertEquals(1, peer.provider.statistics().lateRequests());
    }

    @Test
    void shouldLetTheOldestOfAnAddressThatOwesTooManyRequestsGo() throws IOException {
        peer.maxPendingRequestsPerAddress = 2;
        try (RawPeer first = RawPeer.connect(peer, peer.listen());
             RawPeer second = RawPeer.connect(peer, peer.listener.localAddress())) {
            peer.settle();
            try (RawPeer third = RawPeer.connect(peer, peer.listener.localAddress())) {
                first.expectEnd();
                third.send(REQUEST);
                peer.awaitRequest();
                second.send(REQUEST);
                peer.awaitRequest();
            }
        }
        assertEquals(1, peer.provider.statistics().displacedRequests());
        assertEquals(0, peer.provider.statistics().lateRequests());
    }

    @Test
    void shouldLetTheAddressThatOwesMostRequestsMakeRoom() throws IOException {
        peer.maxPendingRequests = 3;
        try (RawPeer onlyOne = RawPeer.connect(peer, peer.listen(), "127.0.0.2");
             RawPeer first = RawPeer.connect(peer, peer.listener.localAddress(), "127.0.0.3");
             RawPeer second = RawPeer.connect(peer, peer.listener.localAddress(), "127.0.0.3")) {
            peer.settle();
            try (RawPeer newcomer = RawPeer.connect(peer, peer.listener.localAddress(), "127.0.0.4")) {
                first.expectEnd();
                newcomer.send(REQUEST);
                peer.awaitRequest();
                onlyOne.send(REQUEST);
                peer.awaitRequest();
                second.send(REQUEST);
                peer.awaitRequest();
            }
        }
        assertEquals(1, peer.provider.statistics().displacedRequests());
    }

    @Test
    void shouldLetTheOldestMakeRoomWhereAllAddressesOweAsMany() throws IOException {
        peer.maxPendingRequests = 2;
        try (RawPeer first = RawPeer.connect(peer, peer.listen(), "127.0.0.4");
             RawPeer second = RawPeer.connect(peer, peer.listener.localAddress(), "127.0.0.3");
             RawPeer third = RawPeer.connect(peer, peer.listener.localAddress(), "127.0.0.2")) {
            first.expectEnd();
            third.send(REQUEST);
            peer.awaitRequest();
            second.send(REQUEST);
            peer.awaitRequest();
        }
    }
}
