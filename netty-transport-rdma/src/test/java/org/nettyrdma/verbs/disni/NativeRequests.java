package org.nettyrdma.verbs.disni;

import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Writes work requests one after the other, as {@link NativeExtensions} describes them. */
final class NativeRequests {

    private final boolean sends;
    private final ByteBuffer buffer = NativeDevice.direct(4_096);
    private int start;
    private int count;

    private NativeRequests(boolean sends) {
        this.sends = sends;
    }

    static NativeRequests sends() {
        return new NativeRequests(true);
    }

    static NativeRequests receives() {
        return new NativeRequests(false);
    }

    ByteBuffer buffer() {
        return buffer;
    }

    NativeRequests send(long id, int opcode, int flags, int key, long remoteAddress) {
        start = buffer.position();
        buffer.putLong(id).putInt(opcode).putInt(flags).putInt(0).putInt(key).putLong(remoteAddress).putLong(0);
        count++;
        return this;
    }

    NativeRequests receive(long id) {
        start = buffer.position();
        buffer.putLong(id).putLong(0);
        count++;
        return this;
    }

    NativeRequests access(int rights) {
        buffer.putInt(start + NativeExtensions.SEND_ACCESS, rights);
        return this;
    }

    NativeRequests immediate(int data) {
        buffer.putInt(start + NativeExtensions.SEND_IMMEDIATE, data);
        return this;
    }

    NativeRequests element(IbvMr region, int offset, int length) {
        int elements = start + (sends ? NativeExtensions.SEND_ELEMENTS : NativeExtensions.RECEIVE_ELEMENTS);
        buffer.putInt(elements, buffer.getInt(elements) + 1);
        buffer.putLong(NativeDevice.handle(region)).putInt(offset).putInt(length);
        return this;
    }

    /** Posts all and forgets them; returns how many were taken. */
    int post(long queuePair) throws IOException {
        int all = count;
        count = 0;
        buffer.clear();
        return sends ? NativeExtensions.postSend(queuePair, buffer, 0, all)
                : NativeExtensions.postReceive(queuePair, buffer, 0, all);
    }
}
