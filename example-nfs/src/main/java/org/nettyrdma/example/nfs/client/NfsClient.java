package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.example.nfs.protocol.AccessArguments;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileSystemInfo;
import org.nettyrdma.example.nfs.protocol.FileSystemStatus;
import org.nettyrdma.example.nfs.protocol.LinkArguments;
import org.nettyrdma.example.nfs.protocol.MakeDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.MakeNodeArguments;
import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.PathConfiguration;
import org.nettyrdma.example.nfs.protocol.ReadArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryPlusArguments;
import org.nettyrdma.example.nfs.protocol.RenameArguments;
import org.nettyrdma.example.nfs.protocol.SetAttributesArguments;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.SymbolicLinkArguments;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.protocol.WireForm;
import org.nettyrdma.example.nfs.protocol.WriteArguments;

/**
 * The procedures of NFS version 3 (RFC 1813, section 3.3), one method each. Knows nothing of what carries the calls.
 *
 * <p>Thread safe. No method blocks; what they return completes on the connection's event loop, so stages that block need an
 * executor of their own. A call fails with {@link NfsException} if the server answered with an error, with
 * {@link org.nettyrdma.codec.oncrpc.RpcException} if it did not answer the call, and with another {@link IOException} if its
 * reply is malformed. A server that asks to try again later (NFS3ERR_JUKEBOX; RFC 1813, section 2.6) has done nothing yet: the
 * call is made again with another XID, after a tenth of a second and then twice as long each time, for 25 seconds in all.
 */
public final class NfsClient {

    private static final int INITIAL_ARGUMENT_BYTES = 256;
    private static final int FIRST_DELAY_MILLIS = 100;
    private static final int LAST_DELAY_MILLIS = 12_800;

    private final ProgramCaller caller;
    private final ByteBufAllocator allocator;
    private final NfsClientStatistics statistics;

    /**
     * Creates a client.
     *
     * @param rpc makes the calls, like {@code RpcClient::call}
     * @param allocator the channel's allocator; messages built from its buffers are sent without a copy
     * @param credential who calls
     * @param statistics counts the calls
     */
    public NfsClient(Function<RpcRequest, Future<ByteBuf>> rpc, ByteBufAllocator allocator, OpaqueAuth credential,
            NfsClientStatistics statistics) {
        this.caller = new ProgramCaller(rpc, Nfs.PROGRAM, Nfs.VERSION, credential);
        this.allocator = allocator;
        this.statistics = statistics;
    }

    /**
     * Returns where buffers for {@link #write} should come from.
     *
     * @return the channel's allocator
     */
    public ByteBufAllocator allocator() {
        return allocator;
    }

    /**
     * NULL: shows that the server answers.
     *
     * @return completes with {@code null}
     */
    public CompletableFuture<Void> nullCall() {
        return timed(NfsProcedure.NULL, caller.call(NfsProcedure.NULL.number(), Unpooled.EMPTY_BUFFER, results -> null));
    }

    /**
     * GETATTR: reads the attributes of a file.
     *
     * @param file the file
     * @return its attributes
     */
    public CompletableFuture<Fattr> getAttributes(FileHandle file) {
        return call(NfsProcedure.GETATTR, file, Fattr::read);
    }

    /**
     * SETATTR: changes attributes of a file.
     *
     * @param arguments the file, the changes and a guard
     * @return completes with {@code null}
     */
    public CompletableFuture<Void> setAttributes(SetAttributesArguments arguments) {
        return call(NfsProcedure.SETATTR, arguments, results -> null);
    }

    /**
     * LOOKUP: finds a name in a directory.
     *
     * @param directory the directory
     * @param name the name
     * @return the file, with a handle
     */
    public CompletableFuture<LookupResult> lookup(FileHandle directory, String name) {
        return call(NfsProcedure.LOOKUP, new DirectoryOperationArguments(directory, name),
                results -> new LookupResult(FileHandle.read(results), Fattr.readOptional(results)));
    }

    /**
     * ACCESS: asks what the caller may do.
     *
     * @param file the file
     * @param access what to ask about, bits of {@link org.nettyrdma.example.nfs.protocol.AccessBits}
     * @return which of the bits are allowed
     */
    public CompletableFuture<Integer> access(FileHandle file, int access) {
        return call(NfsProcedure.ACCESS, new AccessArguments(file, access),
                afterAttributes(results -> Xdr.readInt(results, "ACCESS3resok.access")));
    }

    /**
     * READLINK: reads a symbolic link.
     *
     * @param link the link
     * @return its target
     */
    public CompletableFuture<String> readLink(FileHandle link) {
        return call(NfsProcedure.READLINK, link,
                afterAttributes(results -> NameText.read(results, Nfs.MAX_STRING_BYTES, "READLINK3resok.data")));
    }

