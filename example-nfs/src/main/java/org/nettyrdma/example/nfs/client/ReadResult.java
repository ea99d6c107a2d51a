package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import org.nettyrdma.example.nfs.protocol.Fattr;

/**
 * What a READ returned. Holds a reference to the data, a slice of the reply, which the receiver must release. Any thread may
 * use it, one at a time.
 */
public final class ReadResult extends DefaultByteBufHolder {

    private final Fattr attributes;
    private final boolean endOfFile;

    ReadResult(Fattr attributes, boolean endOfFile, ByteBuf data) {
        super(data);
        this.attributes = attributes;
        this.endOfFile = endOfFile;
    }

    /**
     * Returns the attributes of the file after the READ.
     *
     * @return the attributes, or {@code null} if the server does not tell
     */
    public Fattr attributes() {
        return attributes;
    }

    /**
     * Says whether the last byte of the data is the last one of the file, or the READ began behind it.
     *
     * @return {@code true} if so
     */
    public boolean endOfFile() {
        return endOfFile;
    }

    @Override
    public ReadResult replace(ByteBuf content) {
        return new ReadResult(attributes, endOfFile, content);
    }
}
