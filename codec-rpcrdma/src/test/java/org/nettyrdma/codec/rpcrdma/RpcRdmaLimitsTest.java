package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;

class RpcRdmaLimitsTest {

    private static final RpcRdmaLimits DEFAULT = RpcRdmaLimits.DEFAULT;

    @Test
    void shouldKeepWhatIsNotChanged() {
        RpcRdmaLimits changed = DEFAULT.withCredits(1).withInlineThresholdBytes(262144).withMaxMessageBytes(17 << 20)
                .withMaxChunks(1024, 64, 63).withDefaultReplyChunkBytes(0);
        assertEquals(new RpcRdmaLimits(1, 262144, 17 << 20, 1024, 64, 63, 0), changed);
        assertEquals(DEFAULT, changed.withCredits(128).withInlineThresholdBytes(4096).withMaxMessageBytes(1114112)
                .withMaxChunks(64, 8, 8).withDefaultReplyChunkBytes(1114112));
    }

    @Test
    void shouldOfferAsMuchAsAMessageMayHave() {
        assertEquals(DEFAULT.maxMessageBytes(), DEFAULT.defaultReplyChunkBytes());
        assertEquals(17 << 20, DEFAULT.withMaxMessageBytes(17 << 20).defaultReplyChunkBytes());
        assertEquals(65536, DEFAULT.withDefaultReplyChunkBytes(65536).withMaxMessageBytes(17 << 20).defaultReplyChunkBytes());
    }

    @Test
    void shouldShrinkTheDefaultReplyChunkWithTheMessage() {
        assertEquals(1024, DEFAULT.withMaxMessageBytes(1024).defaultReplyChunkBytes());
    }

    @Test
    void shouldRefuseWhatIsOutOfRangeByItsName() {
        refused("credits", () -> DEFAULT.withCredits(0));
        refused("credits", () -> DEFAULT.withCredits(1025));
        refused("inlineThresholdBytes", () -> DEFAULT.withInlineThresholdBytes(1023));
        refused("inlineThresholdBytes", () -> DEFAULT.withInlineThresholdBytes(262145));
        refused("inlineThresholdBytes", () -> DEFAULT.withInlineThresholdBytes(4097));
        refused("maxMessageBytes", () -> DEFAULT.withMaxMessageBytes(1023));
        refused("maxMessageBytes", () -> DEFAULT.withMaxMessageBytes((17 << 20) + 1));
        refused("maxSegmentsPerChunk", () -> DEFAULT.withMaxChunks(0, 8, 8));
        refused("maxReadChunks", () -> DEFAULT.withMaxChunks(64, 65, 8));
        refused("maxWriteChunks", () -> DEFAULT.withMaxChunks(64, 8, 0));
        refused("defaultReplyChunkBytes", () -> DEFAULT.withDefaultReplyChunkBytes(-1));
        refused("defaultReplyChunkBytes", () -> DEFAULT.withDefaultReplyChunkBytes(DEFAULT.maxMessageBytes() + 1));
        refused("maxReadChunks", () -> new PeerPolicy(0, true, 1, 1));
        refused("maxSegmentsPerChunk", () -> new PeerPolicy(1, true, 65, 1));
        refused("maxSegmentBytes", () -> new PeerPolicy(1, true, 1, 0));
    }

    @Test
    void shouldNameTheOptionOfABuilder() {
        refused("reverse", () -> ShortSends.server().reverse(1025));
        refused("idleTimeoutMillis", () -> ShortSends.server().idleTimeoutMillis(-1));
        refused("responseTimeoutMillis", () -> Characteristics.builder().responseTimeoutMillis(0));
        refused("minReceiveBufferBytes", () -> Characteristics.builder().receiveBufferBytes(1023, 4096));
        refused("maxReceiveBufferBytes", () -> Characteristics.builder().receiveBufferBytes(4096, 4095));
    }

    private static void refused(String name, Executable change) {
        String message = assertThrows(IllegalArgumentException.class, change).getMessage();
        assertTrue(message.contains(name), message);
    }
}