    /**
     * READ: reads from a file.
     *
     * @param file the file
     * @param offset first byte to read
     * @param count most bytes to read; the server may return fewer
     * @return the data; its reference passes to the receiver
     */
    public CompletableFuture<ReadResult> read(FileHandle file, long offset, int count) {
        return call(NfsProcedure.READ, new ReadArguments(file, offset, count), results -> {
            Fattr attributes = Fattr.readOptional(results);
            long countBytes = Xdr.readUnsignedInt(results, "READ3resok.count");
            boolean endOfFile = Xdr.readBoolean(results, "READ3resok.eof");
            ByteBuf data = Xdr.readOpaqueSlice(results, count, "READ3resok.data");
            if (countBytes != data.readableBytes()) { // who knows which of them is the one that is true
                throw new XdrException("READ3resok.count: " + countBytes + " (expected: " + data.readableBytes()
                        + ", the length of READ3resok.data)");
            }
            return new ReadResult(attributes, endOfFile, data.retain());
        });
    }

    /**
     * WRITE: writes to a file.
     *
     * @param file the file
     * @param offset where the first byte goes
     * @param stable how safe the data has to be when the call returns
     * @param data the data; its reference passes to the call
     * @return how much was written, and how safely
     */
    public CompletableFuture<WriteResult> write(FileHandle file, long offset, StableHow stable, ByteBuf data) {
        int length = data.readableBytes();
        CompositeByteBuf arguments = allocator.compositeBuffer(3);
        try {
            arguments.addComponent(true, encode(new WriteArguments(file, offset, length, stable, data)::writeWithoutData));
            arguments.addComponent(true, data.retain());
            int padding = Xdr.paddingOf(length);
            if (padding > 0) {
                arguments.addComponent(true, allocator.buffer(padding).writeZero(padding));
            }
        } catch (RuntimeException | Error e) { // no memory, for instance
            arguments.release();
            throw e;
        } finally {
            data.release();
        }
        return call(NfsProcedure.WRITE, arguments, results -> {
            WccData.read(results);
            int count = Xdr.readInt(results, "WRITE3resok.count");
            if (count < 0 || count > length) {
                throw new IOException("the server says that it wrote " + Integer.toUnsignedString(count) + " of " + length
                        + " bytes");
            }
            return new WriteResult(count, StableHow.read(results), Xdr.readHyper(results, "WRITE3resok.verf"));
        });
    }

    /**
     * CREATE: creates a file.
     *
     * @param arguments directory, name, attributes, and what to do where the name exists
     * @return the file
     */
    public CompletableFuture<LookupResult> create(CreateArguments arguments) {
        return call(NfsProcedure.CREATE, arguments, NfsClient::readCreated);
    }

    /**
     * MKDIR: creates a directory.
     *
     * @param arguments directory, name and attributes
     * @return the new directory
     */
    public CompletableFuture<LookupResult> makeDirectory(MakeDirectoryArguments arguments) {
        return call(NfsProcedure.MKDIR, arguments, NfsClient::readCreated);
    }

    /**
     * SYMLINK: creates a symbolic link.
     *
     * @param arguments directory, name, attributes and target
     * @return the link
     */
    public CompletableFuture<LookupResult> makeSymbolicLink(SymbolicLinkArguments arguments) {
        return call(NfsProcedure.SYMLINK, arguments, NfsClient::readCreated);
    }

    /**
     * MKNOD: creates a special file.
     *
     * @param arguments directory, name, type and attributes
     * @return the file
     */
    public CompletableFuture<LookupResult> makeNode(MakeNodeArguments arguments) {
        return call(NfsProcedure.MKNOD, arguments, NfsClient::readCreated);
    }

    /**
     * REMOVE: removes a name of a file.
     *
     * @param directory the directory
     * @param name the name
     * @return completes with {@code null}
     */
    public CompletableFuture<Void> remove(FileHandle directory, String name) {
        return call(NfsProcedure.REMOVE, new DirectoryOperationArguments(directory, name), results -> null);
    }

    /**
     * RMDIR: removes an empty directory.
     *
     * @param directory the directory that holds it
     * @param name its name
     * @return completes with {@code null}
     */
    public CompletableFuture<Void> removeDirectory(FileHandle directory, String name) {
        return call(NfsProcedure.RMDIR, new DirectoryOperationArguments(directory, name), results -> null);
    }

    /**
     * RENAME: renames a file or directory.
     *
     * @param arguments old and new directory and name
     * @return completes with {@code null}
     */
    public CompletableFuture<Void> rename(RenameArguments arguments) {
        return call(NfsProcedure.RENAME, arguments, results -> null);
    }

    /**
     * LINK: gives a file one more name.
     *
     * @param file the file
     * @param directory the directory of the new name
     * @param name the new name
     * @return completes with {@code null}
     */
    public CompletableFuture<Void> link(FileHandle file, FileHandle directory, String name) {
        return call(NfsProcedure.LINK, new LinkArguments(file, new DirectoryOperationArguments(directory, name)),
                results -> null);
    }

    /**
     * READDIR: lists a directory.
     *
     * @param arguments the directory, where to go on, and how much to return
     * @return names and file numbers
     */
    public CompletableFuture<DirectoryPage> readDirectory(ReadDirectoryArguments arguments) {
        return call(NfsProcedure.READDIR, arguments, afterAttributes(results -> readPage(results, DirectoryEntry::read)));
    }

