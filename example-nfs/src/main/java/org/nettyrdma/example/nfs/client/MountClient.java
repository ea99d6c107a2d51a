package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.example.nfs.protocol.ExportEntry;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountResult;
import org.nettyrdma.example.nfs.protocol.MountStatus;
import org.nettyrdma.example.nfs.protocol.NameText;

/**
 * The procedures of MOUNT version 3 (RFC 1813, section 5.2) that a client of NFS calls, one method each. Thread safe. No
 * method blocks; what they return completes on the connection's event loop, and fails with {@link MountException} if the
 * server refused, with {@link org.nettyrdma.codec.oncrpc.RpcException} if it did not answer the call.
 */
public final class MountClient {

    private final ProgramCaller caller;

    /**
     * Creates a client.
     *
     * @param rpc makes the calls, like {@code RpcClient::call}
     * @param credential who calls
     */
    public MountClient(Function<RpcRequest, Future<ByteBuf>> rpc, OpaqueAuth credential) {
        caller = new ProgramCaller(rpc, Mount.PROGRAM, Mount.VERSION, credential);
    }

    /**
     * MNT: gets the handle of an exported directory.
     *
     * @param path path of the directory on the server
     * @return the handle, and the authentication flavors that the server takes
     */
    public CompletableFuture<MountResult> mount(String path) {
        return caller.call(MountProcedure.MNT.number(), path(path), results -> {
            MountStatus status = MountStatus.read(results);
            if (status != MountStatus.OK) {
                throw new MountException(path, status);
            }
            return MountResult.read(results);
        });
    }

    /**
     * UMNT: takes a directory of this host out of the list of who mounted what. Its handle stays good.
     *
     * @param path what was mounted, as {@link #mount} had it
     * @return completes when the server has answered
     */
    public CompletableFuture<Void> unmount(String path) {
        return caller.call(MountProcedure.UMNT.number(), path(path), results -> null);
    }

    /**
     * EXPORT: lists the exported directories.
     *
     * @return the exports, and who may mount them
     */
    public CompletableFuture<List<ExportEntry>> exports() {
        return caller.call(MountProcedure.EXPORT.number(), Unpooled.EMPTY_BUFFER, ExportEntry::readList);
    }

    private static ByteBuf path(String path) {
        ByteBuf arguments = Unpooled.buffer();
        NameText.write(arguments, path);
        return arguments;
    }
}
