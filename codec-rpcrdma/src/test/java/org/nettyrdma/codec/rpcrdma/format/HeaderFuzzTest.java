package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Arrays;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
import org.nettyrdma.testing.CountingAllocator;

/**
 * Any bytes as one message to the codec: the first byte of an input chooses the receiver, the others are the message. No
 * exception comes out, no buffer is left, and what was accepted is written again as it stood, or, where there is more than one
 * way to say it, in one that says the same.
 */
class HeaderFuzzTest {

    private static final int SERVER = 1;
    private static final int VERSION_TWO = 2;
    private static final int EXTENSIONS = 4;
    private static final int REVERSE = 8;

    private static final HeaderExtensions KNOWN = Characteristics.builder().build().extensions();

    private final CountingAllocator memory = new CountingAllocator();

    @FuzzTest(maxDuration = "3s")
    void shouldReadOrRefuse(byte[] input) {
        if (input.length == 0) {
            return;
        }
        int receiver = input[0];
        byte[] wire = Arrays.copyOfRange(input, 1, input.length);
        RpcRdmaMessage message = receive(receiver, wire);
        if (message == null) {
            memory.requireNothingLeft();
            return;
        }
        RpcRdmaHeader header = message.header();
        Role role = message.role();
        if (header instanceof Malformed || formats(receiver).hasUnknown(header.flags()) || isAmbiguous(header)) {
            message.release();
        } else {
            byte[] body = ByteBufUtil.getBytes(message.content());
            byte[] again = send(receiver ^ SERVER, message);
            if (again != null) {
                requireSame(header, role, body, receive(receiver, again));
                if (isCanonical(header, wire)) {
                    assertEquals(ByteBufUtil.hexDump(wire), ByteBufUtil.hexDump(again));
                }
            }
        }
        memory.requireNothingLeft();
    }

    private void requireSame(RpcRdmaHeader header, Role role, byte[] body, RpcRdmaMessage again) {
        assertEquals(header instanceof TransportError error ? withResponseFlag(error) : header, again.header());
        assertEquals(role, again.role());
        assertEquals(ByteBufUtil.hexDump(body), ByteBufUtil.hexDump(again.content()));
        again.release();
    }

    private static TransportError withResponseFlag(TransportError error) {
        return new TransportError(error.xid(), error.credits(), error.flags() | VersionTwoLayout.F_RESPONSE, error.error());
    }

    /** In the layout of version 1 the lowest version then stands where version 2 has the code of another error, 0 included. */
    private static boolean isAmbiguous(RpcRdmaHeader header) {
        return header instanceof VersionError error && error.version() == VersionTwoLayout.VERSION
                && (error.lowestVersion() < HeaderLayout.VERSION || error.lowestVersion() >= VersionTwoLayout.ERR_READ_CHUNKS);
    }

    /** Whether there is one way only to write this header. */
    private static boolean isCanonical(RpcRdmaHeader header, byte[] wire) {
        if (header instanceof WithChunks message) {
            int type = Unpooled.wrappedBuffer(wire).getInt(HeaderLayout.TYPE_OFFSET);
            boolean sorted = message.chunks().readChunks().size() < 2;
            return sorted && (header.version() == VersionTwoLayout.VERSION || type != MessageType.RDMA_MSGP.code());
        }
        if (header instanceof VersionError) {
            return wire.length == HeaderLayout.ERR_VERS_LENGTH; // not in the layout of version 2, which is longer
        }
        if (header instanceof TransportError error) {
            return (error.flags() & VersionTwoLayout.F_RESPONSE) != 0 && !(error.error() instanceof RpcRdmaError.Registered<?>);
        }
        // Property sets may leave values out, and bring ones that are ignored and padding that is anything.
        return !(header instanceof ConnectionProperties || header instanceof RpcRdmaHeader.Extension<?>);
    }

    /**
     * Of a property that is not known the value is not kept. ERR_CHUNK is of version 1, but read from whoever quotes another
     * version.
     */
    private static boolean isReceivedOnly(RpcRdmaHeader header) {
        return header instanceof ConnectionProperties || header instanceof RpcRdmaHeader.Extension<?>
                || header instanceof RpcRdmaHeader.ChunkError && header.version() == VersionTwoLayout.VERSION;
    }

    private RpcRdmaMessage receive(int receiver, byte[] wire) {
        EmbeddedChannel channel = codec(receiver);
        ByteBuf received = memory.allocator().directBuffer(wire.length).writeBytes(wire);
        channel.writeInbound(received);
        RpcRdmaMessage message = channel.readInbound();
        assertNull(channel.readInbound());
        assertTrue(message != null || received.refCnt() == 0);
        channel.finishAndReleaseAll();
        return message;
    }

    /** The bytes of a message, or {@code null} if it is of those that are received only. */
    private byte[] send(int sender, RpcRdmaMessage message) {
        RpcRdmaHeader header = message.header();
        EmbeddedChannel channel = codec(sender);
        Throwable failure = channel.writeOneOutbound(message).cause();
        if (failure != null) {
            assertTrue(failure instanceof IllegalArgumentException && isReceivedOnly(header), failure::toString);
            channel.finishAndReleaseAll();
            return null;
        }
        channel.flushOutbound();
        ByteBuf sent = channel.readOutbound();
        byte[] wire = ByteBufUtil.getBytes(sent);
        assertTrue(sent.release());
        channel.finishAndReleaseAll();
        return wire;
    }

    private static FormatTable formats(int receiver) {
        return new FormatTable((receiver & VERSION_TWO) != 0 ? SpokenVersions.BOTH : SpokenVersions.ONE,
                RpcRdmaLimits.DEFAULT, (receiver & EXTENSIONS) != 0 ? KNOWN : HeaderExtensions.NONE);
    }

    private EmbeddedChannel codec(int receiver) {
        boolean reverse = (receiver & REVERSE) != 0;
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(memory.allocator());
        ChunkCounters statistics = new ChunkCounters();
        channel.pipeline().addLast((receiver & SERVER) != 0 ? RpcRdmaCodec.server(formats(receiver), statistics, reverse)
                : RpcRdmaCodec.client(formats(receiver), statistics, reverse));
        return channel;
    }
}
