module programs {
    requires org.nettyrdma.codec;
    requires micrometer.core;
}
