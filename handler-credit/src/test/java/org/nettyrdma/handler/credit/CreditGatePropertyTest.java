package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * Any order of requests, responses, cancellations, calls given up, requests of the peer and the end of the connection leaves
 * the gate where plain integers say. Of the rules that the whole stack rests on these are the gate's:
 * <ul>
 * <li>No more requests are in progress than the peer granted, and than this end has receives for.
 * <li>No more requests of the peer are passed up than it was granted; the one beyond ends the connection.
 * <li>Requests leave in the order in which they were written, and a response lets as many go as it makes room for.
 * <li>The promise of every request is completed exactly once, and every message is released exactly once.
 * <li>After the end nothing is sent, and nothing waits.
 * </ul>
 */
class CreditGatePropertyTest {

    /** Something that happens at the gate; {@code which} selects one of the requests that it can happen to. */
    enum Kind { WRITE, CANCEL, RESPOND, RESPOND_WITHOUT_GRANT, RESPOND_TO_NOTHING, ABANDON, SERVE, ANSWER, CLOSE }

    record Event(Kind kind, int which, long credits) {
    }

    /** What a gate is made with. */
    record Limits(int maxRequests, int maxWaiting, int maxServed) {
    }

    @Provide
    Arbitrary<Limits> limits() {
        Arbitrary<Integer> small = Arbitraries.integers().between(1, 6);
        return Combinators.combine(small, Arbitraries.integers().between(0, 4), small).as(Limits::new);
    }

