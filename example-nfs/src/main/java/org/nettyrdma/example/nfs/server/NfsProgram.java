package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.List;
import org.nettyrdma.codec.oncrpc.AuthStatus;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcCallHeader;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsUpperLayerBinding;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The NFS program: finds the procedure of a call, executes it and answers what it says, or how it failed. Thread safe. */
final class NfsProgram implements RpcProgram {

    private static final Logger LOGGER = LoggerFactory.getLogger(NfsProgram.class);

    private static final NfsUpperLayerBinding BINDING = new NfsUpperLayerBinding();

    private final Export export;
    private final FileTree tree;
    private final ProcedureTable procedures;
    private final NfsStatistics statistics;
    private final FaultLog faults = new FaultLog(LOGGER);
    private final int maxReadBytes;

    NfsProgram(Export export, FileTree tree, ProcedureTable procedures, NfsStatistics statistics, int maxReadBytes) {
        this.maxReadBytes = maxReadBytes;
        this.export = export;
        this.tree = tree;
        this.procedures = procedures;
        this.statistics = statistics;
    }

    @Override
    public int program() {
        return Nfs.PROGRAM;
    }

    @Override
    public int lowestVersion() {
        return Nfs.VERSION;
    }

    @Override
    public int highestVersion() {
        return Nfs.VERSION;
    }

    /** NULL is for everybody, since clients use it to find out whether the server answers. */
    @Override
    public AuthStatus authenticate(RpcCallHeader header) {
        if (header.procedure() == NfsProcedure.NULL.number()) {
            return AuthStatus.AUTH_OK;
        }
        try {
            return Credentials.of(header.credential(), export) == null ? AuthStatus.AUTH_BADCRED : AuthStatus.AUTH_OK;
        } catch (XdrException e) {
            LOGGER.trace("malformed credential: {}", e.getMessage());
            return AuthStatus.AUTH_BADCRED;
        }
    }

    @Override
    public int maxResultBytes(RpcCall call) {
        ReplySpace space = BINDING.layoutOfCall(call.version(), call.procedure(), call.arguments()).replySpace();
        int bytes = space == null ? 0 : Math.min(space.maxReplyBytes(), maxReadBytes);
        if (space != null && !space.maxDataItemBytes().isEmpty()) {
            bytes += Math.min(space.maxDataItemBytes().get(0), maxReadBytes);
        }
        return bytes;
    }

    /** Of a procedure that is not there nothing is executed. */
    @Override
    public boolean isIdempotent(int version, int number) {
        NfsProcedure procedure = NfsProcedure.of(number);
        return procedure == null || procedure == NfsProcedure.NULL || procedures.get(procedure).repeatable();
    }

    @Override
    public void call(RpcCall call) {
        NfsProcedure procedure = NfsProcedure.of(call.procedure());
        if (procedure == null) {
            call.replyProcedureUnavailable();
        } else if (procedure == NfsProcedure.NULL) {
            long startNanos = System.nanoTime();
            call.reply(Unpooled.EMPTY_BUFFER);
            statistics.called(procedure, NfsStatus.OK, 0, 0, System.nanoTime() - startNanos);
        } else {
            execute(call, procedure);
        }
    }

    private void execute(RpcCall call, NfsProcedure procedure) {
        long startNanos = System.nanoTime();
        int argumentBytes = call.arguments().readableBytes();
        Credentials caller = Credentials.of(call.header().credential(), export);
        NfsCall nfsCall = new NfsCall(tree, caller, call.arguments(), call.alloc());
        NfsStatus status;
        ByteBuf results;
        try {
            status = statusOf(nfsCall, procedure);
            results = nfsCall.results();
        } catch (RuntimeException | Error e) {
            nfsCall.release();
            throw e;
        }
        statistics.called(procedure, status, argumentBytes, results.readableBytes(), System.nanoTime() - startNanos);
        if (nfsCall.dataItem() == null) {
            call.reply(results);
        } else {
            call.reply(results, List.of(nfsCall.dataItem()));
        }
    }

    private NfsStatus statusOf(NfsCall call, NfsProcedure procedure) {
        try {
            procedures.get(procedure).code().call(call);
            return NfsStatus.OK;
        } catch (XdrException e) {
            throw e; // GARBAGE_ARGS
        } catch (IOException | RuntimeException e) {
            NfsStatus status = NfsErrors.statusOf(e);
            if (status == NfsStatus.SERVERFAULT) {
                faults.warn(procedure, e);
            } else {
                LOGGER.trace("{} answers {}", procedure, status, e);
            }
            call.fail(status);
            return status;
        }
    }
}
