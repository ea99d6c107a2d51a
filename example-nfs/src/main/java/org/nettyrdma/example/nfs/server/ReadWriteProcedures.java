package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.util.Set;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.ReadArguments;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.WriteArguments;

/**
 * READ, WRITE and COMMIT (RFC 1813, sections 3.3.6, 3.3.7 and 3.3.21). They take the name lock themselves, and not while
 * they move data, which may take long and needs no names.
 */
final class ReadWriteProcedures {

    /** A file that was found and opened. */
    private record Opened(FileObject file, OpenFile channel) {
    }

    /** What was written to a file, which may be less than all. */
    private record Written(Opened to, int count) {
    }

    private static final Set<NfsStatus> NO_ROOM = Set.of(NfsStatus.NOSPC, NfsStatus.DQUOT, NfsStatus.FBIG);

    private final FileTree tree;
    private final Export export;
    private final OpenFiles openFiles;
    private final FileLocks contents;
    private final AttributeChanges changes;
    private final int maxReadBytes;
    private final int maxWriteBytes;
    private final WriteVerifier verifier;

    ReadWriteProcedures(FileTree tree, Export export, OpenFiles openFiles, FileLocks contents, AttributeChanges changes,
                        NfsServiceOptions options, WriteVerifier verifier) {
        this.tree = tree;
        this.export = export;
        this.openFiles = openFiles;
        this.contents = contents;
        this.changes = changes;
        maxReadBytes = options.maxReadBytes();
        maxWriteBytes = options.maxWriteBytes();
        this.verifier = verifier;
    }

    /** A successful result always has attributes: Linux places data directly only where the rest has the size it expects. */
    void read(NfsCall call) throws IOException {
        ReadArguments arguments = ReadArguments.read(call.arguments());
        AttributeSlot slot = call.attributes();
        Opened opened = openFiles.withoutLease(tree.idOf(arguments.file()), false, call.caller(),
                () -> openForReading(call, arguments, slot));
        ByteBuf data = null;
        boolean endOfFile;
        try (OpenFile open = opened.channel()) {
            long size = open.channel().size();
            int count = bytesToRead(arguments, size);
            data = call.alloc().ioBuffer(Math.max(Xdr.paddedLength(count), Integer.BYTES));
            readFully(open.channel(), arguments.offset(), count, data);
            boolean becameShorter = data.readableBytes() < count;
            endOfFile = becameShorter || arguments.offset() < 0 || arguments.offset() + data.readableBytes() >= size;
        } catch (IOException | RuntimeException | Error e) {
            release(data);
            throw e;
        }
        int length = data.readableBytes();
        Xdr.writePadding(data, length);
        call.appendData(data);
        slot.write();
        ByteBuf out = call.out();
        Xdr.writeInt(out, length);
        Xdr.writeBoolean(out, endOfFile);
        Xdr.writeInt(out, length);
        call.setDataItem(new DataItem(out.readableBytes(), length));
    }

    private Opened openForReading(NfsCall call, ReadArguments arguments, AttributeSlot slot) throws IOException {
        return withNames(() -> {
            FileObject file = slot.fill(tree.locate(arguments.file())).requireRegular();
            AccessControl.requireReadData(call.caller(), file.attributes());
            return new Opened(file, openFiles.forReading(file));
        });
    }

    /** Opens a file with the name lock shared; alone where its mode has to change for that, see {@link OpenFiles#forReading}. */
    private Opened withNames(NfsCall.Step<Opened> opening) throws IOException {
        try {
            return tree.withNames(opening);
        } catch (AccessDeniedException e) {
            tree.exclusiveNames().lock();
            try {
                return opening.run();
            } finally {
                tree.exclusiveNames().unlock();
            }
        }
    }

    /** An offset of 2^63 or more, which is negative here, is behind the end of every file. */
    private int bytesToRead(ReadArguments arguments, long size) {
        long available = arguments.offset() < 0 ? 0 : Math.max(0, size - arguments.offset());
        return (int) Math.min(Math.min(arguments.count(), maxReadBytes), available);
    }

    private static void readFully(FileChannel channel, long offset, int count, ByteBuf data) throws IOException {
        while (data.readableBytes() < count) {
            int read = data.writeBytes(channel, offset + data.readableBytes(), count - data.readableBytes());
            if (read < 0) {
                if (!channel.isOpen()) {
                    throw new ClosedChannelException(); // Netty takes this for the end of the file
                }
                return; // the file became shorter, which is its end now
            }
        }
    }

    private static void release(ByteBuf data) {
        if (data != null) {
            data.release();
        }
    }

