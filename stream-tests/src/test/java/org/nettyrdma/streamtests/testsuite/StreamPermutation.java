package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import java.util.List;
import org.nettyrdma.streamtests.StreamTransport;

/** What Netty's suite runs over: a stream at both ends, since a stream has no other peer in a JVM. */
final class StreamPermutation {

    private static final int THREADS = 4;
    private static final EventLoopGroup GROUP = StreamTransport.newGroup(THREADS, "testsuite-stream");

    private StreamPermutation() {
    }

    static List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> both() {
        return List.of(new BootstrapComboFactory<>() {
            @Override
            public ServerBootstrap newServerInstance() {
                return server();
            }

            @Override
            public Bootstrap newClientInstance() {
                return client();
            }
        });
    }

    static List<BootstrapFactory<ServerBootstrap>> servers() {
        return List.of(StreamPermutation::server);
    }

    static List<BootstrapFactory<Bootstrap>> clients() {
        return List.of(StreamPermutation::client);
    }

    private static ServerBootstrap server() {
        return new ServerBootstrap().group(GROUP).channel(StreamTransport.serverChannelClass());
    }

    static Bootstrap client() {
        return new Bootstrap().group(GROUP).channel(StreamTransport.channelClass());
    }
}
