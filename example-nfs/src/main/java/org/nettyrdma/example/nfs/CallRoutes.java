package org.nettyrdma.example.nfs;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import org.nettyrdma.codec.rpcrdma.CallObserver;
import org.nettyrdma.codec.rpcrdma.CallRoute;
import org.nettyrdma.codec.rpcrdma.ReplyRoute;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;

/**
 * Counts how the calls of NFS clients and their replies moved, in the meter {@value #NAME} with the tags {@code procedure},
 * {@code call} and {@code reply}, in lower case. Thread safe.
 */
public final class CallRoutes implements CallObserver {

    /** Name of the counters. */
    public static final String NAME = "nfs.client.routes";

    private static final int CALL_ROUTES = CallRoute.values().length;
    private static final int REPLY_ROUTES = ReplyRoute.values().length;

    private final Counter[] counters = new Counter[NfsProcedure.values().length * CALL_ROUTES * REPLY_ROUTES];

    /**
     * Registers the counters.
     *
     * @param registry where the counters go
     */
    public CallRoutes(MeterRegistry registry) {
        for (NfsProcedure procedure : NfsProcedure.values()) {
            for (CallRoute call : CallRoute.values()) {
                for (ReplyRoute reply : ReplyRoute.values()) {
                    counters[index(procedure.number(), call, reply)] = Counter.builder(NAME)
                            .tag("procedure", lowerCase(procedure)).tag("call", lowerCase(call)).tag("reply", lowerCase(reply))
                            .baseUnit("calls").description("NFS calls by the way that they and their replies moved")
                            .register(registry);
                }
            }
        }
    }

    @Override
    public void replied(int program, int version, int procedure, CallRoute call, ReplyRoute reply) {
        if (program == Nfs.PROGRAM && version == Nfs.VERSION && NfsProcedure.of(procedure) != null) {
            counters[index(procedure, call, reply)].increment();
        }
    }

    private static int index(int procedure, CallRoute call, ReplyRoute reply) {
        return (procedure * CALL_ROUTES + call.ordinal()) * REPLY_ROUTES + reply.ordinal();
    }

    private static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
