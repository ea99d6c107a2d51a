package org.nettyrdma.codec.rpcrdma.format;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicsJson;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Entry;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Ignored;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Value;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;

/** Says a message as the test vectors do. */
public final class HeaderJson {

    private HeaderJson() {
    }

    public static JsonObject of(RpcRdmaMessage message) {
        RpcRdmaHeader header = message.header();
        JsonObject json = new JsonObject();
        json.addProperty("type", typeOf(header));
        json.addProperty("version", header.version());
        json.addProperty("xid", hex(header.xid()));
        json.addProperty("credits", header.credits());
        json.addProperty("flags", hex(header.flags()));
        json.addProperty("direction", switch (message.role()) {
            case REQUEST -> "call";
            case RESPONSE -> "reply";
            case NOTICE, CONTROL, NEITHER -> "none";
        });
        addBody(header, json);
        if (header instanceof Msg) {
            json.addProperty("rpcMessage", Bytes.hex(message.content()));
        }
        return json;
    }

    private static String typeOf(RpcRdmaHeader header) {
        if (header instanceof WithChunks) {
            return (header.version() == 1 ? "RDMA_" : "RDMA2_") + (header instanceof Msg ? "MSG" : "NOMSG");
        }
        return header instanceof VersionError ? "ERR_VERS" : header instanceof ChunkError ? "ERR_CHUNK"
                : header instanceof TransportError ? "RDMA2_ERROR"
                : header instanceof ConnectionProperties ? "RDMA2_CONNPROP"
                : header instanceof Extension<?> extension ? extension.type().name() : header.toString();
    }

    private static void addBody(RpcRdmaHeader header, JsonObject json) {
        if (header instanceof WithChunks message) {
            json.add("chunks", chunks(message.chunks()));
        } else if (header instanceof VersionError error) {
            json.addProperty("lowest", error.lowestVersion());
            json.addProperty("highest", error.highestVersion());
        } else if (header instanceof TransportError error) {
            json.add("error", error(error.error()));
        } else if (header instanceof ConnectionProperties message) {
            json.add("properties", properties(message.properties()));
        } else if (header instanceof Extension<?> extension) {
            CharacteristicsJson.add(extension.value(), json);
        }
    }

    private static JsonObject chunks(ChunkLists chunks) {
        JsonObject json = new JsonObject();
        json.addProperty("invalidateHandle", hex(chunks.invalidateHandle()));
        JsonArray readChunks = new JsonArray();
        for (ReadChunk chunk : chunks.readChunks()) {
            JsonObject entry = new JsonObject();
            entry.addProperty("position", chunk.position());
            entry.add("segments", segments(chunk.segments()));
            readChunks.add(entry);
        }
        json.add("readChunks", readChunks);
        JsonArray writeChunks = new JsonArray();
        chunks.writeChunks().forEach(chunk -> writeChunks.add(segments(chunk.segments())));
        json.add("writeChunks", writeChunks);
        json.add("replyChunk", chunks.replyChunk() == null ? JsonNull.INSTANCE : segments(chunks.replyChunk().segments()));
        return json;
    }

    private static JsonArray segments(List<RemoteSegment> segments) {
        JsonArray json = new JsonArray();
        for (RemoteSegment segment : segments) {
            JsonObject entry = new JsonObject();
            entry.addProperty("handle", hex(segment.steeringTag()));
            entry.addProperty("length", segment.length());
            entry.addProperty("offset", String.format("%016x", segment.offset()));
            json.add(entry);
        }
        return json;
    }

    private static JsonObject error(RpcRdmaError error) {
        JsonObject json = new JsonObject();
        json.addProperty("code", Integer.toUnsignedLong(error.code()));
        json.addProperty("name", nameOf(error));
        if (error instanceof RpcRdmaError.ReadChunks chunks) {
            json.addProperty("rdma_max_chunks", chunks.max());
        } else if (error instanceof RpcRdmaError.WriteChunks chunks) {
            json.addProperty("rdma_max_chunks", chunks.max());
        } else if (error instanceof RpcRdmaError.Segments segments) {
            json.addProperty("rdma_max_segments", segments.max());
        } else if (error instanceof RpcRdmaError.WriteResource resource) {
            json.addProperty("rdma_chunk_index", resource.chunkIndex());
            json.addProperty("rdma_length_needed", resource.lengthNeededBytes());
        } else if (error instanceof RpcRdmaError.ReplyResource resource) {
            json.addProperty("rdma_length_needed", resource.lengthNeededBytes());
        }
        return json;
    }

    /** The draft's name. */
    static String nameOf(RpcRdmaError error) {
        if (error instanceof RpcRdmaError.Unknown) {
            return "unknown";
        }
        return "RDMA2_ERR_" + List.of("VERS", "BAD_XDR", "INVAL_HTYPE", "READ_CHUNKS", "WRITE_CHUNKS", "SEGMENTS",
                "WRITE_RESOURCE", "REPLY_RESOURCE", "SYSTEM").get(error.code() - 1);
    }

    public static JsonArray properties(PropertySet set) {
        JsonArray json = new JsonArray();
        for (Entry entry : set.entries()) {
            json.add(property(entry));
        }
        return json;
    }

    public static JsonElement property(Entry entry) {
        JsonObject json = new JsonObject();
        json.addProperty("id", Integer.toUnsignedLong(entry.id()));
        if (entry instanceof Ignored ignored) {
            json.addProperty("ignoredBytes", ignored.valueBytes());
        } else if (entry instanceof Value<?> value) {
            json.addProperty("value", value.value() instanceof ReverseRequestSupport support
                    ? (Number) List.of(ReverseRequestSupport.NONE, ReverseRequestSupport.INLINE,
                            ReverseRequestSupport.GENERAL).indexOf(support) : (Number) value.value());
        }
        return json;
    }

    private static String hex(int word) {
        return String.format("%08x", word);
    }
}
