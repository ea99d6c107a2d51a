module org.nettyrdma.codec {
    requires transitive io.netty.buffer;
    requires transitive io.netty.common;
    requires transitive io.netty.transport;
    requires transitive org.nettyrdma.handler.credit;
    requires transitive org.nettyrdma.transport;
    requires io.netty.codec;
    requires io.netty.handler;
    requires jdk.jfr;
    requires org.slf4j;
    requires static micrometer.core;

    exports org.nettyrdma.codec.oncrpc;
    exports org.nettyrdma.codec.oncrpc.client;
    exports org.nettyrdma.codec.oncrpc.rpcbind;
    exports org.nettyrdma.codec.rpcrdma;
    exports org.nettyrdma.codec.rpcrdma.characteristics;
    exports org.nettyrdma.codec.rpcrdma.header;
    exports org.nettyrdma.codec.rpcrdma.legacy;
}
