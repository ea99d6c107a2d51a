package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.WriteBufferWaterMark;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.VerbsProvider;

/** What one of many streams may hold of the registered memory while its peer takes nothing. */
@Timeout(60)
class StreamShareTest extends StreamFixture {

    private static final int SHARE_BYTES = 8192;
    private static final int PIECE_BYTES = 4096;

    private final FaultyProvider provider = new FaultyProvider();
    private final ConnectionMemory memory = RegisteredByteBufAllocator.of(provider).connectionMemory();
    private int others;
    private RawStreamPeer peer;

    /** Its memory belongs to this test alone. */
    @Override
    VerbsProvider provider() {
        return provider;
    }

    @BeforeEach
    void joinOthers() {
        while (memory.shareOf(1) > SHARE_BYTES) {
            memory.join();
            others++;
        }
    }

    @AfterEach
    void leaveOthers() {
        for (; others > 0; others--) {
            memory.leave();
        }
    }

    @AfterEach
    void disconnect() throws IOException {
        peer.close();
    }

    private End connect() throws Exception {
        peer = RawStreamPeer.connect(listen(serverBootstrap()).localAddress());
        End server = awaitAccepted();
        server.awaitEvent("active");
        return server;
    }

    @Test
    void shouldPostNoMoreThanItsShare() throws Exception {
        End server = connect();
        long posted = server.channel.eventLoop().submit(() -> { // which meanwhile learns of nothing that was sent
            server.write(bytes(5 * SHARE_BYTES, 1));
            return server.channel.statistics().get(Counter.WRITTEN_BYTES);
        }).get();
        assertTrue(posted > 0 && posted <= SHARE_BYTES, () -> posted + " bytes are posted");
    }

    /** As much as Netty has without a share. */
    @Test
    void shouldBeWritableForNettysWaterMarkAboveItsShare() throws Exception {
        End server = connect();
        int written = server.channel.eventLoop().submit(() -> {
            int bytes = 0;
            while (server.channel.isWritable()) {
                server.channel.write(server.channel.alloc().buffer(PIECE_BYTES).writeZero(PIECE_BYTES));
                bytes += PIECE_BYTES;
            }
            return bytes;
        }).get();
        int most = SHARE_BYTES + WriteBufferWaterMark.DEFAULT.high() + PIECE_BYTES;
        assertTrue(written <= most, () -> "writable after " + written + " bytes");
    }

    @Test
    void shouldSendAShortAnswerThatIsClosedBehind() throws Exception {
        byte[] answer = bytes(5 * SHARE_BYTES, 2);
        End server = connect();
        server.channel.eventLoop().submit(() -> {
            server.write(answer);
            server.channel.close();
        }).get();
        peer.expectDisconnect();
        assertArrayEquals(answer, Arrays.copyOf(peer.ring, answer.length));
    }
}
