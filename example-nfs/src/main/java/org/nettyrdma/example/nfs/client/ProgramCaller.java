package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.XdrException;

/** Calls one version of one program, and turns its results into objects. Thread safe. */
final class ProgramCaller {

    /** Makes an object of the results of a call that was accepted. */
    @FunctionalInterface
    interface Decoder<T> {

        /** The reader index of {@code results} is at their first byte; they are released when this returns. */
        T decode(ByteBuf results) throws IOException;
    }

    private final Function<RpcRequest, Future<ByteBuf>> rpc;
    private final int program;
    private final int version;
    private final OpaqueAuth credential;

    ProgramCaller(Function<RpcRequest, Future<ByteBuf>> rpc, int program, int version, OpaqueAuth credential) {
        this.rpc = rpc;
        this.program = program;
        this.version = version;
        this.credential = credential;
    }

    /**
     * Calls a procedure. Any thread.
     *
     * @param arguments XDR; its reference passes to the call
     * @return completes on the event loop; fails with {@link org.nettyrdma.codec.oncrpc.RpcException} if there are no
     *         results, and with an {@link IOException} if they cannot be decoded
     */
    <T> CompletableFuture<T> call(int procedure, ByteBuf arguments, Decoder<T> decoder) {
        CompletableFuture<T> result = new CompletableFuture<>();
        rpc.apply(new RpcRequest(program, version, procedure, arguments).setCredential(credential))
                .addListener((Future<ByteBuf> reply) -> complete(result, reply, decoder));
        return result;
    }

    private static <T> void complete(CompletableFuture<T> result, Future<ByteBuf> reply, Decoder<T> decoder) {
        if (!reply.isSuccess()) {
            result.completeExceptionally(reply.cause());
            return;
        }
        ByteBuf results = reply.getNow();
        T decoded;
        try {
            decoded = decoder.decode(results);
        } catch (XdrException e) {
            result.completeExceptionally(new IOException("the server's reply is malformed: " + e.getMessage(), e));
            return;
        } catch (IOException | RuntimeException | Error e) {
            result.completeExceptionally(e);
            return;
        } finally {
            results.release();
        }
        result.complete(decoded);
    }
}
