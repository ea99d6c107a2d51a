package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import org.nettyrdma.testing.CountingAllocator;

/**
 * Any bytes as a call, a reply and an AUTH_SYS credential. They are refused with the exception that is documented or read;
 * what was read is written again to bytes that read the same.
 */
class RpcHeaderFuzzTest {

    private final CountingAllocator memory = new CountingAllocator();

    @FuzzTest(maxDuration = "2s")
    void shouldReadOrRefuse(byte[] wire) {
        ByteBuf in = memory.allocator().buffer(Math.max(1, wire.length));
        ByteBuf out = memory.allocator().buffer();
        try {
            readCall(in.clear().writeBytes(wire), out.clear());
            readReply(in.clear().writeBytes(wire), out.clear());
            readCredential(wire);
        } finally {
            in.release();
            out.release();
        }
        memory.requireNothingLeft();
    }

    private static void readCall(ByteBuf in, ByteBuf out) {
        RpcCallHeader call;
        try {
            call = RpcCallHeader.read(in);
        } catch (RpcCallHeaderException e) {
            if (e.answer() != null) {
                e.answer().write(out);
                assertEquals(e.answer(), RpcReplyHeader.read(out));
            }
            return;
        }
        call.write(out);
        assertEquals(call.encodedLength(), out.readableBytes());
        assertEquals(call, RpcCallHeader.read(out));
        assertEquals(0, out.readableBytes());
        if (call.credential().flavor() == AuthFlavor.AUTH_SYS.code()) {
            readAuthSys(call.credential());
        }
    }

    private static void readReply(ByteBuf in, ByteBuf out) {
        RpcReplyHeader reply;
        try {
            reply = RpcReplyHeader.read(in);
        } catch (XdrException e) {
            return;
        }
        reply.write(out);
        assertEquals(reply, RpcReplyHeader.read(out));
        assertEquals(0, out.readableBytes());
    }

    private static void readCredential(byte[] wire) {
        if (wire.length <= OpaqueAuth.MAX_BODY_BYTES) {
            readAuthSys(new OpaqueAuth(AuthFlavor.AUTH_SYS.code(), wire));
        }
    }

    private static void readAuthSys(OpaqueAuth credential) {
        AuthSys user;
        try {
            user = AuthSys.from(credential);
        } catch (XdrException e) {
            return;
        }
        OpaqueAuth again = user.toOpaqueAuth();
        assertEquals(credential.bodyLength(), again.bodyLength());
        assertEquals(user, AuthSys.from(again));
    }
}
