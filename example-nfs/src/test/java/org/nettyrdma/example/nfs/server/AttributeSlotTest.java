package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.WccData;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class AttributeSlotTest extends NfsTest {

    AttributeSlotTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    /** What others change when a call that failed has given its lock back is not what this call has changed. */
    @Test
    void shouldTellOfAFailedCallWhatWasThereWithItsLock() throws IOException {
        FileTree tree = newTree();
        WriteVerifier verifier = new WriteVerifier();
        try (OpenFiles openFiles = new OpenFiles(tree, verifier, 4, 1000)) {
            ProcedureTable procedures = new ProcedureTable(tree, export(), openFiles, options(), verifier);
            ByteBuf arguments = Unpooled.buffer();
            new DirectoryOperationArguments(tree.root().node().handle(), "missing").write(arguments);
            NfsCall call = new NfsCall(tree, new Credentials(USER, USER, List.of()), arguments, arguments.alloc());
            assertThrows(NfsException.class, () -> procedures.get(NfsProcedure.REMOVE).code().call(call));
            Files.setLastModifiedTime(root, new NfsTime(1000, 0).toFileTime());
            call.fail(NfsStatus.NOENT);
            ByteBuf results = call.results();
            assertEquals(NfsStatus.NOENT, NfsStatus.of(results.readInt()));
            WccData changes = WccData.read(results);
            call.release();
            assertEquals(changes.before().modifyTime(), changes.after().modifyTime());
        }
    }
}
