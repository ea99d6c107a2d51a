package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.CompletableFuture;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.Xdr;

/** Asks rpcbind where a program answers, with version 2 of its protocol (RFC 1833, section 3). Thread safe. */
final class PortmapClient {

    /** Where rpcbind answers. */
    static final int PORT = 111;

    private static final int PROGRAM = 100000;
    private static final int VERSION = 2;
    private static final int GETPORT = 3;
    private static final int IPPROTO_TCP = 6;

    private final ProgramCaller caller;

    PortmapClient(RpcClient rpc) {
        caller = new ProgramCaller(rpc, PROGRAM, VERSION, OpaqueAuth.NONE);
    }

    /** Returns the TCP port of a program, 0 if rpcbind does not know one. */
    CompletableFuture<Integer> tcpPort(int program, int version) {
        ByteBuf arguments = Unpooled.buffer(4 * Integer.BYTES);
        Xdr.writeInt(arguments, program);
        Xdr.writeInt(arguments, version);
        Xdr.writeInt(arguments, IPPROTO_TCP);
        Xdr.writeInt(arguments, 0);
        return caller.call(GETPORT, arguments, results -> Xdr.readInt(results, "PMAPPROC_GETPORT result"));
    }
}
