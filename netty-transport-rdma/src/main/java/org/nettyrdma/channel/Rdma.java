package org.nettyrdma.channel;

import io.netty.util.internal.SystemPropertyUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.nettyrdma.verbs.VerbsProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says whether RDMA can be used on this machine, through which provider, and if not, why.
 *
 * <p>Providers are found once, with {@link ServiceLoader}. The first available one is used, in the order in which they are found.
 * Of those of this project the one for hardware comes first, and those with shared memory last, behind software iWARP, which is
 * always available. The system property {@code org.nettyrdma.provider} picks one by name instead; then no other is tried.
 *
 * <p>No provider is available with a version of Netty that this transport was not tested with, or where jars of both series of
 * Netty are mixed: the transport could send other memory than the program has written. docs/migrating.md lists the versions. The
 * version is read from the files {@code META-INF/io.netty.versions.properties} of Netty. A program that packs Netty without these
 * files names the version in the system property {@code org.nettyrdma.nettyVersion}.
 *
 * <p>Safe for use from any thread.
 */
public final class Rdma {

    private static final Logger LOGGER = LoggerFactory.getLogger(Rdma.class);

    private static final String PROVIDER_PROPERTY = "org.nettyrdma.provider";

    private Rdma() {
    }

    /** What was found; made when first asked for, so that loading the transport's classes loads no provider. */
    private static final class Found {

        static final List<VerbsProvider> PROVIDERS = load();
        static final VerbsProvider CHOSEN;
        static final Throwable UNAVAILABILITY_CAUSE;

        static {
            VerbsProvider chosen = null;
            Throwable cause = null;
            try {
                ensureNettyTested();
                chosen = choose(PROVIDERS, SystemPropertyUtil.get(PROVIDER_PROPERTY));
            } catch (IllegalStateException e) {
                cause = e;
            }
            CHOSEN = chosen;
            UNAVAILABILITY_CAUSE = cause;
        }

        private static List<VerbsProvider> load() {
            List<VerbsProvider> providers = new ArrayList<>();
            var candidates = ServiceLoader.load(VerbsProvider.class, Rdma.class.getClassLoader()).iterator();
            while (true) {
                try {
                    if (!candidates.hasNext()) {
                        return List.copyOf(providers);
                    }
                    providers.add(candidates.next());
                } catch (ServiceConfigurationError e) {
                    LOGGER.warn("Skipping an RDMA provider that cannot be loaded", e);
                }
            }
        }
    }

    /** Fails with what {@link NettyVersion} has against the Netty that is there. */
    static void ensureNettyTested() {
        String refusal = NettyVersion.refusal();
        if (refusal != null) {
            throw new IllegalStateException(refusal);
        }
    }

    /** Picks a provider and logs which and why. */
    static VerbsProvider choose(List<VerbsProvider> providers, String wantedName) {
        List<String> refusals = new ArrayList<>();
        for (VerbsProvider provider : providers) {
            if (wantedName != null && !wantedName.equals(provider.name())) {
                continue;
            }
            Throwable cause = unavailabilityCause(provider);
            if (cause == null) {
                LOGGER.info("RDMA provider: {} ({})", provider.name(), wantedName != null ? "set by " + PROVIDER_PROPERTY
                        : refusals.isEmpty() ? "the first found" : "not available: " + String.join("; ", refusals));
                return provider;
            }
            refusals.add(provider.name() + ": " + cause.getMessage());
        }
        if (!refusals.isEmpty()) {
            throw new IllegalStateException("no RDMA provider is available: " + String.join("; ", refusals));
        }
        throw new IllegalStateException(wantedName == null ? "no RDMA provider on the class path"
                : "no RDMA provider is named '" + wantedName + "' (" + PROVIDER_PROPERTY + "), found: " + names(providers));
    }

    private static List<String> names(List<VerbsProvider> providers) {
        return providers.stream().map(VerbsProvider::name).toList();
    }

    /** A provider of others may throw what it should return, for instance where its native library is missing. */
    private static Throwable unavailabilityCause(VerbsProvider provider) {
        try {
            return provider.unavailabilityCause();
        } catch (RuntimeException | LinkageError e) {
            return e;
        }
    }

    /**
     * Whether there is a provider that can be used.
     *
     * @return {@code true} if {@link #provider()} returns one
     */
    public static boolean isAvailable() {
        return Found.CHOSEN != null;
    }

    /**
     * Why no provider can be used.
     *
     * @return the reason, {@code null} if one can
     */
    public static Throwable unavailabilityCause() {
        return Found.UNAVAILABILITY_CAUSE;
    }

    /**
     * Fails unless there is a provider that can be used.
     *
     * @throws IllegalStateException if there is none; the message says why, for each provider found
     */
    public static void ensureAvailability() {
        if (Found.UNAVAILABILITY_CAUSE != null) {
            throw new IllegalStateException(Found.UNAVAILABILITY_CAUSE.getMessage(), Found.UNAVAILABILITY_CAUSE);
        }
    }

    /**
     * The provider that is used unless an event loop group is given another.
     *
     * @return the provider
     * @throws IllegalStateException if none can be used
     */
    public static VerbsProvider provider() {
        ensureAvailability();
        return Found.CHOSEN;
    }

    /**
     * Finds a provider by its name.
     *
     * @param name its {@link VerbsProvider#name()}
     * @return the provider; it may be unavailable
     * @throws IllegalArgumentException if there is none of that name
     */
    public static VerbsProvider provider(String name) {
        for (VerbsProvider provider : Found.PROVIDERS) {
            if (provider.name().equals(name)) {
                return provider;
            }
        }
        throw new IllegalArgumentException("no RDMA provider is named '" + name + "', found: " + names(Found.PROVIDERS));
    }

    /**
     * All providers found, available or not.
     *
     * @return them, in the order in which they were found
     */
    public static List<VerbsProvider> providers() {
        return Found.PROVIDERS;
    }
}
