package org.nettyrdma.example.nfs.siege;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/** Messages of attackers, written by hand from RFC 8166, RFC 5531 and RFC 1813. */
final class Calls {

    private static final int READ = 6;

    private Calls() {
    }

    static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits.replace(" ", ""));
    }

    /** NFS version 3 without credentials. */
    private static ByteBuffer rpc(ByteBuffer to, int xid, int procedure) {
        return to.putInt(xid).putInt(0).putInt(2).putInt(100_003).putInt(3).putInt(procedure).putLong(0).putLong(0);
    }

    static byte[] nullCall(int xid) {
        return rpc(ByteBuffer.allocate(40), xid, 0).array();
    }

    static byte[] read(int xid, byte[] fileHandle, int count) {
        int padded = (fileHandle.length + 3) / 4 * 4;
        ByteBuffer call = rpc(ByteBuffer.allocate(40 + 4 + padded + 12), xid, READ).putInt(fileHandle.length).put(fileHandle);
        return call.position(44 + padded).putLong(0).putInt(count).array();
    }

    /** RDMA_MSG of version 1, which asks for 128 credits; the lists as digits. */
    static byte[] message(int xid, String lists, byte[] rpc) {
        byte[] chunks = hex(lists);
        return ByteBuffer.allocate(16 + chunks.length + rpc.length).putInt(xid).putInt(1).putInt(128).putInt(0).put(chunks)
                .put(rpc)
                .array();
    }

    /** The same of version 2. */
    static byte[] messageOfVersionTwo(int xid, String lists, byte[] rpc) {
        byte[] chunks = hex(lists);
        return ByteBuffer.allocate(24 + chunks.length + rpc.length).putInt(xid).putInt(2).putInt(128).putLong(0).putInt(0)
                .put(chunks)
                .put(rpc).array();
    }

    static String noLists() {
        return "00000000 00000000 00000000";
    }

    /** A Write list of one chunk of one segment. */
    static String writeList(int bytes) {
        return String.format("00000000 00000001 00000001 00000100 %08x 0000000000000000 00000000 00000000", bytes);
    }

    /** A Read list of one chunk of one segment, behind the arguments so far. */
    static String readList(int position, int bytes) {
        return String.format("00000001 %08x 00000200 %08x 0000000000000000 00000000 00000000 00000000", position, bytes);
    }
}
