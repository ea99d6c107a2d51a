package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** A server that asks to try again later, as the kernel's does to a READ that comes while it starts. */
class TryLaterTest {

    private static final int JUKEBOX = 10008;
    private static final int ACCES = 13;
    private static final int NOT_SENT = -1;

    private final List<RpcRequest> requests = new ArrayList<>();
    private final List<String> sent = new ArrayList<>();
    private final List<Integer> answers = new ArrayList<>();
    private final NfsClient client = new NfsClient(this::answer, ByteBufAllocator.DEFAULT, OpaqueAuth.NONE,
            new NfsClientStatistics());

    private Future<ByteBuf> answer(RpcRequest request) {
        requests.add(request);
        sent.add(ByteBufUtil.hexDump(request.arguments()));
        request.arguments().skipBytes(request.arguments().readableBytes()).release();
        if (answers.get(0) == NOT_SENT) {
            throw new IllegalStateException("not sent");
        }
        ByteBuf results = ByteBufAllocator.DEFAULT.buffer().writeInt(answers.remove(0));
        return ImmediateEventExecutor.INSTANCE.newSucceededFuture(results);
    }

    @Test
    void shouldMakeTheSameCallAgainWhereTheServerAsksForThat() throws Exception {
        answers.addAll(List.of(JUKEBOX, JUKEBOX, 0));
        assertNull(client.remove(new FileHandle(new byte[8]), "name").get(30, TimeUnit.SECONDS));
        assertEquals(3, sent.size());
        assertEquals(List.of(sent.get(0), sent.get(0), sent.get(0)), sent);
        assertEquals(0, requests.get(2).arguments().refCnt());
    }

    @Test
    void shouldFailWhereTheCallCannotBeMadeAgain() {
        answers.addAll(List.of(JUKEBOX, NOT_SENT));
        Throwable failure = assertThrows(ExecutionException.class,
                () -> client.remove(new FileHandle(new byte[8]), "name").get(30, TimeUnit.SECONDS)).getCause();
        assertEquals("not sent", failure.getMessage());
        assertEquals(2, sent.size());
        assertEquals(0, requests.get(1).arguments().refCnt());
    }

    @Test
    void shouldFailForAnyOtherReasonAtOnce() {
        answers.addAll(List.of(JUKEBOX, ACCES));
        NfsException refused = (NfsException) assertThrows(ExecutionException.class,
                () -> client.remove(new FileHandle(new byte[8]), "name").get(30, TimeUnit.SECONDS)).getCause();
        assertEquals(NfsStatus.ACCES, refused.status());
        assertEquals(2, sent.size());
        assertEquals(0, requests.get(1).arguments().refCnt());
    }
}
