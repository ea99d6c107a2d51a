package org.nettyrdma;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testing.TypeCircles;

class TypeCirclesTest {

    @Test
    void shouldHaveNoLargeCircles() throws Exception {
        TypeCircles.assertSmall(Path.of(Rdma.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
    }
}
