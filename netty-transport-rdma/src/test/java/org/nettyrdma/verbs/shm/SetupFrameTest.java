package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class SetupFrameTest {

    /** It becomes the message of an exception, which a program writes to its log or its terminal. */
    @Test
    void shouldMakeTheTextOfAPeerPrintable() throws IOException {
        SetupFrame sent = SetupFrame.rejection("no\n2026 INFO all is well\u001b[2J", new byte[0]);
        assertEquals("no\\u000a2026 INFO all is well\\u001b[2J", SetupFrame.decode(sent.encode()).text());
    }
}
