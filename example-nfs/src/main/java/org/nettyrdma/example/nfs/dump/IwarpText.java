package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.function.Consumer;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;

/** Turns the frames of one direction into lines: MPA frames, Sends, and if wanted all other messages. Used by one thread. */
final class IwarpText implements IwarpStream.Listener {

    /** More than any receive buffer that RFC 8797 can tell of. */
    private static final int MAX_SEND_BYTES = 1 << 20;
    private static final int MPA_FIXED_LENGTH = 20;
    private static final int FLAG_MARKERS = 0x80;
    private static final int FLAG_CRC = 0x40;
    private static final int FLAG_REJECT = 0x20;
    private static final int FLAG_ENHANCED = 0x10;
    private static final int READ_DEPTHS_LENGTH = 4;
    private static final int READ_DEPTH_MASK = 0x3FFF;
    private static final int READ_REQUEST_LENGTH = 28;
    private static final int TERMINATE_LENGTH = 4;

    private final Runnable crcAgreed;
    private final MessageText messages;
    private final boolean all;
    private final Consumer<String> lines;
    /** The Send that has begun, empty between two. */
    private final ByteBuf send = Unpooled.buffer(0);
    private boolean skipsSend;
    private long taggedBytes;
    private long taggedOffset;

    /**
     * @param crcAgreed run when an MPA frame asks for CRCs
     * @param all       whether to show more than Sends
     */
    IwarpText(Runnable crcAgreed, MessageText messages, boolean all, Consumer<String> lines) {
        this.crcAgreed = crcAgreed;
        this.messages = messages;
        this.all = all;
        this.lines = lines;
    }

    @Override
    public void setup(boolean reply, ByteBuf frame) {
        int flags = frame.getUnsignedByte(16);
        int revision = frame.getUnsignedByte(17);
        StringBuilder line = new StringBuilder(reply ? "MPA reply" : "MPA request").append(" revision ").append(revision);
        if ((flags & FLAG_CRC) != 0) {
            line.append(" CRC");
            crcAgreed.run();
        }
        line.append((flags & FLAG_MARKERS) != 0 ? " markers (cannot be followed)" : "");
        line.append((flags & FLAG_REJECT) != 0 ? " rejected" : "");
        ByteBuf privateData = frame.slice(MPA_FIXED_LENGTH, frame.readableBytes() - MPA_FIXED_LENGTH);
        if (revision >= 2 && (flags & FLAG_ENHANCED) != 0 && privateData.readableBytes() >= READ_DEPTHS_LENGTH) {
            line.append(" IRD ").append(privateData.readUnsignedShort() & READ_DEPTH_MASK)
                    .append(" ORD ").append(privateData.readUnsignedShort() & READ_DEPTH_MASK);
        }
        lines.accept(line.append(privateData(privateData)).toString());
    }

    private static String privateData(ByteBuf data) {
        if (!data.isReadable()) {
            return " no private data";
        }
        RpcRdmaPrivateData known = RpcRdmaPrivateData.parse(data);
        // Compared by identity: a peer may also tell the values that hold for one that tells nothing.
        return known == RpcRdmaPrivateData.NONE ? " private data of " + data.readableBytes() + " bytes"
                : " send " + known.sendBytes() + " receive " + known.receiveBytes()
                        + (known.acceptsInvalidation() ? " remote invalidation" : " no remote invalidation");
    }

    @Override
    public void interrupted(String reason) {
        lines.accept(reason + (send.isReadable() ? "; " + send.readableBytes() + " bytes of a Send are dropped" : ""));
        endSend();
        taggedBytes = 0;
    }

    @Override
    public void fpdu(Fpdu fpdu) {
        switch (fpdu.opcode()) {
            case Fpdu.WRITE -> tagged(fpdu, "RDMA Write");
            case Fpdu.READ_RESPONSE -> tagged(fpdu, "RDMA Read Response");
            case Fpdu.READ_REQUEST -> readRequest(fpdu.payload());
            case Fpdu.TERMINATE -> terminate(fpdu.payload());
            default -> send(fpdu);
        }
    }

    private void send(Fpdu fpdu) {
        ByteBuf payload = fpdu.payload();
        if (fpdu.queueNumber() != 0) {
            lines.accept("malformed segment: Send to queue " + fpdu.queueNumber() + " (expected: 0)");
            return;
        }
        if (fpdu.messageOffset() == 0) {
            if (send.isReadable()) {
                lines.accept("Send without its last segment, " + send.readableBytes() + " bytes");
            }
            endSend();
        }
        if (!skipsSend && fpdu.messageOffset() != send.readableBytes()) {
            lines.accept("malformed segment: offset " + fpdu.messageOffset() + " in Send " + fpdu.messageSequenceNumber()
                    + " (expected: " + send.readableBytes() + ')');
            skipsSend = true;
        }
        if (!skipsSend && send.readableBytes() + payload.readableBytes() > MAX_SEND_BYTES) {
            lines.accept("Send " + fpdu.messageSequenceNumber() + " has more than " + MAX_SEND_BYTES + " bytes");
            skipsSend = true;
        }
        if (!skipsSend) {
            send.writeBytes(payload);
        }
        if (fpdu.isLast()) {
            if (!skipsSend) {
                sent(fpdu);
            }
            endSend();
        }
    }

    private void endSend() {
        send.clear();
        skipsSend = false;
    }

    private void sent(Fpdu last) {
        String text = send.isReadable() ? messages.describe(send) : "empty Send";
        lines.accept(last.invalidates() ? text + String.format(" | invalidates %08x", last.steeringTag()) : text);
    }

    private void tagged(Fpdu fpdu, String name) {
        if (taggedBytes == 0) {
            taggedOffset = fpdu.taggedOffset();
        }
        taggedBytes += fpdu.payload().readableBytes();
        if (fpdu.isLast()) {
            other(name + String.format(" %08x:%d@%x", fpdu.steeringTag(), taggedBytes, taggedOffset));
            taggedBytes = 0;
        }
    }

    private void readRequest(ByteBuf payload) {
        other(payload.readableBytes() < READ_REQUEST_LENGTH
                ? "malformed RDMA Read Request: " + payload.readableBytes() + " bytes (expected: " + READ_REQUEST_LENGTH + ')'
                : String.format("RDMA Read Request %08x:%d@%x to %08x@%x", payload.getInt(16), payload.getUnsignedInt(12),
                        payload.getLong(20), payload.getInt(0), payload.getLong(4)));
    }

    private void terminate(ByteBuf payload) {
        other(payload.readableBytes() < TERMINATE_LENGTH
                ? "malformed Terminate: " + payload.readableBytes() + " bytes (at least " + TERMINATE_LENGTH + ')'
                : String.format("Terminate layer %d type %d code 0x%02x", payload.getUnsignedByte(0) >> 4,
                        payload.getUnsignedByte(0) & 0x0F, payload.getUnsignedByte(1)));
    }

    private void other(String line) {
        if (all) {
            lines.accept(line);
        }
    }
}
