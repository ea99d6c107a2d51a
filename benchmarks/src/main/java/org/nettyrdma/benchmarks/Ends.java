package org.nettyrdma.benchmarks;

/** Starts the ends of any peer. Loads no class of the peers that it is not asked for. */
final class Ends {

    private Ends() {
    }

    static ServerEnd serve(Setup setup) throws Exception {
        return switch (setup.peer()) {
            case ONCRPC4J -> new Oncrpc4jServer(setup);
            case UCX_TCP, UCX_SHM -> new UcxServer(setup);
            case NIO_GRPC, EPOLL_GRPC, STREAM_GRPC -> new GrpcServer(setup);
            default -> new NettyServer(setup);
        };
    }

    static ClientEnd connect(Setup setup, int port, int connections) throws Exception {
        return switch (setup.peer()) {
            case ONCRPC4J -> new Oncrpc4jClient(setup, port);
            case UCX_TCP, UCX_SHM -> new UcxClient(setup, port);
            case NIO_GRPC, EPOLL_GRPC, STREAM_GRPC -> new GrpcClient(setup, port);
            case NIO_ECHO, EPOLL_ECHO, STREAM_ECHO -> new EchoClient(setup, port);
            default -> new NettyClient(setup, port, connections);
        };
    }
}
