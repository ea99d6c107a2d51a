package org.nettyrdma.example.nfs.v41;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/**
 * The least of an NFS version 4.1 client that makes a server call back: a session with a back channel on the same connection,
 * and files opened for reading with a delegation. One call at a time, by one thread that is not the event loop.
 */
final class Nfs41Client implements AutoCloseable {

    private static final int TIMEOUT_SECONDS = 30;
    /** No reply of what is called here is larger, so that all of them travel inline. */
    private static final ReplySpace REPLY_SPACE = new ReplySpace(1024, List.of());
    private static final OpaqueAuth CREDENTIAL = new AuthSys(0, "netty-rdma", 0, 0, List.of()).toOpaqueAuth();
    /** What fits into an inline threshold of 4096 bytes behind the transport header. */
    private static final int BACK_CHANNEL_BYTES = 4068;
    private static final int FORE_CHANNEL_BYTES = 64 * 1024;
    private static final int MAX_OPERATIONS = 8;

    private final Channel channel;
    private final CallbackSession callbackSession;
    private long clientId;
    private int createSequence;
    private byte[] sessionId;
    private int sequence;

    private Nfs41Client(Channel channel, CallbackSession callbackSession) {
        this.channel = channel;
        this.callbackSession = callbackSession;
    }

    /** Connects; each slot of the session is one credit of the reverse direction. */
    static Nfs41Client connect(EventLoopGroup group, InetSocketAddress server, CallbackSession session,
                               CallbackProgram callbacks) throws InterruptedException {
        RpcRdma rpcRdma = RpcRdma.client().reverse(session.slots()).program(callbacks).build();
        Channel channel = rpcRdma.configure(new Bootstrap().group(group).channel(RdmaChannel.class)).connect(server).sync()
                .channel();
        return new Nfs41Client(channel, session);
    }

    void exchangeId(String owner) throws Exception {
        Compound compound = new Compound();
        ByteBuf out = compound.operation(Nfs41.OP_EXCHANGE_ID);
        Xdr.writeHyper(out, System.nanoTime()); // another verifier than that of the last run: a client that has restarted
        Xdr.writeString(out, owner);
        Xdr.writeInt(out, Nfs41.EXCHGID4_FLAG_USE_NON_PNFS);
        Xdr.writeInt(out, Nfs41.SP4_NONE);
        Xdr.writeInt(out, 0); // no implementation id
        try (CompoundResults results = call(compound)) {
            ByteBuf in = results.operation(Nfs41.OP_EXCHANGE_ID);
            clientId = Xdr.readHyper(in, "eir_clientid");
            createSequence = Xdr.readInt(in, "eir_sequenceid");
        }
    }

    /** Returns whether the server takes this connection for its back channel. */
    boolean createSession() throws Exception {
        Compound compound = new Compound();
        ByteBuf out = compound.operation(Nfs41.OP_CREATE_SESSION);
        Xdr.writeHyper(out, clientId);
        Xdr.writeInt(out, createSequence);
        Xdr.writeInt(out, Nfs41.CREATE_SESSION4_FLAG_CONN_BACK_CHAN);
        writeChannelAttributes(out, FORE_CHANNEL_BYTES, MAX_OPERATIONS, 1);
        writeChannelAttributes(out, BACK_CHANNEL_BYTES, 2, callbackSession.slots());
        Xdr.writeInt(out, CallbackProgram.PROGRAM);
        Xdr.writeInt(out, 1); // one security flavor of callbacks
        Xdr.writeInt(out, OpaqueAuth.NONE.flavor());
        try (CompoundResults results = call(compound)) {
            ByteBuf in = results.operation(Nfs41.OP_CREATE_SESSION);
            sessionId = Xdr.readFixedOpaque(in, Nfs41.SESSION_ID_BYTES, "csr_sessionid");
            callbackSession.open(sessionId);
            Xdr.readInt(in, "csr_sequence");
            return (Xdr.readInt(in, "csr_flags") & Nfs41.CREATE_SESSION4_FLAG_CONN_BACK_CHAN) != 0;
        }
    }

    private static void writeChannelAttributes(ByteBuf out, int bytes, int operations, int requests) {
        Xdr.writeInt(out, 0); // ca_headerpadsize
        Xdr.writeInt(out, bytes);
        Xdr.writeInt(out, bytes);
        Xdr.writeInt(out, 0); // ca_maxresponsesize_cached
        Xdr.writeInt(out, operations);
        Xdr.writeInt(out, requests);
        Xdr.writeInt(out, 0); // no ca_rdma_ird
    }

    void reclaimComplete() throws Exception {
        Compound compound = sequenced();
        Xdr.writeBoolean(compound.operation(Nfs41.OP_RECLAIM_COMPLETE), false);
        try (CompoundResults results = callSequenced(compound)) {
            results.operation(Nfs41.OP_RECLAIM_COMPLETE);
        }
    }

    /** Tells the server that this client lives. */
    void sequence() throws Exception {
        callSequenced(sequenced()).close();
    }