    @Provide
    Arbitrary<List<Event>> events() {
        // Close is rare, or most runs would be short ones.
        Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(12, Kind.WRITE), Tuple.of(2, Kind.CANCEL),
                Tuple.of(8, Kind.RESPOND), Tuple.of(2, Kind.RESPOND_WITHOUT_GRANT),
                Tuple.of(2, Kind.RESPOND_TO_NOTHING), Tuple.of(2, Kind.ABANDON),
                Tuple.of(6, Kind.SERVE), Tuple.of(7, Kind.ANSWER),
                Tuple.of(1, Kind.CLOSE));
        Arbitrary<Long> credits = Arbitraries.oneOf(Arbitraries.of(0L, 1L, 0xFFFF_FFFFL), Arbitraries.longs().between(0, 8));
        return Combinators.combine(kinds, Arbitraries.integers().between(0, 1000), credits).as(Event::new).list().ofMaxSize(80);
    }

    @Property
    void shouldKeepWithinTheGrantsWhateverHappens(@ForAll("limits") Limits limits, @ForAll("events") List<Event> events) {
        Run run = new Run(limits);
        for (Event event : events) {
            run.happen(event);
            run.compare();
        }
        run.end();
    }

    /** A gate, and beside it the integers and lists that say what it has to do. */
    private static final class Run {

        private final Limits limits;
        private final CreditGate gate;
        private final EmbeddedChannel channel;
        private final List<TestMessage> messages = new ArrayList<>();
        private final Map<Integer, ChannelFuture> futures = new LinkedHashMap<>();
        private final Map<Integer, Integer> completions = new LinkedHashMap<>();

        private final List<Integer> inProgress = new ArrayList<>();
        private final List<Integer> waiting = new ArrayList<>();
        private final List<Integer> expectedSent = new ArrayList<>();
        private final List<Integer> sent = new ArrayList<>();
        private int granted = 1;
        private int served;
        private int lastGrant = 1;
        private int servedInAll;
        private int servedMost = 1;
        private long asked = 1;
        private boolean open = true;
        private int nextXid = 1;

        Run(Limits limits) {
            this.limits = limits;
            gate = new CreditGate(limits.maxRequests(), limits.maxWaiting(), limits.maxServed());
            channel = new EmbeddedChannel(gate);
        }

        void happen(Event event) {
            switch (event.kind()) {
                case WRITE -> write();
                case CANCEL -> cancel(event.which());
                case RESPOND -> respond(event, true);
                case RESPOND_WITHOUT_GRANT -> respond(event, false);
                case RESPOND_TO_NOTHING -> receive(new TestMessage(Role.RESPONSE, -1 - event.which(), event.credits()));
                case ABANDON -> abandon(event.which());
                case SERVE -> serve(event.credits());
                case ANSWER -> answer();
                case CLOSE -> close();
            }
            collectSent();
        }

        private void write() {
            int xid = nextXid++;
            TestMessage request = keep(new TestMessage(Role.REQUEST, xid, 0));
            boolean refused = !open;
            if (open && waiting.isEmpty() && inProgress.size() < granted) {
                sends(xid);
            } else if (open && waiting.size() < limits.maxWaiting()) {
                waiting.add(xid);
            } else {
                refused = true;
            }
            ChannelFuture future = channel.writeAndFlush(request);
            futures.put(xid, future);
            future.addListener(done -> completions.merge(xid, 1, Integer::sum));
            assertEquals(refused, future.isDone() && !future.isSuccess());
            if (refused && open) {
                assertInstanceOf(CreditQueueFullException.class, future.cause());
            }
        }

        private void sends(int xid) {
            inProgress.add(xid);
            expectedSent.add(xid);
        }

        private void sendsWhatWaits() {
            while (!waiting.isEmpty() && inProgress.size() < granted) {
                sends(waiting.remove(0));
            }
        }

        private void cancel(int which) {
            if (!futures.isEmpty()) {
                Integer xid = 1 + which % (nextXid - 1);
                assertEquals(waiting.remove(xid), futures.get(xid).cancel(false), "what was sent cannot be cancelled");
            }
        }

        private void respond(Event event, boolean grants) {
            if (open && !inProgress.isEmpty()) {
                int xid = inProgress.remove(event.which() % inProgress.size());
                if (grants) {
                    granted = (int) Math.max(1, Math.min(event.credits(), limits.maxRequests()));
                }
                sendsWhatWaits();
                TestMessage response = new TestMessage(Role.RESPONSE, xid, event.credits());
                response.grantsCredits = grants;
                receive(response);
            }
        }

        private void abandon(int which) {
            if (open && !inProgress.isEmpty()) {
                int xid = inProgress.remove(which % inProgress.size());
                sendsWhatWaits();
                gate.abandon(xid);
            }
        }

        /** The peer sends a request, whether it may or not. */
        private void serve(long credits) {
            if (!open) {
                return;
            }
            TestMessage request = keep(new TestMessage(Role.REQUEST, 5000 + served, credits));
            ChannelFuture received = channel.writeOneInbound(request);
            if (servedInAll < servedMost) {
                served++;
                servedInAll++;
                asked = credits;
                assertEquals(request, channel.readInbound());
                request.release();
            } else {
                assertNull(channel.readInbound(), "nothing beyond the grant is passed up");
                assertFalse(channel.isOpen(), "the connection ends");
                assertInstanceOf(CreditExceededException.class, received.cause());
                closes();
            }
        }

        private void answer() {
            if (open && served > 0) {
                served--;
                int grant = (int) Math.max(1, Math.min(asked, limits.maxServed()));
                servedMost = Math.max(servedMost, servedInAll - served + Math.max(lastGrant, grant));
                lastGrant = grant;
                TestMessage response = keep(new TestMessage(Role.RESPONSE, 5000, 0));
                channel.writeOneOutbound(response);
                channel.flushOutbound();
                collectSent();
                assertEquals(grant, response.credits());
            }
        }

        private void close() {
            channel.close();
            closes();
        }

        private void closes() {
            open = false;
            waiting.clear();
        }

        private void receive(TestMessage response) {
            if (open) {
                keep(response);
                channel.writeInbound(response);
                assertEquals(response, channel.readInbound(), "responses are always passed up");
                response.release();
            }
        }

        private void collectSent() {
            for (TestMessage message = channel.readOutbound(); message != null; message = channel.readOutbound()) {
                if (message.role() == Role.REQUEST) {
                    sent.add(message.xid());
                    assertEquals(limits.maxRequests(), message.credits());
                }
                message.release();
            }
        }

        void compare() {
            assertEquals(expectedSent, sent);
            CreditStatistics statistics = gate.statistics();
            assertEquals(waiting.size(), statistics.requests().waiting());
            if (open) {
                assertEquals(inProgress.size(), statistics.requests().inProgress());
                assertEquals(granted, statistics.requests().granted());
                assertEquals(served, statistics.served().inProgress());
                assertEquals(lastGrant, statistics.served().granted());
                assertEquals(waiting.isEmpty(), channel.isWritable());
            }
            completions.forEach((xid, times) -> assertEquals(1, times, "completions of " + xid));
        }

        void end() {
            close();
            compare();
            channel.finishAndReleaseAll();
            assertEquals(Collections.nCopies(nextXid - 1, 1), List.copyOf(completions.values()));
            messages.forEach(message -> assertEquals(0, message.refCnt(), message.toString()));
        }

        private TestMessage keep(TestMessage message) {
            messages.add(message);
            return message;
        }
    }
}
