package org.nettyrdma.example.nfs.dump;

import static org.nettyrdma.codec.rpcrdma.RpcRdmaLimits.DEFAULT;

import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.stream.Collectors;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.HeaderDecoder;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;

/**
 * RPC-over-RDMA messages in words, each on one line. A segment is {@code handle:length@offset}, handle and offset in hexadecimal
 * digits. The first line about version 2 names the draft. Used by one thread.
 */
public final class MessageText {

    /** The largest that can be had: this judges nobody's messages. */
    private static final RpcRdmaLimits LIMITS = DEFAULT.withMaxMessageBytes(17 << 20).withMaxChunks(1024, 64, 64);
    private static final HeaderExtensions EXTENSIONS = Characteristics.builder().build().extensions();

    private static final int VERSION_OFFSET = 4;
    private static final int TYPE_OFFSET = 12;
    private static final int FIXED_LENGTH = 16;
    private static final int RDMA_MSGP = 2;

    private boolean draftNamed;

    /** Creates a writer that has not named the draft yet. */
    public MessageText() {
    }

    /**
     * Describes one message.
     *
     * @param message one whole Send; it stays the caller's, its reader index is moved
     * @return one line, which says what is wrong and where if the message is malformed
     */
    public String describe(ByteBuf message) {
        int start = message.readerIndex();
        try {
            RpcRdmaHeader header = HeaderDecoder.decode(message, LIMITS, EXTENSIONS);
            StringBuilder line = new StringBuilder(version(header.version())).append(' ').append(type(header, message, start))
                    .append(String.format(" xid %08x credits %d", header.xid(), header.credits()));
            if (isPadded(header, message, start)) {
                line.append(" align ").append(message.getUnsignedInt(start + FIXED_LENGTH))
                        .append(" threshold ").append(message.getUnsignedInt(start + FIXED_LENGTH + Integer.BYTES));
            }
            appendFlags(line, header);
            appendBody(line, header);
            if (header instanceof Msg || message.isReadable()) {
                line.append(" | ").append(rpcMessage(message, header.xid()));
            }
            return line.toString();
        } catch (RpcRdmaException e) {
            return malformed(e, message, start);
        }
    }

    private static String rpcMessage(ByteBuf message, int xid) {
        if (!message.isReadable()) {
            return "no RPC message";
        }
        boolean differs = message.readableBytes() >= Integer.BYTES && message.getInt(message.readerIndex()) != xid;
        return (differs ? String.format("malformed: RPC xid %08x, ", message.getInt(message.readerIndex())) : "")
                + RpcText.of(message);
    }

    private String malformed(RpcRdmaException cause, ByteBuf message, int start) {
        int length = message.writerIndex() - start;
        String fixedWords = length < FIXED_LENGTH ? "" : version(message.getInt(start + VERSION_OFFSET))
                + String.format(" xid %08x ", message.getInt(start));
        return fixedWords + "malformed: " + cause.getMessage() + ", at byte " + (message.readerIndex() - start) + " of " + length;
    }

    private String version(int version) {
        if (version != 2 || draftNamed) {
            return "v" + Integer.toUnsignedString(version);
        }
        draftNamed = true;
        return "v2 (version-two-08)";
    }

    private static String type(RpcRdmaHeader header, ByteBuf message, int start) {
        String prefix = header.version() == 2 ? "RDMA2_" : "RDMA_";
        if (header instanceof Msg) {
            return prefix + (isPadded(header, message, start) ? "MSGP" : "MSG");
        }
        if (header instanceof NoMsg) {
            return prefix + "NOMSG";
        }
        if (header instanceof ConnectionProperties) {
            return prefix + "CONNPROP";
        }
        if (header instanceof Done) {
            return prefix + "DONE";
        }
        return header instanceof Extension<?> extension ? extension.type().name() : prefix + "ERROR";
    }

    private static boolean isPadded(RpcRdmaHeader header, ByteBuf message, int start) {
        return header instanceof Msg && header.version() == 1 && message.getInt(start + TYPE_OFFSET) == RDMA_MSGP;
    }

    private static void appendFlags(StringBuilder line, RpcRdmaHeader header) {
        // An ERR_VERS may have the layout of version 1, which has no flags.
        if (header.version() == 2 && !(header instanceof VersionError)) {
            line.append(" flags ").append(header.flags() == 0 ? "0" : EXTENSIONS.flagNames(header.flags()));
        }
    }

    private static void appendBody(StringBuilder line, RpcRdmaHeader header) {
        if (header instanceof WithChunks message) {
            appendChunks(line, message.chunks());
        } else if (header instanceof VersionError error) {
            line.append(" ERR_VERS ").append(error.lowestVersion()).append(" to ").append(error.highestVersion());
        } else if (header instanceof ChunkError) {
            line.append(" ERR_CHUNK");
        } else if (header instanceof TransportError error) {
            line.append(' ').append(error.error());
        } else if (header instanceof ConnectionProperties properties) {
            line.append(" properties [").append(properties.properties().entries().stream().map(MessageText::property)
                    .collect(Collectors.joining(", "))).append(']');
        } else if (header instanceof Extension<?> extension) {
            line.append(' ').append(extension.value());
        } else if (header instanceof Malformed malformed) {
            line.append(" malformed: ").append(malformed.cause().getMessage());
        }
    }

    private static void appendChunks(StringBuilder line, ChunkLists chunks) {
        if (chunks.invalidateHandle() != 0) {
            line.append(String.format(" invalidate %08x", chunks.invalidateHandle()));
        }
        chunks.readChunks().forEach(chunk ->
                line.append(" read at ").append(chunk.position()).append(' ').append(segments(chunk.segments())));
        chunks.writeChunks().forEach(chunk -> line.append(" write ").append(segments(chunk.segments())));
        if (chunks.replyChunk() != null) {
            line.append(" reply ").append(segments(chunks.replyChunk().segments()));
        }
    }

    private static String segments(List<RemoteSegment> segments) {
        return segments.stream()
                .map(segment -> String.format("%08x:%d@%x", segment.steeringTag(), segment.length(), segment.offset()))
                .collect(Collectors.joining(" ", "[", "]"));
    }

    private static String property(PropertySet.Entry entry) {
        if (entry instanceof PropertySet.Value<?> value) {
            return value.property().name() + ' ' + value.value();
        }
        PropertySet.Ignored ignored = (PropertySet.Ignored) entry;
        return "property " + Integer.toUnsignedString(ignored.id()) + " of " + ignored.valueBytes() + " bytes";
    }
}
