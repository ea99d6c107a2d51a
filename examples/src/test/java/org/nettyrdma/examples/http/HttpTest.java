package org.nettyrdma.examples.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.examples.Output;

/** The same handlers answer the client of the JDK over TCP and that of the example over RDMA. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HttpTest {

    @Test
    void shouldAnswerOverRdmaAsOverTcp() throws Exception {
        List<String> overRdma = Output.of(Http::main, "/some/path?of=mine");

        HttpResponse<String> overTcp = askOverTcp("/some/path?of=mine");
        assertEquals(List.of(overTcp.statusCode() + " OK", overTcp.body()), overRdma);
        assertEquals("Hello from /some/path?of=mine", overTcp.body());
    }

    private static HttpResponse<String> askOverTcp(String path) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        try {
            Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(Http.serverHandlers()).bind("127.0.0.1", 0).sync().channel();
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            return HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
                    HttpResponse.BodyHandlers.ofString());
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }
}