    /**
     * READDIRPLUS: lists a directory with attributes and handles.
     *
     * @param arguments the directory, where to go on, and how much to return
     * @return names, file numbers, and what the server tells of attributes and handles
     */
    public CompletableFuture<DirectoryPage> readDirectoryPlus(ReadDirectoryPlusArguments arguments) {
        return call(NfsProcedure.READDIRPLUS, arguments, afterAttributes(results -> readPage(results, DirectoryEntry::readPlus)));
    }

    /**
     * FSSTAT: asks how full the file system is.
     *
     * @param root a file on it
     * @return sizes and counts
     */
    public CompletableFuture<FileSystemStatus> fileSystemStatus(FileHandle root) {
        return call(NfsProcedure.FSSTAT, root, afterAttributes(FileSystemStatus::read));
    }

    /**
     * FSINFO: asks for the limits of the server.
     *
     * @param root a file on the file system
     * @return the limits
     */
    public CompletableFuture<FileSystemInfo> fileSystemInfo(FileHandle root) {
        return call(NfsProcedure.FSINFO, root, afterAttributes(FileSystemInfo::read));
    }

    /**
     * PATHCONF: asks for the limits of names and links.
     *
     * @param file a file on the file system
     * @return the limits
     */
    public CompletableFuture<PathConfiguration> pathConfiguration(FileHandle file) {
        return call(NfsProcedure.PATHCONF, file, afterAttributes(PathConfiguration::read));
    }

    /**
     * COMMIT: makes earlier writes stable.
     *
     * @param arguments the file and the range
     * @return the verifier: writes that returned another one may be lost
     */
    public CompletableFuture<Long> commit(CommitArguments arguments) {
        return call(NfsProcedure.COMMIT, arguments, results -> {
            WccData.read(results);
            return Xdr.readHyper(results, "COMMIT3resok.verf");
        });
    }

    private <T> CompletableFuture<T> call(NfsProcedure procedure, WireForm arguments, ProgramCaller.Decoder<T> decoder) {
        return call(procedure, encode(arguments), decoder);
    }

    private <T> CompletableFuture<T> call(NfsProcedure procedure, ByteBuf arguments, ProgramCaller.Decoder<T> decoder) {
        CompletableFuture<T> result = new CompletableFuture<>();
        attempt(result, procedure, arguments, results -> {
            int code = Xdr.readInt(results, "status");
            NfsStatus status = NfsStatus.of(code);
            if (status != NfsStatus.OK) {
                throw new NfsException(procedure, status, code);
            }
            return decoder.decode(results);
        }, FIRST_DELAY_MILLIS);
        return timed(procedure, result);
    }

    /** Makes a call, and again while the server asks for that. The arguments are kept until then. */
    private <T> void attempt(CompletableFuture<T> result, NfsProcedure procedure, ByteBuf arguments,
            ProgramCaller.Decoder<T> decoder, int delayMillis) {
        int start = arguments.readerIndex();
        int end = arguments.writerIndex();
        CompletableFuture<T> answer;
        try {
            answer = caller.call(procedure.number(), arguments.retain(), decoder);
        } catch (RuntimeException | Error e) { // which nobody would hear of who waits for a call that is made again
            answer = CompletableFuture.failedFuture(e);
        }
        answer.whenComplete((value, failure) -> {
            if (failure instanceof NfsException refused && refused.status() == NfsStatus.JUKEBOX
                    && delayMillis <= LAST_DELAY_MILLIS) {
                CompletableFuture.delayedExecutor(delayMillis, TimeUnit.MILLISECONDS).execute(
                        () -> attempt(result, procedure, arguments.setIndex(start, end), decoder, 2 * delayMillis));
                return;
            }
            arguments.release();
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(failure);
            }
        });
    }

    private <T> CompletableFuture<T> timed(NfsProcedure procedure, CompletableFuture<T> result) {
        long startNanos = System.nanoTime();
        result.whenComplete((value, failure) -> statistics.record(procedure, System.nanoTime() - startNanos));
        return result;
    }

    private ByteBuf encode(WireForm arguments) {
        ByteBuf out = allocator.buffer(INITIAL_ARGUMENT_BYTES);
        try {
            arguments.write(out);
            return out;
        } catch (RuntimeException | Error e) {
            out.release();
            throw e;
        }
    }

    /** Reads what stands behind the attributes that are part of nearly all results. */
    private static <T> ProgramCaller.Decoder<T> afterAttributes(Function<ByteBuf, T> reader) {
        return results -> {
            Fattr.readOptional(results);
            return reader.apply(results);
        };
    }

    private static LookupResult readCreated(ByteBuf results) {
        return new LookupResult(FileHandle.readOptional(results), Fattr.readOptional(results));
    }

    private static DirectoryPage readPage(ByteBuf results, Function<ByteBuf, DirectoryEntry> reader) {
        long cookieVerifier = Xdr.readHyper(results, "cookieverf");
        List<DirectoryEntry> entries = new ArrayList<>();
        while (Xdr.readBoolean(results, "dirlist3.entries")) {
            entries.add(reader.apply(results));
        }
        return new DirectoryPage(cookieVerifier, entries, Xdr.readBoolean(results, "dirlist3.eof"));
    }
}
