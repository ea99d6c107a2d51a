package org.nettyrdma.verbs.disni;

import com.ibm.disni.verbs.impl.RdmaProviderNat;
import java.io.IOException;

/**
 * Finds out, once and without failing, whether DiSNI can be used, and which {@code libdisni.so} it has: upstream's or ours.
 */
final class NativeLibrary {

    private static final String FILE_NAME = System.mapLibraryName(LibraryFile.NAME);
    private static final String WHAT_TO_DO = "Add the jar of netty-transport-rdma with classifier linux-x86_64 to the class path,"
            + " or build " + FILE_NAME + " with -Pnative and start Java with -Djava.library.path=<directory that holds it>";

    private static final Throwable UNAVAILABILITY_CAUSE;
    private static final boolean EXTENSIONS;

    static {
        Throwable cause = findDisni();
        boolean extensions = false;
        if (cause == null) {
            try {
                boolean foundByDisni = LibraryFile.load();
                extensions = hasFittingExtensions();
                if (!foundByDisni) {
                    offerToDisni(extensions);
                }
            } catch (UnsatisfiedLinkError e) {
                cause = unavailable("The native library of DiSNI cannot be used: " + e.getMessage() + ". " + advice(e), e);
            } catch (SecurityException e) {
                cause = unavailable("The native library of DiSNI must not be loaded: " + e.getMessage(), e);
            }
        }
        UNAVAILABILITY_CAUSE = cause == null ? tryDisni() : cause;
        EXTENSIONS = extensions && UNAVAILABILITY_CAUSE == null;
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

    /** {@code false} for upstream's library, which is usable without the extensions. */
    private static boolean hasFittingExtensions() {
        int version;
        try {
            version = NativeExtensions.abiVersion();
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
        requireVersion(version);
        return true;
    }

    /** Throws if a library of this version cannot be used. */
    static void requireVersion(int version) {
        if (version != NativeExtensions.ABI_VERSION) {
            throw new UnsatisfiedLinkError(FILE_NAME + " has version " + version + " of the extensions, but this "
                    + "netty-transport-rdma needs version " + NativeExtensions.ABI_VERSION + ": take both from the same release");
        }
    }

    private static void offerToDisni(boolean extensions) {
        if (!extensions) {
            throw new UnsatisfiedLinkError("the file that " + LibraryFile.PROPERTY + " names is not of this project, and DiSNI "
                    + "finds others on java.library.path alone");
        }
        try {
            if (!NativeExtensions.offerToDisni()) {
                throw new UnsatisfiedLinkError(FILE_NAME + " is already loaded in another classloader");
            }
        } catch (IOException e) {
            throw new UnsatisfiedLinkError("DiSNI would not find it: " + e.getMessage());
        }
    }

    /** Does what DiSNI will do first: compare versions. Its way to the address of a buffer is not needed, see NativeVerbs. */
    private static Throwable tryDisni() {
        try {
            new RdmaProviderNat();
            return null;
        } catch (IOException e) {
            return unavailable("DiSNI refuses " + FILE_NAME + ": " + e.getMessage() + ". " + WHAT_TO_DO, e);
        } catch (UnsatisfiedLinkError e) {
            return unavailable("DiSNI does not work with " + FILE_NAME + ": " + e.getMessage() + ". " + advice(e), e);
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
