package org.nettyrdma.codec.rpcrdma.requester;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.RawServer;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;
import org.nettyrdma.codec.rpcrdma.ShortSends;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;

/**
 * A client against a server that answers in any order, well, badly, twice, with any grant or not at all, may call the client
 * itself, and may go away at any time. Whatever it does:
 * <ul>
 * <li>Never more calls are on their way than the server granted last, and they leave in the order in which they were made;
 * one that is sent again goes behind those that wait.
 * <li>Each call ends exactly once: with its own reply, with the failure that the server caused, or with the connection.
 * <li>What the server has written with RDMA Write before its reply is all there when the caller sees the reply.
 * <li>A canceled call that was sent keeps its credit until the server answers it, and is not sent again.
 * <li>Every buffer is released once the connection has ended: none is on the account, and the leak detector counts.
 * </ul>
 * In version 2 as well:
 * <ul>
 * <li>Until the version is settled one call is out, of at most 1024 bytes; where the server refuses the version, its calls go on
 * in version 1 or fail.
 * <li>A call that is refused is sent again once, with the same XID and what the error asks for, if that is within the limits
 * of the client, and for no other error.
 * <li>No Send is longer than the Receive Buffer Size that held when its call was planned, however often that changes.
 * </ul>
 */
public class RequesterChunkHandlerPropertyTest {

    /** What happens. Those of version 2 alone do nothing where version 1 is spoken. */
    enum Kind {
        CALL, LOAD, LOAD_TWO, STORE, CANCEL, REPLY, REFUSE, REPLY_BADLY, REPLY_IN_OTHER_VERSION, REPLY_TWICE, REPLY_TO_NOTHING,
        ERROR_TO_NOTHING, INVALIDATE_WRONGLY, REVERSE_CALL, PROPERTIES, UNKNOWN_TYPE
    }

    /**
     * Something that happens.
     *
     * @param which  which call, which of several ways
     * @param grant  the credits
     * @param detail the error, the flags and the like
     */
    public record Event(Kind kind, int which, int grant, int detail) {
    }

    /**
     * How the client is built.
     *
     * @param patient whether cancelled calls keep their memory open, so that the server may go on answering them
     * @param reverse whether the server may call the client
     */
    record Setting(VersionPolicy versions, boolean patient, boolean reverse) {
    }

    private static Arbitrary<List<Event>> events(Kind... more) {
        List<Kind> kinds = new ArrayList<>(Collections.nCopies(8, Kind.REPLY));
        kinds.addAll(Collections.nCopies(6, Kind.CALL));
        kinds.addAll(Collections.nCopies(5, Kind.LOAD));
        kinds.addAll(List.of(Kind.LOAD_TWO, Kind.LOAD_TWO, Kind.STORE, Kind.STORE, Kind.CANCEL, Kind.CANCEL, Kind.REFUSE,
                Kind.REPLY_BADLY, Kind.REPLY_IN_OTHER_VERSION, Kind.REPLY_TWICE, Kind.REPLY_TO_NOTHING, Kind.REVERSE_CALL));
        kinds.addAll(List.of(more));
        Arbitrary<Kind> any = Arbitraries.frequencyOf(Tuple.of(40, Arbitraries.of(kinds)),
                Tuple.of(1, Arbitraries.of(Kind.ERROR_TO_NOTHING, Kind.INVALIDATE_WRONGLY)));
        Arbitrary<Integer> grants = Arbitraries.oneOf(Arbitraries.of(0, 1, -1),
                Arbitraries.integers().between(0, RequesterModel.CREDITS + 2));
        return Combinators.combine(any, Arbitraries.integers().between(0, 1000), grants,
                Arbitraries.integers().between(0, 1 << 20)).as(Event::new).list().ofMaxSize(24);
    }

    @Provide
    Arbitrary<List<Event>> eventsOfVersionOne() {
        return events();
    }

    @Provide
    Arbitrary<List<Event>> eventsOfVersionTwo() {
        return events(Kind.REFUSE, Kind.REFUSE, Kind.REFUSE, Kind.REFUSE, Kind.PROPERTIES, Kind.PROPERTIES, Kind.UNKNOWN_TYPE);
    }

    @Property
    void shouldEndEachCallOnceWhateverTheServerDoes(@ForAll("eventsOfVersionOne") List<Event> events, @ForAll boolean patient,
                                                    @ForAll boolean reverse) throws Exception {
        run(events, new Setting(VersionPolicy.V1_ONLY, patient, reverse));
    }

    @Property
    void shouldEndEachCallOnceInVersionTwo(@ForAll("eventsOfVersionTwo") List<Event> events, @ForAll boolean patient,
                                           @ForAll boolean reverse, @ForAll boolean demanded) throws Exception {
        run(events, new Setting(demanded ? VersionPolicy.V2_ONLY : VersionPolicy.PREFER_V2, patient, reverse));
    }

    private static void run(List<Event> events, Setting setting) throws Exception {
        RpcRdmaBuilder builder = ShortSends.client().binding(BulkProgram.BINDING).credits(RequesterModel.CREDITS)
                .versions(setting.versions()).maxMessageBytes(RequesterModel.MAX_MESSAGE_BYTES);
        if (setting.patient()) {
            builder.resources(ResourceLimits.DEFAULT.withMaxAbandonedBytes(16 << 20));
        }
        if (setting.reverse()) {
            builder.reverse(RequesterModel.REVERSE_CREDITS).program(new BulkProgram(true));
        }
        try (RawServer server = new RawServer(builder)) {
            RequesterModel model = new RequesterModel(server, setting);
            for (Event event : events) {
                model.happen(event);
            }
            model.end();
        }
    }
}
