package org.nettyrdma.codec.rpcrdma.format;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Value;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;

/** All headers that may be sent, each field anywhere in its range and often at an end of it. */
final class RandomHeaders {

    static final RpcRdmaLimits LIMITS = RpcRdmaLimits.DEFAULT;

    private RandomHeaders() {
    }

    /** Headers of version 1; an ERR_VERS may quote any version. */
    static Arbitrary<RpcRdmaHeader> versionOne() {
        Arbitrary<Integer> xid = bits();
        return Arbitraries.oneOf(
                Combinators.combine(xid, word(), chunkLists()).as(Msg::new),
                Combinators.combine(xid, word(), chunkLists()).as(NoMsg::new),
                Combinators.combine(xid, bits(), word(), word(), word()).as(VersionError::new),
                Combinators.combine(xid, bits(), word()).as(ChunkError::new),
                Combinators.combine(xid, word()).as(Done::new));
    }

    /** Headers of version 2 with the flag of a response or without; an error always has it. */
    static Arbitrary<RpcRdmaHeader> versionTwo() {
        Arbitrary<Integer> xid = bits();
        Arbitrary<Integer> flags = Arbitraries.of(0, VersionTwoLayout.F_RESPONSE);
        Arbitrary<ChunkLists> chunks = Combinators.combine(chunkLists(), bits()).as((lists, handle) ->
                new ChunkLists(lists.readChunks(), lists.writeChunks(), lists.replyChunk(), handle));
        return Arbitraries.oneOf(
                Combinators.combine(xid, word(), flags, chunks).as((x, credits, f, lists) ->
                        new Msg(x, VersionTwoLayout.VERSION, credits, f, lists)),
                Combinators.combine(xid, word(), flags, chunks).as((x, credits, f, lists) ->
                        new NoMsg(x, VersionTwoLayout.VERSION, credits, f, lists)),
                Combinators.combine(xid, word(), errors()).as(TransportError::new),
                Combinators.combine(xid, word(), flags, propertySets()).as(ConnectionProperties::new));
    }

    private static Arbitrary<RpcRdmaError> errors() {
        return Arbitraries.oneOf(
                Arbitraries.of(RpcRdmaError.BAD_XDR, RpcRdmaError.INVALID_HEADER_TYPE, RpcRdmaError.SYSTEM),
                word().map(RpcRdmaError.ReadChunks::new), word().map(RpcRdmaError.WriteChunks::new),
                word().map(RpcRdmaError.Segments::new), word().map(RpcRdmaError.ReplyResource::new),
                Combinators.combine(word(), word()).as(RpcRdmaError.WriteResource::new),
                bits().filter(code -> code < VersionTwoLayout.ERR_VERS || code > VersionTwoLayout.ERR_SYSTEM)
                        .map(RpcRdmaError.Unknown::new));
    }

    private static Arbitrary<PropertySet> propertySets() {
        Arbitrary<PropertySet.Entry> entry = Arbitraries.oneOf(
                word().map(size -> new Value<>(TransportProperty.RECEIVE_BUFFER_SIZE, size)),
                Arbitraries.of(ReverseRequestSupport.values())
                        .map(support -> new Value<>(TransportProperty.REVERSE_REQUEST_SUPPORT, support)));
        return entry.list().ofMaxSize(PropertySet.MAX_ENTRIES).map(PropertySet::new);
    }

    /** Lists up to our limits, Read chunks in the order of their positions as every sender of ours has them. */
    static Arbitrary<ChunkLists> chunkLists() {
        Arbitrary<List<ReadChunk>> readChunks = readEntries().map(RandomHeaders::sorted);
        Arbitrary<WriteChunk> writeChunk = segments().map(WriteChunk::new);
        return Combinators.combine(readChunks, writeChunk.list().ofMaxSize(LIMITS.maxWriteChunks()), writeChunk.injectNull(0.5))
                .as(ChunkLists::new);
    }

    /** One entry of a Read list. */
    record ReadEntry(int position, RemoteSegment segment) {
    }

    /** Entries whose positions come in any order and repeat, within our limits. */
    static Arbitrary<List<ReadEntry>> readEntries() {
        Arbitrary<Integer> position = Arbitraries.oneOf(Arbitraries.of(0, LIMITS.maxMessageBytes() / 4),
                Arbitraries.integers().between(0, LIMITS.maxMessageBytes() / 4)).map(word -> 4 * word);
        return position.list().ofMinSize(1).ofMaxSize(LIMITS.maxReadChunks()).flatMap(positions ->
                Combinators.combine(Arbitraries.of(positions), segment()).as(ReadEntry::new)
                        .list().ofMaxSize(LIMITS.maxSegmentsPerChunk()));
    }

    /** What a Read list means: its segments by position, those of one position in the order in which they come. */
    static List<ReadChunk> sorted(List<ReadEntry> entries) {
        TreeMap<Integer, List<RemoteSegment>> byPosition = new TreeMap<>();
        for (ReadEntry entry : entries) {
            byPosition.computeIfAbsent(entry.position(), any -> new ArrayList<>()).add(entry.segment());
        }
        return byPosition.entrySet().stream().map(chunk -> new ReadChunk(chunk.getKey(), chunk.getValue())).toList();
    }

    private static Arbitrary<List<RemoteSegment>> segments() {
        return segment().list().ofMaxSize(LIMITS.maxSegmentsPerChunk());
    }

    /** Segments that end within the address space, and some that end with it. */
    private static Arbitrary<RemoteSegment> segment() {
        Arbitrary<Long> offset = Arbitraries.oneOf(Arbitraries.of(0L, -1L), Arbitraries.longs());
        return Combinators.combine(bits(), word(), offset).as((handle, length, start) -> new RemoteSegment(handle, length,
                length > 0 && Long.compareUnsigned(start, -length) > 0 ? -length : start));
    }

    /** Any 32 bits, often those at which signs and ranges end. */
    private static Arbitrary<Integer> bits() {
        return Arbitraries.oneOf(Arbitraries.of(0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE), Arbitraries.integers());
    }

    /** An unsigned number of 32 bits. */
    private static Arbitrary<Long> word() {
        return bits().map(Integer::toUnsignedLong);
    }
}
