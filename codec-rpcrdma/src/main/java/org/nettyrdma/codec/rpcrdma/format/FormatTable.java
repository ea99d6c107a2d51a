package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ConveyingMessage;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/** Chooses the format of each message: of a received one by its version word, of one to be sent by its header. */
public final class FormatTable {

    private final SpokenVersions spoken;
    private final int flagMask;
    private final HeaderFormat one;
    private final HeaderFormat two;

    /**
     * @param spoken     the versions that are not refused
     * @param extensions what is known of version 2 beyond the base protocol
     */
    public FormatTable(SpokenVersions spoken, RpcRdmaLimits limits, HeaderExtensions extensions) {
        this.spoken = spoken;
        this.flagMask = extensions.flagMask();
        this.one = new VersionOneFormat(limits, spoken);
        this.two = new VersionTwoFormat(limits, extensions);
    }

    /** The format of a version that is spoken. */
    public HeaderFormat of(RpcRdmaVersion version) {
        return version == RpcRdmaVersion.ONE ? one : two;
    }

    /**
     * The format to read a message with. What has a version that is not spoken is read as version 1, which refuses it unless it
     * is an error.
     *
     * @param received a message with at least the words that every version has
     */
    public HeaderFormat ofReceived(ByteBuf received) {
        int version = received.getInt(received.readerIndex() + HeaderLayout.VERSION_OFFSET);
        boolean versionTwo = version == VersionTwoLayout.VERSION && spoken.includes(RpcRdmaVersion.TWO)
                && !isErrorOfVersionOne(received);
        return versionTwo ? two : one;
    }

    /**
     * Whether this is the error of a responder that does not know version 2, but quotes it. Such a responder sends ERR_VERS in
     * 28 bytes. An RDMA2_ERROR of 28 bytes has its code where ERR_VERS has the lowest version, and a code of 1 to 3 has another
     * length; there is no version 0.
     */
    private static boolean isErrorOfVersionOne(ByteBuf received) {
        int start = received.readerIndex();
        if (received.getInt(start + HeaderLayout.TYPE_OFFSET) != MessageType.RDMA_ERROR.code()) {
            return false;
        }
        return switch (received.readableBytes()) {
            case HeaderLayout.ERR_CHUNK_LENGTH ->
                received.getInt(start + HeaderLayout.BODY_OFFSET) == HeaderLayout.ERR_CHUNK;
            case HeaderLayout.ERR_VERS_LENGTH -> {
                int lowest = received.getInt(start + HeaderLayout.BODY_OFFSET + Integer.BYTES);
                yield received.getInt(start + HeaderLayout.BODY_OFFSET) == HeaderLayout.ERR_VERS
                        && lowest >= HeaderLayout.VERSION && lowest < VersionTwoLayout.ERR_READ_CHUNKS;
            }
            default -> false;
        };
    }

    /**
     * The format to write the header of a message with.
     *
     * @throws IllegalArgumentException if its version is not spoken
     */
    HeaderFormat ofSent(RpcRdmaMessage message) {
        if (message.version() != VersionTwoLayout.VERSION
                || !(message instanceof ConveyingMessage) // which would make a header now
                && message.header() instanceof VersionError) {
            return one;
        }
        if (!spoken.includes(RpcRdmaVersion.TWO)) {
            throw new IllegalArgumentException("version 2 (spoken: " + spoken + "): " + message.header());
        }
        return two;
    }

    /** Whether some of the flags of a received header are registered by nobody. */
    boolean hasUnknown(int flags) {
        return (flags & ~flagMask) != 0;
    }
}
