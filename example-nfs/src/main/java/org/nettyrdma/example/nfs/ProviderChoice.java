package org.nettyrdma.example.nfs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.verbs.VerbsProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What carries RDMA where the user has not chosen: a device if there is one. Otherwise it is software iWARP to other hosts, and
 * shared memory to processes of this one, as far as there is room for its files and the process may write them.
 */
public final class ProviderChoice {

    private static final Logger LOGGER = LoggerFactory.getLogger(ProviderChoice.class);

    private static final String IWARP = "iwarp";
    private static final String BOTH = "iwarp-shm";
    /** Less than this is what container engines give by default, 64 MiB, and soon full. */
    private static final long LEAST_ROOM = 256L << 20;

    private ProviderChoice() {
    }

    /** Looked at once: later its own files take room. */
    private static final class SameHost {

        static final VerbsProvider PROVIDER = find();

        private static VerbsProvider find() {
            VerbsProvider both = Rdma.provider(BOTH);
            Path directory = Path.of(System.getProperty("org.nettyrdma.shm.directory", "/dev/shm"));
            try {
                if (both.unavailabilityCause() != null) {
                    throw new IOException(both.unavailabilityCause());
                }
                FileStore store = Files.getFileStore(
                        Files.exists(directory) ? directory : directory.toAbsolutePath().getParent());
                if (store.getUsableSpace() < LEAST_ROOM) {
                    throw new IOException(directory + " has room for " + store.getUsableSpace() + " bytes (expected: at least "
                            + LEAST_ROOM + ')');
                }
                both.openContext().close();
                requireLongFiles(Files.exists(directory) ? directory : directory.toAbsolutePath().getParent());
                LOGGER.info("RDMA provider: {}, as nobody has chosen one", BOTH);
                return both;
            } catch (IOException e) {
                LOGGER.info("No shared memory: {}", e.toString());
                return null;
            }
        }
    }

    /** The files of a process may be limited ({@code ulimit -f}), which only an attempt tells. It takes one page. */
    private static void requireLongFiles(Path directory) throws IOException {
        Path file = Files.createTempFile(directory, "netty-rdma-", null);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
            channel.write(ByteBuffer.allocate(1), LEAST_ROOM - 1);
        } catch (IOException e) {
            throw new IOException("files of this process may not have " + LEAST_ROOM + " bytes: " + e.getMessage(), e);
        }
    }

    /**
     * Chooses.
     *
     * @return the provider that was chosen by the system property {@code org.nettyrdma.provider}; else what the class says
     * @throws IllegalStateException if none can be used
     */
    public static VerbsProvider provider() {
        VerbsProvider standard = Rdma.provider();
        boolean chosen = System.getProperty("org.nettyrdma.provider") != null;
        return chosen || !standard.name().equals(IWARP) || SameHost.PROVIDER == null ? standard : SameHost.PROVIDER;
    }
}
