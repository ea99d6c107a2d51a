package org.nettyrdma.example.nfs.v41;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.Xdr;

/** What an NFS version 4.1 server calls at its client (RFC 8881, section 20). Delegations are all that can be recalled. */
final class CallbackProgram implements RpcProgram {

    static final int PROGRAM = 0x4000_0000;

    private static final int MAX_OPERATIONS = 16;
    private static final int MAX_REFERRING_CALLS = 64;

    private final CallbackSession session;
    private final Consumer<String> observer;
    private final Consumer<StateId> recalls;

    /**
     * @param session  the back channel
     * @param observer is told of each callback
     * @param recalls  is told of each delegation that the server wants back
     */
    CallbackProgram(CallbackSession session, Consumer<String> observer, Consumer<StateId> recalls) {
        this.session = session;
        this.observer = observer;
        this.recalls = recalls;
    }

    @Override
    public int program() {
        return PROGRAM;
    }

    @Override
    public int lowestVersion() {
        return 1;
    }

    @Override
    public int highestVersion() {
        return 1;
    }

    @Override
    public void call(RpcCall call) {
        switch (call.procedure()) {
            case Nfs41.CB_NULL -> {
                observer.accept("CB_NULL");
                call.reply(Unpooled.EMPTY_BUFFER);
            }
            case Nfs41.CB_COMPOUND -> compound(call);
            default -> call.replyProcedureUnavailable();
        }
    }

    private void compound(RpcCall call) {
        ByteBuf in = call.arguments();
        byte[] tag = Xdr.readOpaque(in, Nfs41.MAX_TAG_BYTES, "tag");
        int minorVersion = Xdr.readInt(in, "minorversion");
        Xdr.readInt(in, "callback_ident"); // of version 4.0 only
        int operations = Xdr.readArrayLength(in, MAX_OPERATIONS, Integer.BYTES, "argarray");
        ByteBuf results = Unpooled.buffer();
        List<String> names = new ArrayList<>();
        int status = minorVersion == Nfs41.MINOR_VERSION ? Nfs41.NFS4_OK : Nfs41.NFS4ERR_MINOR_VERS_MISMATCH;
        for (int i = 0; i < operations && status == Nfs41.NFS4_OK; i++) {
            status = operation(i, Xdr.readInt(in, "argop"), in, results, names);
        }
        ByteBuf reply = call.alloc().buffer();
        Xdr.writeInt(reply, status);
        Xdr.writeOpaque(reply, tag);
        Xdr.writeInt(reply, names.size());
        reply.writeBytes(results);
        call.reply(reply);
        observer.accept("CB_COMPOUND " + String.join(" ", names) + ", status " + status);
    }

    /** Serves one operation, writes its results and returns its status. */
    private int operation(int index, int code, ByteBuf in, ByteBuf out, List<String> names) {
        boolean known = code >= Nfs41.OP_CB_GETATTR && code <= Nfs41.OP_CB_NOTIFY_DEVICEID;
        Xdr.writeInt(out, known ? code : Nfs41.OP_CB_ILLEGAL);
        names.add(code == Nfs41.OP_CB_SEQUENCE ? "CB_SEQUENCE" : code == Nfs41.OP_CB_RECALL ? "CB_RECALL" : "operation " + code);
        if (code == Nfs41.OP_CB_SEQUENCE && index == 0) {
            return sequence(in, out);
        }
        int status = !known ? Nfs41.NFS4ERR_OP_ILLEGAL
                : index == 0 ? Nfs41.NFS4ERR_OP_NOT_IN_SESSION
                : switch (code) {
                    case Nfs41.OP_CB_SEQUENCE -> Nfs41.NFS4ERR_SEQUENCE_POS;
                    case Nfs41.OP_CB_RECALL -> recall(in);
                    default -> Nfs41.NFS4ERR_NOTSUPP;
                };
        Xdr.writeInt(out, status);
        return status;
    }

    private int sequence(ByteBuf in, ByteBuf out) {
        byte[] sessionId = Xdr.readFixedOpaque(in, Nfs41.SESSION_ID_BYTES, "csa_sessionid");
        int sequence = Xdr.readInt(in, "csa_sequenceid");
        int slot = Xdr.readInt(in, "csa_slotid");
        Xdr.readInt(in, "csa_highest_slotid");
        Xdr.readBoolean(in, "csa_cachethis");
        int lists = Xdr.readArrayLength(in, MAX_REFERRING_CALLS, Nfs41.SESSION_ID_BYTES, "csa_referring_call_lists");
        for (int i = 0; i < lists; i++) {
            Xdr.readFixedOpaque(in, Nfs41.SESSION_ID_BYTES, "rcl_sessionid");
            int calls = Xdr.readArrayLength(in, MAX_REFERRING_CALLS, 2 * Integer.BYTES, "rcl_referring_calls");
            in.skipBytes(calls * 2 * Integer.BYTES);
        }
        int status = session.next(sessionId, sequence, slot);
        Xdr.writeInt(out, status);
        if (status == Nfs41.NFS4_OK) {
            Xdr.writeFixedOpaque(out, sessionId);
            Xdr.writeInt(out, sequence);
            Xdr.writeInt(out, slot);
            Xdr.writeInt(out, session.slots() - 1);
            Xdr.writeInt(out, session.slots() - 1);
        }
        return status;
    }

    private int recall(ByteBuf in) {
        StateId delegation = StateId.read(in);
        Xdr.readBoolean(in, "truncate");
        Xdr.readOpaque(in, Nfs41.MAX_FILE_HANDLE_BYTES, "fh");
        recalls.accept(delegation);
        return Nfs41.NFS4_OK;
    }
}