    /** Opens a file of the root directory for reading. */
    OpenedFile open(String name) throws Exception {
        Compound compound = sequenced();
        compound.operation(Nfs41.OP_PUTROOTFH);
        ByteBuf out = compound.operation(Nfs41.OP_OPEN);
        Xdr.writeInt(out, 0); // seqid, unused in version 4.1
        Xdr.writeInt(out, Nfs41.OPEN4_SHARE_ACCESS_READ | Nfs41.OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
        Xdr.writeInt(out, Nfs41.OPEN4_SHARE_DENY_NONE);
        Xdr.writeHyper(out, clientId);
        Xdr.writeOpaque(out, "owner".getBytes(StandardCharsets.US_ASCII));
        Xdr.writeInt(out, Nfs41.OPEN4_NOCREATE);
        Xdr.writeInt(out, Nfs41.CLAIM_NULL);
        Xdr.writeString(out, name);
        compound.operation(Nfs41.OP_GETFH);
        try (CompoundResults results = callSequenced(compound)) {
            results.operation(Nfs41.OP_PUTROOTFH);
            ByteBuf in = results.operation(Nfs41.OP_OPEN);
            StateId open = StateId.read(in);
            in.skipBytes(Integer.BYTES + 2 * Long.BYTES + Integer.BYTES); // change_info4, rflags
            in.skipBytes(Xdr.readArrayLength(in, 3, Integer.BYTES, "attrset") * Integer.BYTES);
            int delegationType = Xdr.readInt(in, "delegation_type");
            if (delegationType != Nfs41.OPEN_DELEGATE_READ) {
                throw new IOException("no read delegation of " + name + ": delegation type " + delegationType);
            }
            StateId delegation = StateId.read(in);
            in.skipBytes(4 * Integer.BYTES); // recall, and type, flag and mask of the permissions
            Xdr.readOpaque(in, Nfs41.MAX_TAG_BYTES, "who");
            byte[] handle = Xdr.readOpaque(results.operation(Nfs41.OP_GETFH), Nfs41.MAX_FILE_HANDLE_BYTES, "object");
            return new OpenedFile(handle, open, delegation);
        }
    }

    void returnDelegation(OpenedFile file) throws Exception {
        Compound compound = sequenced();
        Xdr.writeOpaque(compound.operation(Nfs41.OP_PUTFH), file.handle());
        file.delegation().write(compound.operation(Nfs41.OP_DELEGRETURN));
        try (CompoundResults results = callSequenced(compound)) {
            results.operation(Nfs41.OP_PUTFH);
            results.operation(Nfs41.OP_DELEGRETURN);
        }
    }

    void closeFile(OpenedFile file) throws Exception {
        Compound compound = sequenced();
        Xdr.writeOpaque(compound.operation(Nfs41.OP_PUTFH), file.handle());
        ByteBuf out = compound.operation(Nfs41.OP_CLOSE);
        Xdr.writeInt(out, 0); // seqid, unused in version 4.1
        file.open().write(out);
        try (CompoundResults results = callSequenced(compound)) {
            results.operation(Nfs41.OP_PUTFH);
            results.operation(Nfs41.OP_CLOSE);
        }
    }

    void destroySession() throws Exception {
        Compound compound = new Compound();
        Xdr.writeFixedOpaque(compound.operation(Nfs41.OP_DESTROY_SESSION), sessionId);
        try (CompoundResults results = call(compound)) {
            results.operation(Nfs41.OP_DESTROY_SESSION);
        }
        compound = new Compound();
        Xdr.writeHyper(compound.operation(Nfs41.OP_DESTROY_CLIENTID), clientId);
        try (CompoundResults results = call(compound)) {
            results.operation(Nfs41.OP_DESTROY_CLIENTID);
        }
    }

    /** Begins a COMPOUND with SEQUENCE on the one slot that is used. */
    private Compound sequenced() {
        Compound compound = new Compound();
        ByteBuf out = compound.operation(Nfs41.OP_SEQUENCE);
        Xdr.writeFixedOpaque(out, sessionId);
        Xdr.writeInt(out, ++sequence);
        Xdr.writeInt(out, 0); // slot
        Xdr.writeInt(out, 0); // highest slot
        Xdr.writeBoolean(out, false);
        return compound;
    }

    private CompoundResults callSequenced(Compound compound) throws Exception {
        CompoundResults results = call(compound);
        try {
            results.operation(Nfs41.OP_SEQUENCE).skipBytes(Nfs41.SESSION_ID_BYTES + 5 * Integer.BYTES);
            return results;
        } catch (IOException | RuntimeException e) {
            results.close();
            throw e;
        }
    }

    private CompoundResults call(Compound compound) throws Exception {
        RpcRequest request = new RpcRequest(Nfs41.PROGRAM, Nfs41.VERSION, Nfs41.COMPOUND, compound.arguments())
                .setCredential(CREDENTIAL).setReplySpace(REPLY_SPACE);
        return new CompoundResults(channel.pipeline().get(RpcClient.class).call(request).get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
    }

    /** A file that is open for reading, with the delegation that came with it. */
    record OpenedFile(byte[] handle, StateId open, StateId delegation) {
    }
}
