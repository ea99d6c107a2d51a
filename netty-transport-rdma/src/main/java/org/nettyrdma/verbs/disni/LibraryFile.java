package org.nettyrdma.verbs.disni;

import io.netty.util.internal.NativeLibraryLoader;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.SystemPropertyUtil;

/**
 * Where the native library comes from: the file that a system property names, else {@code libdisni.so} on the library path, else
 * the jar of this project for this machine, by way of Netty's own loader and its {@code io.netty.native} properties.
 */
final class LibraryFile {

    /** The name by which DiSNI asks for it. */
    static final String NAME = "disni";
    /** An absolute path. */
    static final String PROPERTY = "org.nettyrdma.disni.library";
    /** Named like Netty's, so that jars for several machines can be on one class path. */
    private static final String NAME_IN_JAR = "nettyrdma_disni_" + PlatformDependent.normalizedArch();

    private LibraryFile() {
    }

    /**
     * Loads the library into the class loader of this class.
     *
     * @return whether DiSNI finds the library, too, because it is on the library path
     * @throws UnsatisfiedLinkError if there is none, or the first one cannot be loaded
     */
    static boolean load() {
        String file = SystemPropertyUtil.get(PROPERTY);
        if (file != null) {
            System.load(file);
            return false;
        }
        try {
            System.loadLibrary(NAME);
            return true;
        } catch (UnsatisfiedLinkError e) {
            // Only where there is none: who has put one there wants that one.
            if (!isMissing(e) || !isInJar()) {
                throw e;
            }
        }
        NativeLibraryLoader.load(NAME_IN_JAR, LibraryFile.class.getClassLoader());
        return false;
    }

    /** Java's text for a library that it has looked for everywhere. */
    private static boolean isMissing(UnsatisfiedLinkError error) {
        return String.valueOf(error.getMessage()).contains("java.library.path");
    }

    private static boolean isInJar() {
        String path = "META-INF/native/" + System.mapLibraryName(NAME_IN_JAR);
        return LibraryFile.class.getClassLoader().getResource(path) != null;
    }
}
