package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import org.nettyrdma.verbs.support.DirectMemory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The memory that this process has allocated, each piece a file that only this process writes. Safe for use from any thread. */
final class OwnBlocks {

    static final char KIND = 'b';

    private static final Logger LOGGER = LoggerFactory.getLogger(OwnBlocks.class);

    private final ProcessDirectory directory;
    private final Map<ByteBuffer, Integer> numbers = Collections.synchronizedMap(new IdentityHashMap<>());

    OwnBlocks(ProcessDirectory directory) {
        this.directory = directory;
    }

    ByteBuffer allocate(int bytes) throws IOException {
        DirectMemory.requireSize(bytes);
        int number = directory.newNumber();
        directory.useMemory();
        MappedByteBuffer memory = null;
        try {
            memory = MappedFiles.create(directory, directory.file(KIND, number), bytes);
            numbers.put(memory, number);
            return memory;
        } finally {
            if (memory == null) {
                directory.releaseMemory();
            }
        }
    }

    ShmMemoryRegion register(ByteBuffer memory) {
        Integer number = numbers.get(memory);
        if (number == null) {
            throw new IllegalArgumentException("memory: " + memory
                    + " (expected: what allocate() of this provider has returned, since peers can map nothing else)");
        }
        return new ShmMemoryRegion(memory, number);
    }

    /**
     * Takes memory back. Peers may have the file mapped still; being empty it takes no memory any more, and an access that is
     * refused anyway ends theirs.
     */
    void free(ByteBuffer memory) {
        Integer number = numbers.remove(memory);
        if (number == null) {
            throw new IllegalArgumentException("memory: " + memory
                    + " (expected: memory of this provider that was not given back)");
        }
        MappedFiles.unmap((MappedByteBuffer) memory); // before anything that an access that has failed could show in
        Path file = directory.file(KIND, number);
        try {
            MappedFiles.remove(file);
        } catch (IOException e) {
            LOGGER.warn("{} could not be removed, or peers keep its memory: {}", file, e.toString());
        }
        directory.releaseMemory();
    }
}
