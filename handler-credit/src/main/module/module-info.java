module org.nettyrdma.handler.credit {
    requires transitive io.netty.common;
    requires transitive io.netty.transport;
    requires jdk.jfr;
    requires org.slf4j;

    exports org.nettyrdma.handler.credit;
    exports org.nettyrdma.handler.credit.support to org.nettyrdma.codec;
}
