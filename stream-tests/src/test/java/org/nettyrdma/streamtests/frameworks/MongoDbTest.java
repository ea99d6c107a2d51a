package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.connection.TransportSettings;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

class MongoDbTest extends Framework {

    @Test
    void shouldCarryDocuments() {
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(new MongoDbServer()).bind(address).syncUninterruptibly().channel();
        ServerAddress serverAddress = new ServerAddress((InetSocketAddress) server.localAddress());
        MongoClientSettings settings = MongoClientSettings.builder()
                .transportSettings(TransportSettings.nettyBuilder()
                        .socketChannelClass(RdmaStreamChannel.class)
                        .eventLoopGroup(group)
                        .build())
                .applyToClusterSettings(cluster -> cluster.hosts(List.of(serverAddress)))
                .build();
        try (MongoClient client = MongoClients.create(settings)) {
            MongoCollection<Document> collection = client.getDatabase("a").getCollection("b");
            collection.insertOne(new Document("key", text));

            assertEquals(text, collection.find().first().getString("key"));
        } finally {
            server.close().syncUninterruptibly();
        }
    }
}
