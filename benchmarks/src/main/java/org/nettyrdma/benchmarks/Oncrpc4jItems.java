package org.nettyrdma.benchmarks;

import java.nio.ByteBuffer;
import org.dcache.oncrpc4j.xdr.BadXdrOncRpcException;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;

/** What arguments and results consist of, as types of oncrpc4j. */
final class Oncrpc4jItems {

    private Oncrpc4jItems() {
    }

    /** An unsigned or signed integer. */
    static final class Int implements XdrAble {

        private int value;

        Int(int value) {
            this.value = value;
        }

        int value() {
            return value;
        }

        @Override
        public void xdrDecode(XdrDecodingStream in) throws BadXdrOncRpcException {
            value = in.xdrDecodeInt();
        }

        @Override
        public void xdrEncode(XdrEncodingStream out) {
            out.xdrEncodeInt(value);
        }
    }

    /** Bytes of variable length; what was decoded is valid during the call only. */
    static final class Opaque implements XdrAble {

        private ByteBuffer bytes;

        Opaque(ByteBuffer bytes) {
            this.bytes = bytes;
        }

        ByteBuffer bytes() {
            return bytes;
        }

        @Override
        public void xdrDecode(XdrDecodingStream in) throws BadXdrOncRpcException {
            bytes = in.xdrDecodeByteBuffer();
        }

        @Override
        public void xdrEncode(XdrEncodingStream out) {
            out.xdrEncodeByteBuffer(bytes.duplicate());
        }
    }
}
