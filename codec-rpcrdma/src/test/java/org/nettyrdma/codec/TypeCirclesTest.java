package org.nettyrdma.codec;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.testing.TypeCircles;

class TypeCirclesTest {

    @Test
    void shouldHaveNoLargeCircles() throws Exception {
        TypeCircles.assertSmall(Path.of(RpcRdma.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
    }
}
