package org.nettyrdma.codec.rpcrdma;

import java.util.ServiceLoader;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.verbs.VerbsProvider;

/** Providers for tests that do not do with the one that is there for all. */
final class TestProviders {

    private TestProviders() {
    }

    /** Another one of the same name, with memory that no other test uses. */
    static VerbsProvider withOwnMemory() {
        return ServiceLoader.load(VerbsProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(provider -> provider.name().equals(Rdma.provider().name())).findFirst().orElseThrow();
    }

    /** The one whose connections are those of TCP, for tests that put a program for TCP between the ends. */
    static VerbsProvider overTcp() {
        return Rdma.provider("iwarp");
    }
}
