package org.nettyrdma.benchmarks;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** A service of gRPC that returns what it gets: call by call, and as a stream. Without a code generator. */
final class GrpcEcho {

    static final MethodDescriptor<byte[], byte[]> UNARY = method("Unary", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> STREAM = method("Stream", MethodType.BIDI_STREAMING);

    private static final String SERVICE = "org.nettyrdma.benchmarks.Echo";

    private GrpcEcho() {
    }

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
        return MethodDescriptor.newBuilder(new Bytes(), new Bytes()).setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name)).build();
    }

    static ServerServiceDefinition service() {
        return ServerServiceDefinition.builder(SERVICE)
                .addMethod(UNARY, ServerCalls.asyncUnaryCall((request, replies) -> {
                    replies.onNext(request);
                    replies.onCompleted();
                }))
                .addMethod(STREAM, ServerCalls.asyncBidiStreamingCall(Returned::new))
                .build();
    }

    /** The requests of a stream. */
    private record Returned(StreamObserver<byte[]> replies) implements StreamObserver<byte[]> {

        @Override
        public void onNext(byte[] request) {
            replies.onNext(request);
        }

        @Override
        public void onError(Throwable cause) {
            replies.onError(cause);
        }

        @Override
        public void onCompleted() {
            replies.onCompleted();
        }
    }

    /** Messages are what they are. */
    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {

        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try (stream) {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
