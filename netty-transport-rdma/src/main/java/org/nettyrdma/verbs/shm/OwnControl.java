package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.MappedByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This side's control file: the ring that it fills, and how far it has got with the other side's. See {@link ControlLayout}.
 */
final class OwnControl {

    static final char KIND = 'c';

    private static final Logger LOGGER = LoggerFactory.getLogger(OwnControl.class);

    private final int number;
    private final MappedByteBuffer memory;
    private Path file;
    private long nextEntry;
    private int asleep;
    private long consumed;
    private int probed;

    OwnControl(ProcessDirectory directory) throws IOException {
        number = directory.newNumber();
        file = directory.file(KIND, number);
        memory = MappedFiles.create(directory, file, ControlLayout.FILE_BYTES);
        try {
            ControlLayout.LONG.setRelease(memory, ControlLayout.MAGIC_OFFSET, ControlLayout.MAGIC);
            MappedFiles.settle();
        } catch (InternalError e) {
            close();
            throw PeerControl.truncated();
        }
    }

    int number() {
        return number;
    }

    /** The other side has it mapped, or never will. */
    void unlink() {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                PeerLog.warn(LOGGER, file, "could not be removed: {}", e.toString());
            }
            file = null;
        }
    }

    /** The number of the entry that is written next, from 0: as many have been. */
    long nextEntry() {
        return nextEntry;
    }

    /** Writes one piece of the next message. */
    void setPiece(int piece, int block, int offset, int length) {
        int at = ControlLayout.pieceOffset(nextEntry, piece);
        ControlLayout.INT.set(memory, at, block);
        ControlLayout.INT.set(memory, at + ControlLayout.PIECE_OFFSET_OFFSET, offset);
        ControlLayout.INT.set(memory, at + ControlLayout.PIECE_LENGTH_OFFSET, length);
    }

    /** Hands the next message to the other side; its pieces have been written. */
    void publish(Operation operation, int pieces, int steeringTag, long taggedOffset, int totalBytes) {
        int at = ControlLayout.entryOffset(nextEntry);
        ControlLayout.INT.set(memory, at + ControlLayout.OPERATION_OFFSET, pieces << 16 | operation.code());
        ControlLayout.INT.set(memory, at + ControlLayout.STEERING_TAG_OFFSET, steeringTag);
        ControlLayout.LONG.set(memory, at + ControlLayout.TAGGED_OFFSET_OFFSET, taggedOffset);
        ControlLayout.INT.set(memory, at + ControlLayout.TOTAL_BYTES_OFFSET, totalBytes);
        ControlLayout.LONG.setRelease(memory, at, nextEntry + 1);
        nextEntry += ControlLayout.entriesFor(pieces);
    }

    void setConsumed(long entries) {
        consumed = entries;
        ControlLayout.LONG.setRelease(memory, ControlLayout.CONSUMED_OFFSET, entries);
    }

    /** Writes what is there already where {@link #setConsumed} is about to write: whether that can fail shows when settled. */
    void rehearseConsumed() {
        ControlLayout.LONG.setOpaque(memory, ControlLayout.CONSUMED_OFFSET, consumed);
    }

    /** Looks at each page. */
    void probe() {
        for (int at = 0; at < ControlLayout.FILE_BYTES; at += ControlLayout.RING_OFFSET) {
            probed += memory.get(at);
        }
    }

    /**
     * From now on the other side has to wake this one. Who calls it must look once more whether there is something to do: what
     * the other side wrote before it could see this is visible afterwards.
     */
    void fallAsleep() {
        if (!isAsleep()) {
            ControlLayout.INT.setRelease(memory, ControlLayout.ASLEEP_OFFSET, ++asleep);
            VarHandle.fullFence();
        }
    }

    /** This side polls again. */
    void awake() {
        if (isAsleep()) {
            ControlLayout.INT.setRelease(memory, ControlLayout.ASLEEP_OFFSET, ++asleep);
        }
    }

    boolean isAsleep() {
        return (asleep & 1) != 0;
    }

    /**
     * Tells that the connection has ended. When this returns, the other side will believe nothing that it copies afterwards.
     *
     * @param entry the entry of the other side that was refused, -1 for none
     */
    void end(EndReason reason, long entry, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        int length = Math.min(bytes.length, ControlLayout.MAX_END_TEXT_BYTES);
        memory.put(ControlLayout.END_TEXT_OFFSET, bytes, 0, length);
        ControlLayout.INT.set(memory, ControlLayout.END_TEXT_LENGTH_OFFSET, length);
        ControlLayout.LONG.set(memory, ControlLayout.END_ENTRY_OFFSET, entry);
        ControlLayout.INT.setRelease(memory, ControlLayout.END_CODE_OFFSET, reason.code());
        VarHandle.fullFence();
    }

    void close() {
        unlink();
        MappedFiles.unmap(memory);
    }
}
