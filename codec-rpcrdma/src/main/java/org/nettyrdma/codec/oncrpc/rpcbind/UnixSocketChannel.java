package org.nettyrdma.codec.oncrpc.rpcbind;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.FileRegion;
import io.netty.channel.nio.AbstractNioByteChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * A stream to a socket in the file system, on the JDK's own implementation. Netty 4.1 has such channels only with native
 * libraries: its NIO channel asks the JDK for a {@link java.net.Socket}, which these sockets do not have.
 */
final class UnixSocketChannel extends AbstractNioByteChannel {

    private final ChannelConfig config = new DefaultChannelConfig(this);

    UnixSocketChannel() {
        super(null, open());
    }

    private static SocketChannel open() {
        try {
            return SocketChannel.open(StandardProtocolFamily.UNIX);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open a socket", e);
        }
    }

    @Override
    protected SocketChannel javaChannel() {
        return (SocketChannel) super.javaChannel();
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isActive() {
        return javaChannel().isOpen() && javaChannel().isConnected();
    }

    @Override
    protected void doBind(SocketAddress localAddress) throws IOException {
        javaChannel().bind(localAddress);
    }

    @Override
    protected boolean doConnect(SocketAddress remoteAddress, SocketAddress localAddress) throws IOException {
        boolean connected = javaChannel().connect(remoteAddress);
        if (!connected) {
            selectionKey().interestOps(SelectionKey.OP_CONNECT);
        }
        return connected;
    }

    @Override
    protected void doFinishConnect() throws IOException {
        javaChannel().finishConnect();
    }

    @Override
    protected int doReadBytes(ByteBuf buffer) throws IOException {
        var handle = unsafe().recvBufAllocHandle();
        handle.attemptedBytesRead(buffer.writableBytes());
        return buffer.writeBytes(javaChannel(), handle.attemptedBytesRead());
    }

    @Override
    protected int doWriteBytes(ByteBuf buffer) throws IOException {
        return buffer.readBytes(javaChannel(), buffer.readableBytes());
    }

    @Override
    protected long doWriteFileRegion(FileRegion region) throws IOException {
        return region.transferTo(javaChannel(), region.transferred());
    }

    @Override
    protected ChannelFuture shutdownInput() {
        try {
            javaChannel().shutdownInput();
            return newSucceededFuture();
        } catch (IOException e) {
            return newFailedFuture(e);
        }
    }

    @Override
    protected void doDisconnect() throws Exception {
        doClose();
    }

    @Override
    protected void doClose() throws Exception {
        super.doClose();
        javaChannel().close();
    }

    @Override
    protected SocketAddress localAddress0() {
        return addressOf(SocketChannel::getLocalAddress);
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return addressOf(SocketChannel::getRemoteAddress);
    }

    private interface AddressGetter {
        SocketAddress get(SocketChannel channel) throws IOException;
    }

    /** {@code null} while there is none. */
    private SocketAddress addressOf(AddressGetter getter) {
        try {
            return getter.get(javaChannel());
        } catch (IOException e) {
            return null;
        }
    }
}
