package org.nettyrdma.streamtests.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import reactor.core.publisher.Flux;

/** Bytes of which no two pieces are alike, so that a piece that is lost, doubled or out of order shows in the digest. */
final class TestData {

    private static final int PIECE_LENGTH = 64 * 1024;

    private final byte[] random = new byte[PIECE_LENGTH];
    private final long length;

    TestData(long length) {
        this.length = length;
        new Random(length).nextBytes(random);
    }

    /** One buffer after the other, made when it is asked for. */
    Flux<ByteBuf> pieces(ByteBufAllocator allocator) {
        return Flux.generate(() -> 0L, (position, sink) -> {
            if (position >= length) {
                sink.complete();
            } else {
                sink.next(piece(allocator, position));
            }
            return position + PIECE_LENGTH;
        });
    }

    private ByteBuf piece(ByteBufAllocator allocator, long position) {
        int pieceLength = (int) Math.min(PIECE_LENGTH, length - position);
        return allocator.buffer(PIECE_LENGTH).writeBytes(random).setLong(0, position).writerIndex(pieceLength);
    }

    String sum() {
        MessageDigest digest = newDigest();
        pieces(ByteBufAllocator.DEFAULT).doOnNext(piece -> {
            digest.update(piece.nioBuffer());
            piece.release();
        }).blockLast();
        return HexFormat.of().formatHex(digest.digest());
    }

    static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
