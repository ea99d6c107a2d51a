package org.nettyrdma.streamtests.grpc;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.testing.TlsTesting;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The same with TLS, with the certificates that come with gRPC. */
public class GrpcWithTlsOverStreamTest extends GrpcOverStreamTest {

    private static final String NAME_IN_CERTIFICATE = "waterzooi.test.google.be";

    @Override
    protected ServerBuilder<?> getServerBuilder() {
        try {
            ServerCredentials credentials =
                    TlsServerCredentials.create(TlsTesting.loadCert("server1.pem"), TlsTesting.loadCert("server1.key"));
            return serverBuilder(credentials);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        try {
            ChannelCredentials credentials =
                    TlsChannelCredentials.newBuilder().trustManager(TlsTesting.loadCert("ca.pem")).build();
            return channelBuilder(credentials).overrideAuthority(NAME_IN_CERTIFICATE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
