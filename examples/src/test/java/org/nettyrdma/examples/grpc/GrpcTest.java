package org.nettyrdma.examples.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.examples.Output;

/** The service answers over RDMA, also with an error, which is a status of gRPC at the client. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GrpcTest {

    @Test
    void shouldGreet() throws Exception {
        assertEquals(List.of("Hello, Jürgen"), Output.of(Grpc::main, "Jürgen"));
    }

    @Test
    void shouldGreetWhoHasANameOfManyFrames() throws Exception {
        String name = "0123456789".repeat(100_000);

        assertEquals(List.of("Hello, " + name), Output.of(Grpc::main, name));
    }

    @Test
    void shouldTellTheClientWhatTheServiceRefuses() {
        StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, () -> Output.of(Grpc::main, " "));

        assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
        assertEquals("nobody to greet", refused.getStatus().getDescription());
    }
}
