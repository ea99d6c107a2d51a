package org.nettyrdma.codec.rpcrdma.header;

import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;

/**
 * Why a message was refused: the codes of {@code rpcrdma2_error} with their fields (version-two-08, section 5.3.3). Numbers of
 * the wire are unsigned 32-bit numbers, 0 to 4294967295. Their texts name code and fields as the draft does.
 */
public sealed interface RpcRdmaError {

    /** RDMA2_ERR_BAD_XDR. */
    BadXdr BAD_XDR = new BadXdr();

    /** RDMA2_ERR_INVAL_HTYPE. */
    InvalidHeaderType INVALID_HEADER_TYPE = new InvalidHeaderType();

    /** RDMA2_ERR_SYSTEM. */
    SystemError SYSTEM = new SystemError();

    /**
     * The code on the wire.
     *
     * @return {@code rdma_err}, an unsigned number
     */
    int code();

    /**
     * RDMA2_ERR_VERS, code 1: the version is not spoken.
     *
     * @param lowest  the lowest version that the responder speaks
     * @param highest the highest version that the responder speaks
     */
    record Versions(long lowest, long highest) implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_VERS;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_VERS (rdma_vers_low " + lowest + ", rdma_vers_high " + highest + ")";
        }
    }

    /** RDMA2_ERR_BAD_XDR, code 2: the header cannot be parsed. */
    record BadXdr() implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_BAD_XDR;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_BAD_XDR";
        }
    }

    /** RDMA2_ERR_INVAL_HTYPE, code 3: the header type is unknown or not supported. */
    record InvalidHeaderType() implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_INVAL_HTYPE;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_INVAL_HTYPE";
        }
    }

    /**
     * RDMA2_ERR_READ_CHUNKS, code 4: the call has more Read chunks than the responder takes.
     *
     * @param max how many it takes, 0 if none but a Position Zero Read chunk
     */
    record ReadChunks(long max) implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_READ_CHUNKS;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_READ_CHUNKS (rdma_max_chunks " + max + ")";
        }
    }

    /**
     * RDMA2_ERR_WRITE_CHUNKS, code 5: the call has more Write chunks than the responder takes.
     *
     * @param max how many it takes
     */
    record WriteChunks(long max) implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_WRITE_CHUNKS;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_WRITE_CHUNKS (rdma_max_chunks " + max + ")";
        }
    }

    /**
     * RDMA2_ERR_SEGMENTS, code 6: a chunk of the call has more segments than the responder takes.
     *
     * @param max how many it takes
     */
    record Segments(long max) implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_SEGMENTS;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_SEGMENTS (rdma_max_segments " + max + ")";
        }
    }

    /**
     * RDMA2_ERR_WRITE_RESOURCE, code 7: a Write chunk is too small for its result.
     *
     * @param chunkIndex        the first Write chunk that is too small, counted from 1; 0 if it could not be told which
     * @param lengthNeededBytes how large that chunk would have to be
     */
    record WriteResource(long chunkIndex, long lengthNeededBytes) implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_WRITE_RESOURCE;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_WRITE_RESOURCE (rdma_chunk_index " + chunkIndex + ", rdma_length_needed " + lengthNeededBytes + ")";
        }
    }

    /**
     * RDMA2_ERR_REPLY_RESOURCE, code 8: the reply fits neither inline nor into the Reply chunk.
     *
     * @param lengthNeededBytes how large the Reply chunk would have to be
     */
    record ReplyResource(long lengthNeededBytes) implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_REPLY_RESOURCE;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_REPLY_RESOURCE (rdma_length_needed " + lengthNeededBytes + ")";
        }
    }

    /** RDMA2_ERR_SYSTEM, code 9: something else, and permanent. */
    record SystemError() implements RpcRdmaError {

        @Override
        public int code() {
            return VersionTwoLayout.ERR_SYSTEM;
        }

        @Override
        public String toString() {
            return "RDMA2_ERR_SYSTEM";
        }
    }

    /**
     * An error that was registered with {@link HeaderExtensions} (version-two-08, section 9.3).
     *
     * @param <T>   what the error's body is parsed to
     * @param type  the error
     * @param value what it tells
     */
    record Registered<T>(ErrorType<T> type, T value) implements RpcRdmaError {

        @Override
        public int code() {
            return type.code();
        }

        @Override
        public String toString() {
            return type.name() + " (" + value + ')';
        }
    }

    /**
     * A code that is not registered. It has no body, as the default arm of the union says.
     *
     * @param code the code
     */
    record Unknown(int code) implements RpcRdmaError {

        @Override
        public String toString() {
            return "unknown code " + Integer.toUnsignedString(code);
        }
    }
}
