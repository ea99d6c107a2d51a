/** RDMA for the event loops of Netty 4.2. */
module org.nettyrdma.iohandler {
    requires transitive io.netty.transport;
    requires transitive org.nettyrdma.transport;
    requires io.netty.common;

    exports org.nettyrdma.iohandler;
}
