package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** One call of a procedure: what it is given, and where it puts what it answers. Used by one thread. */
final class NfsCall {

    /** Something to do with a lock. */
    interface Step<T> {
        T run() throws IOException;
    }

    private final FileTree tree;
    private final Credentials caller;
    private final ByteBuf arguments;
    private final ByteBufAllocator allocator;
    private final List<AttributeSlot> slots = new ArrayList<>(2);
    private final List<OpenFile> toForce = new ArrayList<>(2);
    /** {@code null} where nobody waits for the disk. */
    private OpenFiles forcedIn;
    private ByteBuf data;
    private DataItem dataItem;

    NfsCall(FileTree tree, Credentials caller, ByteBuf arguments, ByteBufAllocator allocator) {
        this.tree = tree;
        this.caller = caller;
        this.arguments = arguments;
        this.allocator = allocator;
    }

    Credentials caller() {
        return caller;
    }

    /** The arguments; the procedure does not release them. */
    ByteBuf arguments() {
        return arguments;
    }

    ByteBufAllocator alloc() {
        return allocator;
    }

    /** Opens a slot for {@code post_op_attr}. */
    AttributeSlot attributes() {
        return open(new AttributeSlot(tree, AttributeSlot.Form.ATTRIBUTES));
    }

    /** Opens a slot for {@code wcc_data} of a file that nobody else changes while this call has its locks. */
    AttributeSlot changes() {
        return open(new AttributeSlot(tree, AttributeSlot.Form.CHANGES));
    }

    /** Opens a slot for {@code wcc_data} of a file that others may change meanwhile. */
    AttributeSlot sharedChanges() {
        return open(new AttributeSlot(tree, AttributeSlot.Form.SHARED_CHANGES));
    }

    /** Does something with a lock. Where that fails, the results tell the attributes that the files have with it. */
    <T> T locked(Lock lock, Step<T> step) throws IOException {
        lock.lock();
        try {
            return step.run();
        } catch (IOException | RuntimeException e) {
            slots.forEach(AttributeSlot::settle);
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** Does something without a lock, and then forces what it {@linkplain #willChange changed}, which may take long. */
    void forcing(OpenFiles files, Step<?> step) throws IOException {
        forcedIn = files;
        try {
            step.run();
            force();
        } finally {
            toForce.forEach(OpenFile::close);
            toForce.clear();
        }
    }

    private void force() throws IOException {
        try {
            for (OpenFile file : toForce) {
                forcedIn.forceIfPossible(file);
            }
        } catch (IOException | RuntimeException e) {
            slots.forEach(slot -> slot.fill(null)); // others may have changed the files since the call had its locks
            if (NfsErrors.statusOf(e) == NfsStatus.JUKEBOX) {
                throw new NfsException(NfsStatus.IO); // who asks again would be told that somebody else has done it
            }
            throw e;
        }
    }

    /** Opens a file or a directory that this call changes next, while it has a descriptor for it and nothing has happened. */
    void willChange(FileObject file) throws IOException {
        OpenFile open = forcedIn == null ? null : forcedIn.toForce(file);
        if (open != null) {
            toForce.add(open);
        }
    }

    /** The same unless the caller may not read the file: it was not opened {@linkplain OpenFiles#withoutLease before} then. */
    void willChangeIfReadable(FileObject file) throws IOException {
        if (AccessControl.mayReadData(caller, file.attributes())) {
            willChange(file);
        }
    }

    /** Begins anew, as if the procedure had done nothing. */
    void again(int argumentsIndex) {
        arguments.readerIndex(argumentsIndex);
        slots.clear();
    }

    private AttributeSlot open(AttributeSlot slot) {
        slots.add(slot);
        return slot;
    }

    List<AttributeSlot> slots() {
        return slots;
    }

    /** Marks bytes of the results that may be placed directly. */
    void setDataItem(DataItem item) {
        dataItem = item;
    }

    DataItem dataItem() {
        return dataItem;
    }

    /** Appends a buffer to the results without copying it, as their end; its reference passes to the call. */
    void appendData(ByteBuf bytes) {
        data = bytes;
    }

    ByteBuf data() {
        return data;
    }

    /** Drops what a procedure appended before it failed. */
    void discardData() {
        if (data != null) {
            data.release();
            data = null;
        }
        dataItem = null;
    }
}
