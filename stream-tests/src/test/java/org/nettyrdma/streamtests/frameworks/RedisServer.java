package org.nettyrdma.streamtests.frameworks;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.ErrorRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.RedisArrayAggregator;
import io.netty.handler.codec.redis.RedisBulkStringAggregator;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.RedisEncoder;
import io.netty.handler.codec.redis.RedisMessage;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** As much of a Redis server as a client needs for its values: Netty's codec, and a map. */
final class RedisServer extends ChannelInitializer<SocketChannel> {

    private static final int MOST_WORDS = 16;

    private final Commands commands = new Commands();

    @Override
    protected void initChannel(SocketChannel channel) {
        channel.pipeline().addLast(new RedisDecoder(), new RedisBulkStringAggregator(), new RedisArrayAggregator(MOST_WORDS, 1),
                new RedisEncoder(), commands);
    }

    @Sharable
    private static final class Commands extends SimpleChannelInboundHandler<ArrayRedisMessage> {

        private final Map<String, FullBulkStringRedisMessage> values = new ConcurrentHashMap<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, ArrayRedisMessage command) {
            context.writeAndFlush(reply(command));
        }

        private RedisMessage reply(ArrayRedisMessage command) {
            String name = text(command, 0);
            switch (name) {
                case "SET":
                    byte[] value = text(command, 2).getBytes(StandardCharsets.ISO_8859_1);
                    values.put(text(command, 1), new FullBulkStringRedisMessage(Unpooled.wrappedBuffer(value)));
                    return new SimpleStringRedisMessage("OK");
                case "GET":
                    FullBulkStringRedisMessage found = values.get(text(command, 1));
                    return found == null ? FullBulkStringRedisMessage.NULL_INSTANCE : found.retainedDuplicate();
                case "PING":
                    return new SimpleStringRedisMessage("PONG");
                default:
                    return new ErrorRedisMessage("ERR unknown command '" + name + "'");
            }
        }

        private static String text(ArrayRedisMessage command, int index) {
            return ((FullBulkStringRedisMessage) command.children().get(index)).content().toString(StandardCharsets.ISO_8859_1);
        }
    }
}
