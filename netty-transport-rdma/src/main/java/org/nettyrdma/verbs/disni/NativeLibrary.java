package org.nettyrdma.verbs.disni;

import com.ibm.disni.verbs.impl.RdmaProviderNat;
import java.io.IOException;

/**
 * Finds out, once and without failing, whether DiSNI can be used, and which {@code libdisni.so} it has: upstream's or ours.
 */
final class NativeLibrary {

    private static final String NAME = "disni";
    private static final String WHAT_TO_DO =
            "Build netty-transport-rdma with -Pnative, or take its linux-x86_64 jar, and start Java with"
            + " -Djava.library.path=<directory that holds " + System.mapLibraryName(NAME) + ">";

    private static final Throwable UNAVAILABILITY_CAUSE;
    private static final boolean EXTENSIONS;

    static {
        Throwable cause = findDisni();
        cause = cause == null ? load() : cause;
        cause = cause == null ? tryDisni() : cause;
        boolean extensions = false;
        if (cause == null) {
            try {
                int version = NativeExtensions.abiVersion();
                extensions = true;
                cause = versionMismatch(version);
            } catch (UnsatisfiedLinkError e) {
                // Upstream's library: usable, without the extensions.
                extensions = false;
            }
        }
        UNAVAILABILITY_CAUSE = cause;
        EXTENSIONS = extensions && cause == null;
    }

    private NativeLibrary() {
    }

    private static Throwable findDisni() {
        try {
            Class.forName("com.ibm.disni.verbs.RdmaVerbs", false, NativeLibrary.class.getClassLoader());
            return null;
        } catch (ClassNotFoundException e) {
            return unavailable("DiSNI is not on the class path: add com.ibm.disni:disni:2.1 without its dependencies on log4j",
                    e);
        }
    }

    private static Throwable load() {
        try {
            // DiSNI loads the library by this name, too, from the same class loader: whichever comes second does nothing.
            System.loadLibrary(NAME);
            return null;
        } catch (UnsatisfiedLinkError e) {
            return unavailable("The native library of DiSNI cannot be loaded: " + e.getMessage() + ". " + advice(e), e);
        } catch (SecurityException e) {
            return unavailable("The native library of DiSNI must not be loaded: " + e.getMessage(), e);
        }
    }

    /** Does what DiSNI will do first: compare versions. Its way to the address of a buffer is not needed, see NativeVerbs. */
    private static Throwable tryDisni() {
        try {
            new RdmaProviderNat();
            return null;
        } catch (IOException e) {
            return unavailable("DiSNI refuses " + System.mapLibraryName(NAME) + ": " + e.getMessage() + ". " + WHAT_TO_DO, e);
        } catch (UnsatisfiedLinkError e) {
            return unavailable(System.mapLibraryName(NAME) + " is not the library of DiSNI: it has no " + e.getMessage() + ". "
                    + WHAT_TO_DO, e);
        }
    }

    /** Tells a library that is not there from one that lacks something itself or belongs to another class loader. */
    static String advice(UnsatisfiedLinkError error) {
        String message = String.valueOf(error.getMessage());
        if (message.contains("libibverbs") || message.contains("librdmacm")) {
            return "Install the run time libraries of RDMA: on Debian and Ubuntu, apt install libibverbs1 librdmacm1 "
                    + "ibverbs-providers";
        }
        if (message.contains("already loaded in another classloader")) {
            return "Put DiSNI and netty-transport-rdma into one class loader that all applications of this Java virtual machine "
                    + "share";
        }
        return WHAT_TO_DO;
    }

    /** Returns why a library of this version cannot be used, or {@code null} if it can. */
    static Throwable versionMismatch(int version) {
        return version == NativeExtensions.ABI_VERSION ? null : unavailable(
                System.mapLibraryName(NAME) + " has version " + version
                + " of the extensions, but this netty-transport-rdma needs version "
                        + NativeExtensions.ABI_VERSION + ": take both from the same release. " + WHAT_TO_DO, null);
    }

    private static Throwable unavailable(String message, Throwable cause) {
        return new UnsatisfiedLinkError(message).initCause(cause);
    }

    /**
     * Tells why DiSNI cannot be used.
     *
     * @return the reason, whose message says what to do about it, or {@code null} if the library is there and fits
     */
    static Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /**
     * Whether the library is ours, so that {@link NativeExtensions} can be called.
     *
     * @return {@code true} if so, {@code false} if the library is upstream's or there is none
     */
    static boolean hasExtensions() {
        return EXTENSIONS;
    }
}
