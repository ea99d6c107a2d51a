package org.nettyrdma.codec.rpcrdma.responder;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.RawClient;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;
import org.nettyrdma.codec.rpcrdma.ShortSends;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;
import org.nettyrdma.codec.rpcrdma.requester.RequesterChunkHandlerPropertyTest;

/**
 * A server against a client that sends calls of each shape and defects among them, as many as it was granted and at last
 * perhaps one more; the program answers in any order, and not all of them. Whatever comes:
 * <ul>
 * <li>Each call gets exactly one answer: its reply, an RDMA_ERROR, or the end of the connection.
 * <li>The grant is what the client's last call asked for, never nothing and never more than there are receives posted.
 * <li>A reply in a Reply chunk is written in full before the message that announces it arrives.
 * <li>A call beyond the grant ends the connection, and nothing is delivered after that.
 * <li>Every buffer is released once the connection has ended; the leak detector counts.
 * </ul>
 * In version 2 as well:
 * <ul>
 * <li>The error says what the call lacks; what is not a call is answered outside of the credits, or not at all.
 * <li>Replies keep to the Receive Buffer Size that the client told last, and withdraw the handle that the call named.
 * <li>Calls of the server itself keep to what the client says that it copes with, and each ends once.
 * </ul>
 *
 * <p>With {@link RequesterChunkHandlerPropertyTest} and the test of the credit gate these random orders are the ones that would
 * break the nine rules of the data path: (1) there are as many receives posted as credits granted, or the peer's Send would end
 * the connection; (2) the device holds one reference for each work request, or a buffer would leak or be gone too early; (3)
 * receives are posted again ahead of the reply that grants them; (4) the RDMA Writes of a reply are posted ahead of its Send;
 * (5) a call has exactly one answer; (6) the caller sees nothing that the peer can still write; (7) a loop that sleeps has
 * looked once more after it asked to be woken, or a message would wait for ever; (8) a queue pair ends when nothing is
 * outstanding, and its memory after it; (9) sends complete in the order of the outbound buffer, cancelled ones left out.
 */
class ResponderChunkHandlerPropertyTest {

    /** What happens. */
    enum Kind {
        CALL, LONG_CALL, CALL_WITH_REPLY_CHUNK, CALL_WITH_WRITE_CHUNK, MALFORMED_CALL, TOO_MANY_CHUNKS, OTHER_VERSION, ANSWER,
        PROPERTIES, UNKNOWN_TYPE, CLIENT_ERROR, REVERSE_CALL
    }

    /**
     * Something that happens.
     *
     * @param which  which call, which of several ways
     * @param asked  the credits
     * @param detail the sizes, the flags and the like
     */
    record Event(Kind kind, int which, int asked, int detail) {
    }

    private static Arbitrary<List<Event>> events(Kind... more) {
        List<Kind> kinds = new ArrayList<>(Collections.nCopies(11, Kind.ANSWER));
        kinds.addAll(Collections.nCopies(5, Kind.CALL));
        kinds.addAll(Collections.nCopies(4, Kind.LONG_CALL));
        kinds.addAll(Collections.nCopies(3, Kind.CALL_WITH_REPLY_CHUNK));
        kinds.addAll(Collections.nCopies(3, Kind.CALL_WITH_WRITE_CHUNK));
        kinds.addAll(List.of(Kind.MALFORMED_CALL, Kind.TOO_MANY_CHUNKS, Kind.OTHER_VERSION));
        kinds.addAll(List.of(more));
        Arbitrary<Integer> asked = Arbitraries.oneOf(Arbitraries.of(0, 1, -1),
                Arbitraries.integers().between(0, ResponderModel.CREDITS + 2));
        return Combinators.combine(Arbitraries.of(kinds), Arbitraries.integers().between(0, 1000), asked,
                Arbitraries.integers().between(0, 1 << 20)).as(Event::new).list().ofMaxSize(24);
    }

    @Provide
    Arbitrary<List<Event>> eventsOfVersionOne() {
        return events();
    }

    @Provide
    Arbitrary<List<Event>> eventsOfVersionTwo() {
        return events(Kind.PROPERTIES, Kind.PROPERTIES, Kind.UNKNOWN_TYPE, Kind.CLIENT_ERROR, Kind.REVERSE_CALL,
                Kind.REVERSE_CALL);
    }

    @Property
    void shouldAnswerEachCallOnceWhateverTheClientDoes(@ForAll("eventsOfVersionOne") List<Event> events, @ForAll boolean oneMore)
            throws Exception {
        run(events, oneMore, HeaderDigits.ONE, false);
    }

    @Property
    void shouldAnswerEachCallOnceInVersionTwo(@ForAll("eventsOfVersionTwo") List<Event> events, @ForAll boolean oneMore,
                                              @ForAll boolean reverse) throws Exception {
        run(events, oneMore, HeaderDigits.TWO, reverse);
    }

    private static void run(List<Event> events, boolean oneMore, HeaderDigits version, boolean reverse) throws Exception {
        BulkProgram program = new BulkProgram(true);
        RpcRdmaBuilder builder = ShortSends.server().program(program).binding(BulkProgram.BINDING).credits(ResponderModel.CREDITS)
                .versions(version == HeaderDigits.ONE ? VersionPolicy.V1_ONLY : VersionPolicy.PREFER_V2);
        if (reverse) {
            builder.reverse(ResponderModel.REVERSE_CREDITS);
        }
        try (RawClient client = new RawClient(builder)) {
            ResponderModel model = new ResponderModel(client, program, version, reverse);
            try {
                for (Event event : events) {
                    model.happen(event);
                }
                if (oneMore) {
                    model.exceed();
                }
            } finally {
                model.end();
            }
        }
    }
}
