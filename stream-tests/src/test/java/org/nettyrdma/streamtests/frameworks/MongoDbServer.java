package org.nettyrdma.streamtests.frameworks;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import java.nio.ByteOrder;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.bson.BsonArray;
import org.bson.BsonBinaryWriter;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.EncoderContext;
import org.bson.io.BasicOutputBuffer;

/** As much of a MongoDB server as a driver needs for its documents: they are all in one collection. */
final class MongoDbServer extends ChannelInitializer<SocketChannel> {

    private static final int MOST_BYTES = 1 << 20;
    private static final int OPCODE_OFFSET = 12;
    private static final int HEADER_BYTES = 16;
    private static final int REPLY = 1;
    private static final int QUERY = 2004;
    private static final int MESSAGE = 2013;
    private static final int WIRE_VERSION = 21;

    private final Commands commands = new Commands();

    @Override
    protected void initChannel(SocketChannel channel) {
        channel.pipeline().addLast(new LengthFieldBasedFrameDecoder(ByteOrder.LITTLE_ENDIAN, MOST_BYTES, 0, Integer.BYTES,
                -Integer.BYTES, 0, true), commands);
    }

    @Sharable
    private static final class Commands extends SimpleChannelInboundHandler<ByteBuf> {

        private final BlockingQueue<BsonDocument> documents = new LinkedBlockingQueue<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf in) {
            int id = in.getIntLE(Integer.BYTES);
            boolean query = in.getIntLE(OPCODE_OFFSET) == QUERY; // the first one of a connection
            in.skipBytes(HEADER_BYTES + Integer.BYTES);
            if (query) {
                in.skipBytes(in.bytesBefore((byte) 0) + 1 + 2 * Integer.BYTES);
            } else {
                in.skipBytes(1);
            }
            BsonDocument reply = reply(next(in), in);
            BasicOutputBuffer bytes = new BasicOutputBuffer();
            new BsonDocumentCodec().encode(new BsonBinaryWriter(bytes), reply, EncoderContext.builder().build());
            ByteBuf out = context.alloc().buffer();
            out.writeIntLE(0).writeIntLE(id).writeIntLE(id).writeIntLE(query ? REPLY : MESSAGE).writeIntLE(0);
            if (query) {
                out.writeLongLE(0).writeIntLE(0).writeIntLE(1);
            } else {
                out.writeByte(0);
            }
            out.writeBytes(bytes.toByteArray());
            context.writeAndFlush(out.setIntLE(0, out.readableBytes()));
        }

        private BsonDocument reply(BsonDocument command, ByteBuf in) {
            BsonDocument reply = new BsonDocument("ok", new BsonDouble(1));
            switch (command.getFirstKey()) {
                case "insert":
                    in.skipBytes(1 + Integer.BYTES);
                    in.skipBytes(in.bytesBefore((byte) 0) + 1);
                    documents.add(next(in));
                    return reply.append("n", new BsonInt32(1));
                case "find":
                    return reply.append("cursor", new BsonDocument("id", new BsonInt64(0)).append("ns", new BsonString("a.b"))
                            .append("firstBatch", new BsonArray(documents.stream().toList())));
                default:
                    return reply.append("helloOk", BsonBoolean.TRUE).append("isWritablePrimary", BsonBoolean.TRUE)
                            .append("maxWireVersion", new BsonInt32(WIRE_VERSION));
            }
        }

        private static BsonDocument next(ByteBuf in) {
            return new RawBsonDocument(ByteBufUtil.getBytes(in.readSlice(in.getIntLE(in.readerIndex()))));
        }
    }
}
