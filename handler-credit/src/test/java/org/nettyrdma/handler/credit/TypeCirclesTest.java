package org.nettyrdma.handler.credit;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testing.TypeCircles;

class TypeCirclesTest {

    @Test
    void shouldHaveNoLargeCircles() throws Exception {
        TypeCircles.assertSmall(Path.of(CreditGate.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
    }
}
