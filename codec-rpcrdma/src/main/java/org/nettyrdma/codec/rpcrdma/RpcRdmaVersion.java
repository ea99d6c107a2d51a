package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;

/** A version of the protocol: what planning needs to know of its header format, and the headers that it makes. */
public enum RpcRdmaVersion {
    /** RFC 8166, here by rfc5666bis-01. */
    ONE(RpcRdmaLayout.VERSION, RpcRdmaLayout.CHUNK_FREE_LENGTH),
    /** version-two-08; other revisions of that draft use the same number and other code points, and are not spoken. */
    TWO(VersionTwoLayout.VERSION, VersionTwoLayout.CHUNK_FREE_LENGTH);

    private final int number;
    private final int chunkFreeLength;

    RpcRdmaVersion(int number, int chunkFreeLength) {
        this.number = number;
        this.chunkFreeLength = chunkFreeLength;
    }

    /**
     * What the version word of a header says.
     *
     * @return 1 or 2
     */
    public int number() {
        return number;
    }

    /** The length in bytes of the header of a message without chunks. */
    int chunkFreeLength() {
        return chunkFreeLength;
    }

    /** The length in bytes of the header of a message with these chunks. */
    int headerLength(ChunkLists chunks) {
        return chunkFreeLength + RpcRdmaLayout.chunksLength(chunks);
    }

    /** A header for an RPC message that follows; credits and direction are stamped on its way out. */
    Msg msg(int xid, ChunkLists chunks) {
        return new Msg(xid, number, 0, 0, chunks);
    }

    /**
     * Like {@link #msg(int, ChunkLists)}.
     *
     * @param credits what is likely to be stamped: then the header need not be made again
     */
    Msg msg(int xid, int credits, ChunkLists chunks) {
        return new Msg(xid, number, credits, 0, chunks);
    }

    /** A header for an RPC message that travels in a chunk; credits and direction are stamped on its way out. */
    NoMsg noMsg(int xid, ChunkLists chunks) {
        return new NoMsg(xid, number, 0, 0, chunks);
    }
}
