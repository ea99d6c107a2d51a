package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;

/**
 * The transport header of RPC-over-RDMA version 1 (RFC 8166, sections 4.1 to 4.3). Every field is a big-endian
 * 32-bit word, except the offset of a segment, which has 64 bits.
 * <pre>{@code
 *   0      4         8         12     16
 *   +------+---------+---------+------+------------------------------------------------------------
 *   | XID  | version | credits | type | body
 *   +------+---------+---------+------+------------------------------------------------------------
 *
 *   type RDMA_MSG, RDMA_NOMSG   Read list | Write list | Reply chunk | RPC message (RDMA_MSG only)
 *   type RDMA_MSGP              align | threshold | and then as RDMA_MSG
 *   type RDMA_DONE              nothing
 *   type RDMA_ERROR             1 | lowest version | highest version       (ERR_VERS)
 *                               2                                          (ERR_CHUNK)
 *
 *   Read list     { 1 | position | segment } ... 0           segments of equal position are one Read chunk
 *   Write list    { 1 | n | n segments } ... 0
 *   Reply chunk   1 | n | n segments, or 0
 *   segment       handle | length | offset (64 bits)
 * }</pre>
 */
public final class HeaderLayout {

    /** The version that this layout is of. */
    public static final int VERSION = 1;

    static final int VERSION_OFFSET = 4;
    static final int CREDITS_OFFSET = 8;
    static final int TYPE_OFFSET = 12;
    public static final int BODY_OFFSET = 16;

    /** The words that every version has at the same place; a message shorter than this cannot be answered. */
    public static final int FIXED_LENGTH = 16;
    /** A header without chunks: the fixed words and three absent lists. */
    public static final int CHUNK_FREE_LENGTH = FIXED_LENGTH + 3 * Integer.BYTES;
    /** XID and direction of the RPC message: the least that it has. */
    static final int RPC_PREFIX_LENGTH = 2 * Integer.BYTES;
    /** The two words that stand before the chunk lists of the obsolete RDMA_MSGP. */
    static final int ALIGNMENT_HINT_LENGTH = 2 * Integer.BYTES;

    /**
     * A segment in the Write list or the Reply chunk. All segments of a call must fit into its Send, and those of the Write list
     * and the Reply chunk into the Send of the reply, too. So the inline threshold bounds how many there can be, besides
     * {@link RpcRdmaLimits#maxSegmentsPerChunk} and {@link PeerPolicy#maxSegmentsPerChunk}.
     */
    public static final int SEGMENT_LENGTH = 16;
    /** An entry of the Read list, one for each segment: presence word, position, segment; 24 bytes. */
    public static final int READ_ENTRY_LENGTH = 2 * Integer.BYTES + SEGMENT_LENGTH;
    /** What precedes the segments of an entry of the Write list or of the Reply chunk: presence word and count. */
    static final int WRITE_CHUNK_PREFIX_LENGTH = 2 * Integer.BYTES;

    static final int ERR_VERS = 1;
    static final int ERR_CHUNK = 2;
    static final int ERR_VERS_LENGTH = FIXED_LENGTH + 3 * Integer.BYTES;
    static final int ERR_CHUNK_LENGTH = FIXED_LENGTH + Integer.BYTES;

    private HeaderLayout() {
    }

    /**
     * Whether an RPC message that has the XID of its header and the right direction follows it.
     *
     * @param start   where it begins, with at least {@link #RPC_PREFIX_LENGTH} bytes from there on
     * @param xidWord the XID, in the upper half
     */
    static boolean isRpcMessage(ByteBuf in, int start, long xidWord, boolean response) {
        return in.getLong(start) == (xidWord & 0xFFFF_FFFF_0000_0000L | (response ? 1 : 0)); // RFC 5531, section 9: msg_type
    }

    /** Whether the three lists, which begin at {@code start}, are there and empty, as in most messages: three zero words. */
    static boolean isChunkFree(ByteBuf in, int start) {
        return in.writerIndex() - start >= 3 * Integer.BYTES && in.getLong(start) == 0 && in.getInt(start + Long.BYTES) == 0;
    }

    /** The bytes that these chunks add to a header without chunks, in either version. */
    public static int chunksLength(ChunkLists chunks) {
        int length = 0;
        if (chunks == ChunkLists.EMPTY) {
            return length;
        }
        for (int i = 0; i < chunks.readChunks().size(); i++) {
            ReadChunk chunk = chunks.readChunks().get(i);
            length += chunk.segments().size() * READ_ENTRY_LENGTH;
        }
        for (int i = 0; i < chunks.writeChunks().size(); i++) {
            WriteChunk chunk = chunks.writeChunks().get(i);
            length += writeChunkLength(chunk.segments().size());
        }
        if (chunks.replyChunk() != null) {
            // Its presence word is counted above already.
            length += writeChunkLength(chunks.replyChunk().segments().size()) - Integer.BYTES;
        }
        return length;
    }

    /** The bytes that a Write chunk adds to the header. */
    public static int writeChunkLength(int segments) {
        return WRITE_CHUNK_PREFIX_LENGTH + segments * SEGMENT_LENGTH;
    }
}
