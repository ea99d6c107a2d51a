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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;
import reactor.core.publisher.Mono;

class MongoDbTest extends Framework {

    private Channel server;
    private MongoClientSettings clientSettings;

    @BeforeEach
    void start() {
        server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(new MongoDbServer()).bind(address).syncUninterruptibly().channel();
        ServerAddress serverAddress = new ServerAddress((InetSocketAddress) server.localAddress());
        MongoClientSettings settings = MongoClientSettings.builder()
                .transportSettings(TransportSettings.nettyBuilder()
                        .socketChannelClass(RdmaStreamChannel.class)
                        .eventLoopGroup(group)
                        .build())
                .applyToClusterSettings(cluster -> cluster.hosts(List.of(serverAddress)))
                .build();
        clientSettings = settings;
    }

    @AfterEach
    void close() {
        server.close().syncUninterruptibly();
    }

    @Test
    void shouldCarryDocuments() {
        try (MongoClient client = MongoClients.create(clientSettings)) {
            MongoCollection<Document> collection = client.getDatabase("a").getCollection("b");
            collection.insertOne(new Document("key", text));

            assertEquals(text, collection.find().first().getString("key"));
        }
    }

    @Test
    void shouldCarryDocumentsAsReactiveStreams() {
        try (var client = com.mongodb.reactivestreams.client.MongoClients.create(clientSettings)) {
            var collection = client.getDatabase("a").getCollection("b");
            Mono.from(collection.insertOne(new Document("key", text))).block();

            assertEquals(text, Mono.from(collection.find().first()).block().getString("key"));
        }
    }
}
