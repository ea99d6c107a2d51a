package org.nettyrdma.codec.oncrpc.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.ECHO;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.HOLD;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.PROGRAM;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcAcceptException;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;

/** A client whose server is there, and does not answer. */
class SilentServerTest extends ReconnectingClientFixture {

    @Test
    void shouldGoOnWithANewConnectionWhenTheServerIsSilent() throws Exception {
        ReconnectingRpcClient client = connect(QUICK.withMaxLostCalls(3), 1);
        Future<ByteBuf> longer = client.call(request(HOLD, 0));
        held().arguments().release();
        for (int i = 1; i <= 3; i++) {
            assertInstanceOf(RpcTimeoutException.class, failure(client.call(request(HOLD, i).setTimeoutMillis(20))));
        }
        expect("lost");
        RpcCall call = held();
        for (; call.arguments().getInt(call.arguments().readerIndex()) != 0; call = held()) {
            call.arguments().release(); // what the old connection has left may come later
        }
        RestartedServer.answer(call);
        assertEquals(0, result(longer));
    }

    @Test
    void shouldKeepTheConnectionWhileSomethingIsAnswered() throws Exception {
        ReconnectingRpcClient client = connect(QUICK.withMaxLostCalls(2), 1);
        for (int i = 0; i < 4; i++) {
            assertInstanceOf(RpcTimeoutException.class, failure(client.call(request(HOLD, i).setTimeoutMillis(20))));
            held().arguments().release();
            assertInstanceOf(RpcAcceptException.class, failure(client.call(request(99, i))));
        }
        assertEquals(1, client.statistics().connects());
    }

    @Test
    void shouldKeepTheConnectionWhereCancelledCallsAreMerelySlow() throws Exception {
        ReconnectingRpcClient client = connect(QUICK.withMaxLostCalls(2).withCallTimeoutMillis(1000), 1);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 2; i++) {
                Future<ByteBuf> call = client.call(request(HOLD, i).setTimeoutMillis(30_000));
                held().arguments().release();
                assertTrue(call.cancel(false));
            }
            assertEquals(round, result(client.call(request(ECHO, round).setTimeoutMillis(30_000))));
        }
        Future<ByteBuf> longer = client.call(request(HOLD, 9).setTimeoutMillis(30_000));
        RpcCall call = held();
        assertFalse(longer.await(1500), "nothing has ended the connection");
        RestartedServer.answer(call);
        assertEquals(9, result(longer));
        assertEquals(1, client.statistics().connects());
    }

    @Test
    void shouldAskTheServerWhetherItAnswers() throws Exception {
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(
                RestartedServer.client(group).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 100), server::addresses)
                .ping(PROGRAM, 1).policy(QUICK).listener(listener).connect();
        clients.add(client);
        assertEquals(1, result(client.call(request(ECHO, 1))));
        expect("connected");

        server.setDeaf(true);
        server.stop();
        server.start();
        expect("failed");
        expect("failed");
        server.setDeaf(false);
        assertEquals(2, result(client.call(request(ECHO, 2))));
        expect("connected");
    }
}
