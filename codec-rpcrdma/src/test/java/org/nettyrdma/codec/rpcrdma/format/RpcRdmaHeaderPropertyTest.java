package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.format.RandomHeaders.ReadEntry;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** Writing and reading are inverse for every header that may be sent, and nothing but the whole of it is one. */
class RpcRdmaHeaderPropertyTest {

    private static final HeaderFormat ONE = new VersionOneFormat(RandomHeaders.LIMITS, SpokenVersions.BOTH);
    private static final HeaderFormat TWO = new VersionTwoFormat(RandomHeaders.LIMITS, HeaderExtensions.NONE);

    /** A header and the format of its version, so that one property holds for both. */
    record Sample(HeaderFormat format, RpcRdmaHeader header) {

        byte[] bytes() {
            ByteBuf out = Unpooled.buffer();
            format.write(header, Role.NEITHER, out); // without a role the flags go as they are
            return ByteBufUtil.getBytes(out);
        }

        RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException {
            return format.read(in);
        }

        @Override
        public String toString() {
            return header.toString();
        }
    }

    @Provide
    Arbitrary<Sample> samples() {
        return Arbitraries.oneOf(RandomHeaders.versionOne().map(header -> new Sample(ONE, header)),
                RandomHeaders.versionTwo().map(header -> new Sample(TWO, header)));
    }

    @Provide
    Arbitrary<List<ReadEntry>> readEntries() {
        return RandomHeaders.readEntries();
    }

    @Property
    void shouldReadWhatWasWritten(@ForAll("samples") Sample sample, @ForAll byte[] body) throws RpcRdmaException {
        byte[] bytes = sample.bytes();
        byte[] rest = sample.header instanceof Msg ? body : new byte[0]; // nothing else has anything behind it
        ByteBuf in = Unpooled.wrappedBuffer(bytes, rest);

        assertEquals(sample.header, sample.read(in));
        assertEquals(ByteBufUtil.hexDump(rest), ByteBufUtil.hexDump(in), "what follows the header");
    }

    /** A header with several segments is too long for the room. */
    @Property
    void shouldWriteInFrontOfABodyAsIntoABufferOfItsOwn(@ForAll("samples") Sample sample, @ForAll Role role,
                                                        @ForAll @Size(max = 2000) byte[] body) {
        Assume.that(sample.header.version() == sample.format.version().number()); // an error may quote another one
        byte[] rest = sample.header instanceof Msg ? body : new byte[0];
        EmbeddedChannel channel = new EmbeddedChannel(
                RpcRdmaCodec.client(new FormatTable(SpokenVersions.BOTH, RandomHeaders.LIMITS, HeaderExtensions.NONE),
                        new ChunkCounters(), false));
        ByteBuf roomy = HeadRoom.newBuffer(channel.alloc(), HeadRoom.TRANSPORT_BYTES, 0).writeBytes(rest);

        ByteBuf ordinary = sent(channel, RpcRdmaMessage.of(role, sample.header, Unpooled.wrappedBuffer(rest)));
        HeadRoom.ofThread().offer(roomy);
        ByteBuf inFront = sent(channel, RpcRdmaMessage.of(role, sample.header, roomy));

        assertEquals(ByteBufUtil.hexDump(ordinary), ByteBufUtil.hexDump(inFront));
        boolean fits = ordinary.readableBytes() - rest.length <= HeadRoom.TRANSPORT_BYTES;
        assertEquals(fits, inFront == roomy);
        ordinary.release();
        inFront.release();
        assertEquals(0, roomy.refCnt());
    }

    private static ByteBuf sent(EmbeddedChannel channel, RpcRdmaMessage message) {
        channel.writeOutbound(message);
        return channel.readOutbound();
    }

    @Property
    void shouldKnowTheLengthBeforeItWrites(@ForAll("samples") Sample sample) {
        assertEquals(sample.bytes().length, sample.format.lengthOf(sample.header));
        assertEquals(0, sample.bytes().length % Integer.BYTES, "XDR comes in words");
    }

    @Property
    void shouldRefuseEveryTruncation(@ForAll("samples") Sample sample, @ForAll int where) {
        byte[] bytes = sample.bytes();
        int length = HeaderLayout.FIXED_LENGTH
                + Integer.remainderUnsigned(where, Math.max(1, bytes.length - HeaderLayout.FIXED_LENGTH));
        if (length < bytes.length) { // RDMA_DONE has nothing but the fixed words
            ByteBuf cut = Unpooled.wrappedBuffer(bytes, 0, length);
            assertThrows(RpcRdmaException.class, () -> sample.read(cut));
        }
    }

    @Property
    void shouldChangeNothingButTheCredits(@ForAll("samples") Sample sample, @ForAll int newCredits) {
        RpcRdmaHeader stamped = sample.header.withCredits(Integer.toUnsignedLong(newCredits));

        ByteBuf expected = Unpooled.wrappedBuffer(sample.bytes()).setInt(HeaderLayout.CREDITS_OFFSET, newCredits);
        assertEquals(ByteBufUtil.hexDump(expected), ByteBufUtil.hexDump(new Sample(sample.format, stamped).bytes()));
    }

    /** The entries are written by hand: our encoder would have sorted them. */
    @Property
    void shouldSortReadEntriesOfAnyOrder(@ForAll("readEntries") List<ReadEntry> entries) throws RpcRdmaException {
        ByteBuf in = Unpooled.buffer().writeInt(7).writeInt(1).writeInt(32).writeInt(0);
        for (ReadEntry entry : entries) {
            in.writeInt(1).writeInt(entry.position()).writeInt(entry.segment().steeringTag())
                    .writeInt((int) entry.segment().length()).writeLong(entry.segment().offset());
        }
        in.writeInt(0).writeInt(0).writeInt(0);

        Msg header = (Msg) ONE.read(in);
        assertEquals(RandomHeaders.sorted(entries), header.chunks().readChunks());
        assertFalse(in.isReadable());
    }
}
