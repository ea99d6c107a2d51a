package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What whoever listens over TCP answers when a client asks whether both have the same shared directory: his process, the number
 * of his socket there, and a random number that stands in a file of the same number. A client that finds it there knows that
 * both see the same directory, and which socket is that of the listener whom it has reached over TCP. So no address is
 * compared, which says nothing where networks are virtual. It is no secret: it proves where the listener is, not who the
 * client is.
 *
 * <p>Question and answer are the private data of a request to connect and of its rejection.
 *
 * @param instance the process
 * @param number   of the socket and of the file
 * @param nonce    what the file holds
 */
record HostProof(long instance, int number, byte[] nonce) {

    private static final Logger LOGGER = LoggerFactory.getLogger(HostProof.class);

    private static final byte[] QUESTION = "netty-rdma host1".getBytes(StandardCharsets.US_ASCII);
    /** "nettyshm", with the version in the last byte. */
    private static final long ANSWER = 0x6E65747479736801L;
    static final char KIND = 'n';
    private static final int NONCE_BYTES = 16;
    private static final int ANSWER_BYTES = 2 * Long.BYTES + Integer.BYTES + NONCE_BYTES;

    private static final SecureRandom RANDOM = new SecureRandom();

    /** Makes the file of a listener. */
    static HostProof create(ProcessDirectory directory) throws IOException {
        try {
            return ChannelTask.uninterrupted(() -> createFile(directory));
        } catch (IOException e) {
            throw MappedFiles.noMemory(directory, NONCE_BYTES, e);
        }
    }

    private static HostProof createFile(ProcessDirectory directory) throws IOException {
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        HostProof proof = new HostProof(directory.instance(), directory.newNumber(), nonce);
        try (SeekableByteChannel file = Files.newByteChannel(proof.file(directory),
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), directory.fileMode())) {
            file.write(ByteBuffer.wrap(nonce));
        } catch (IOException e) {
            proof.remove(directory);
            throw e;
        }
        return proof;
    }

    private Path file(ProcessDirectory directory) {
        return directory.file(instance, KIND, number);
    }

    /** Nobody listens any more. */
    void remove(ProcessDirectory directory) {
        try {
            Files.deleteIfExists(file(directory));
        } catch (IOException e) {
            LOGGER.warn("{} could not be removed: {}", file(directory), e.toString());
        }
    }

    static ByteBuffer question() {
        return ByteBuffer.wrap(QUESTION);
    }

    /** Whether the private data of a request is the question. */
    static boolean isQuestion(ByteBuffer privateData) {
        return privateData.equals(question());
    }

    ByteBuffer answer() {
        return ByteBuffer.allocate(ANSWER_BYTES).putLong(ANSWER).putLong(instance).putInt(number).put(nonce).flip();
    }

    /**
     * Finds the socket of whoever has answered.
     *
     * @param answer what he has sent, be it what it may
     * @return the socket, or {@code null} if he has not proved to share the directory
     */
    static Path socket(ProcessDirectory directory, ByteBuffer answer) {
        ByteBuffer in = answer.duplicate();
        if (in.remaining() != ANSWER_BYTES || in.getLong() != ANSWER) {
            return null;
        }
        HostProof proof = new HostProof(in.getLong(), in.getInt(), new byte[NONCE_BYTES]);
        in.get(proof.nonce);
        if (proof.number < 1 || !MessageDigest.isEqual(proof.nonce, proof.read(directory))) {
            LOGGER.debug("no proof of the same directory {}: {}", directory.shared(), proof.file(directory));
            return null;
        }
        return directory.file(proof.instance, BoundSocket.KIND, proof.number);
    }

    /** What the file holds, empty if there is none. */
    private byte[] read(ProcessDirectory directory) {
        try {
            return ChannelTask.uninterrupted(() -> readFile(file(directory)));
        } catch (IOException e) {
            return new byte[0];
        }
    }

    private static byte[] readFile(Path file) throws IOException {
        try (SeekableByteChannel channel = MappedFiles.open(file)) {
            ByteBuffer in = ByteBuffer.allocate(NONCE_BYTES);
            while (in.hasRemaining() && channel.read(in) >= 0) {
                continue;
            }
            return in.hasRemaining() ? new byte[0] : in.array();
        }
    }
}
