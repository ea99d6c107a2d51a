package org.nettyrdma.streamtests.frameworks;

import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.session.ProgrammaticArguments;
import com.datastax.oss.driver.internal.core.context.DefaultDriverContext;
import com.datastax.oss.driver.internal.core.context.DefaultNettyOptions;
import com.datastax.oss.driver.internal.core.context.NettyOptions;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import org.nettyrdma.channel.RdmaStreamChannel;

public final class RdmaCqlSessionBuilder extends CqlSessionBuilder {

    private final EventLoopGroup group;

    public RdmaCqlSessionBuilder(EventLoopGroup group) {
        this.group = group;
    }

    @Override
    protected DriverContext buildContext(DriverConfigLoader loader, ProgrammaticArguments arguments) {
        return new DefaultDriverContext(loader, arguments) {
            @Override
            protected NettyOptions buildNettyOptions() {
                return new DefaultNettyOptions(this) {
                    @Override
                    public EventLoopGroup ioEventLoopGroup() {
                        return group;
                    }

                    @Override
                    public Class<? extends Channel> channelClass() {
                        return RdmaStreamChannel.class;
                    }
                };
            }
        };
    }
}
