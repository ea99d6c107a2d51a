package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.nettyrdma.codec.rpcrdma.header.XdrType;

/** What extensions of tests have in their headers and properties. */
final class TestTypes {

    static final XdrType<Integer> NUMBER = new XdrType<>() {

        @Override
        public Integer read(ByteBuf in) {
            return in.readInt();
        }

        @Override
        public int lengthOf(Integer value) {
            return Integer.BYTES;
        }

        @Override
        public void write(Integer value, ByteBuf out) {
            out.writeInt(value);
        }
    };

    /** As long as the value. */
    static final XdrType<String> TEXT = new XdrType<>() {

        @Override
        public String read(ByteBuf in) {
            return in.readCharSequence(in.readableBytes(), StandardCharsets.US_ASCII).toString();
        }

        @Override
        public int lengthOf(String value) {
            return value.length();
        }

        @Override
        public void write(String value, ByteBuf out) {
            out.writeCharSequence(value, StandardCharsets.US_ASCII);
        }
    };

    private TestTypes() {
    }
}
