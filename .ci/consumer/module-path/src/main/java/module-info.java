module programs {
    requires org.nettyrdma.codec;
}
