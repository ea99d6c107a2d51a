package org.nettyrdma.benchmarks;

/** Starts the ends of any peer. Loads no class of the peers that it is not asked for. */
final class Ends {

    private Ends() {
    }

    static ServerEnd serve(Setup setup) throws Exception {
        return new NettyServer(setup);
    }

    static ClientEnd connect(Setup setup, int port, int connections) throws Exception {
        return new NettyClient(setup, port, connections);
    }
}
