module org.nettyrdma.transport {
    requires transitive io.netty.buffer;
    requires transitive io.netty.common;
    requires transitive io.netty.transport;
    requires org.slf4j;
    requires java.management;
    requires jdk.jfr;
    requires jdk.net;
    requires jdk.unsupported;
    requires static disni;
    requires static io.netty.transport.unix.common;

    exports org.nettyrdma.channel;
    exports org.nettyrdma.peer to org.nettyrdma.codec;
    exports org.nettyrdma.verbs;

    uses org.nettyrdma.verbs.VerbsProvider;

    provides org.nettyrdma.verbs.VerbsProvider with
            org.nettyrdma.verbs.disni.DisniProvider,
            org.nettyrdma.verbs.iwarp.IwarpProvider,
            org.nettyrdma.verbs.shm.ShmProvider,
            org.nettyrdma.verbs.shm.SameHostProvider;
}
