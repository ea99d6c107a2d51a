package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** One call of a procedure: what it is given, and what it answers. Used by one thread. */
final class NfsCall {

    /** Something to do with a lock. */
    interface Step<T> {
        T run() throws IOException;
    }

    /** The same where nothing comes of it. */
    interface Action {
        void run() throws IOException;
    }

    private static final int INITIAL_RESULT_BYTES = 512;

    private final FileTree tree;
    private final Credentials caller;
    private final ByteBuf arguments;
    private final int argumentsIndex;
    private final ByteBufAllocator allocator;
    private final ByteBuf out;
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
        argumentsIndex = arguments.readerIndex();
        out = allocator.buffer(INITIAL_RESULT_BYTES);
        begin();
    }

    /** Begins as if the procedure had done nothing. */
    void begin() {
        arguments.readerIndex(argumentsIndex);
        slots.clear();
        discardData();
        out.clear().writeInt(NfsStatus.OK.code());
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

    /** Takes the results, behind the status. */
    ByteBuf out() {
        return out;
    }

    /** Opens a slot for {@code post_op_attr}. */
    AttributeSlot attributes() {
        return open(AttributeSlot.Form.ATTRIBUTES);
    }

    /** Opens a slot for {@code wcc_data} of a file that nobody else changes while this call has its locks. */
    AttributeSlot changes() {
        return open(AttributeSlot.Form.CHANGES);
    }

    /** Opens a slot for {@code wcc_data} of a file that others may change meanwhile. */
    AttributeSlot sharedChanges() {
        return open(AttributeSlot.Form.SHARED_CHANGES);
    }

    private AttributeSlot open(AttributeSlot.Form form) {
        AttributeSlot slot = new AttributeSlot(tree, form, out);
        slots.add(slot);
        return slot;
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

    void locked(Lock lock, Action action) throws IOException {
        locked(lock, () -> {
            action.run();
            return null;
        });
    }

    /** Does something without a lock, and then forces what it {@linkplain #willChange changed}, which may take long. */
    void forcing(OpenFiles files, Action action) throws IOException {
        forcedIn = files;
        try {
            action.run();
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
        boolean isOpen = toForce.stream().anyMatch(open -> open.id().equals(file.node().id()));
        OpenFile open = forcedIn == null || isOpen ? null : forcedIn.toForce(file);
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

    /** Answers how the procedure failed, with the attributes in the slots that it opened. */
    void fail(NfsStatus status) {
        discardData();
        out.clear().writeInt(status.code());
        slots.forEach(AttributeSlot::write);
    }

    /** What is to be answered; its reference passes to the caller. */
    ByteBuf results() {
        // with room for the header of the reply
        return data == null ? out : allocator.compositeBuffer(3).addComponents(true, out, data);
    }

    /** Drops the results. */
    void release() {
        discardData();
        out.release();
    }

    private void discardData() {
        if (data != null) {
            data.release();
            data = null;
        }
        dataItem = null;
    }
}
