package org.nettyrdma.streamtests.frameworks;

import io.vertx.core.impl.VertxBuilder;
import io.vertx.core.spi.VertxServiceProvider;

public final class RdmaVertx implements VertxServiceProvider {

    @Override
    public void init(VertxBuilder builder) {
        builder.findTransport(new RdmaTransport());
    }
}