    void write(NfsCall call) throws IOException {
        WriteArguments arguments = WriteArguments.read(call.arguments());
        AttributeSlot slot = call.sharedChanges();
        int count = Math.min(arguments.data().readableBytes(), maxWriteBytes);
        long verifierBefore = verifier.current(); // what was lost later may have been of this call
        Written written = toWrite(call, arguments.file(), () -> openAndWrite(call, arguments, count, slot));
        try (OpenFile open = written.to().channel()) {
            if (arguments.stable() != StableHow.UNSTABLE) {
                openFiles.force(open, arguments.stable() == StableHow.FILE_SYNC);
                AccessControl.require(verifier.current() == verifierBefore, NfsStatus.JUKEBOX);
            }
        }
        slot.write();
        Xdr.writeInt(call.out(), written.count());
        Xdr.writeInt(call.out(), arguments.stable().code());
        Xdr.writeHyper(call.out(), verifierBefore);
    }

    private <T> T toWrite(NfsCall call, FileHandle file, NfsCall.Step<T> step) throws IOException {
        return openFiles.withoutLease(tree.idOf(file), !export.readOnly(), call.caller(), step);
    }

    /** With the lock of the contents, so that nobody sets the size, or finds it half written, meanwhile. */
    private Written openAndWrite(NfsCall call, WriteArguments arguments, int count, AttributeSlot slot) throws IOException {
        FileLocks.Held contentsOfFile = contents.shared(tree.idOf(arguments.file()));
        try {
            Opened opened = openForWriting(call, arguments, slot);
            try {
                ByteBuf data = arguments.data().slice(arguments.data().readerIndex(), count);
                int written = write(opened.channel().channel(), arguments.offset(), data);
                tree.changed(opened.file());
                return new Written(opened, written);
            } catch (IOException | RuntimeException | Error e) {
                opened.channel().close();
                throw e;
            }
        } finally {
            contentsOfFile.release();
        }
    }

    private Opened openForWriting(NfsCall call, WriteArguments arguments, AttributeSlot slot) throws IOException {
        return withNames(() -> {
            FileObject file = slot.fill(tree.locate(arguments.file()));
            AccessControl.require(!export.readOnly(), NfsStatus.ROFS);
            file.requireRegular();
            AccessControl.requireWriteData(call.caller(), file.attributes());
            AccessControl.require(arguments.count() == arguments.data().readableBytes(), NfsStatus.INVAL);
            AccessControl.require(arguments.offset() >= 0, NfsStatus.FBIG);
            changes.requireAllowedSize(arguments.offset() + arguments.count());
            changes.clearSetIdBits(call.caller(), file);
            return new Opened(file, openFiles.forWriting(file));
        });
    }

    /** Returns how much was written: all, or as much as there was room for. What is in the file the client has to know. */
    private int write(FileChannel channel, long offset, ByteBuf data) throws IOException {
        int written = 0;
        try {
            while (data.isReadable()) {
                written += data.readBytes(channel, offset + written, data.readableBytes());
            }
        } catch (IOException e) {
            // Some file systems tell here what they could not write earlier. A full disk or too large a file lose nothing that
            // was written before; any client may provoke them, and would make all others write again.
            NfsStatus status = NfsErrors.statusOf(e);
            if (status == NfsStatus.IO) {
                verifier.change();
            }
            if (written == 0 || !NO_ROOM.contains(status)) {
                throw e;
            }
        }
        return written;
    }

    /**
     * Forces the whole file: Java cannot force a part, and a server may always do more than it was asked for. Of a file that the
     * file system cannot force it answers INVAL, as fsync(2) does to who uses the file there. The Linux server has NOTSUPP, of
     * which its client makes a number that applications do not know.
     */
    void commit(NfsCall call) throws IOException {
        CommitArguments arguments = CommitArguments.read(call.arguments());
        AttributeSlot slot = call.sharedChanges();
        Opened opened = toWrite(call, arguments.file(), () -> openForCommit(call, arguments, slot));
        if (opened != null) {
            try (OpenFile open = opened.channel()) {
                openFiles.force(open, true);
            }
        }
        slot.write();
        Xdr.writeHyper(call.out(), verifier.current());
    }

    /**
     * Opens nothing in a read-only export, where nothing was written. To open a file for reading is enough, and goes where a
     * program that is run or its mode keeps this process from opening it for writing.
     */
    private Opened openForCommit(NfsCall call, CommitArguments arguments, AttributeSlot slot) throws IOException {
        return withNames(() -> {
            FileObject file = slot.fill(tree.locate(arguments.file())).requireRegular();
            if (export.readOnly()) {
                return null;
            }
            AccessControl.requireWriteData(call.caller(), file.attributes());
            OpenFile readable = openFiles.toForce(file);
            return new Opened(file, readable != null ? readable : openFiles.forWriting(file));
        });
    }
}
