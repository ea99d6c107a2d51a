package org.nettyrdma.example.nfs.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.UpperLayerBinding;
import org.nettyrdma.testing.CountingAllocator;

/**
 * Any bytes as arguments and results of NFS and MOUNT: the first byte of an input chooses the type, the others are read as one.
 * They are refused with {@link XdrException} or read, and what was read is written to bytes that read the same. The bindings see
 * the same bytes as every call and every reply.
 */
class NfsArgumentsFuzzTest {

    private record Form<T>(Function<ByteBuf, T> reader, BiConsumer<T, ByteBuf> writer) {

        void readAndWrite(ByteBuf in, ByteBuf out) {
            T value;
            try {
                value = reader.apply(in);
            } catch (XdrException e) {
                return;
            }
            writer.accept(value, out);
            assertEquals(value, reader.apply(out));
            assertEquals(0, out.readableBytes());
        }
    }

    private static final List<Form<?>> FORMS = List.of(
            new Form<>(FileHandle::read, FileHandle::write),
            new Form<>(DirectoryOperationArguments::read, DirectoryOperationArguments::write),
            new Form<>(SetAttributesArguments::read, SetAttributesArguments::write),
            new Form<>(AccessArguments::read, AccessArguments::write),
            new Form<>(ReadArguments::read, ReadArguments::write),
            new Form<>(CreateArguments::read, CreateArguments::write),
            new Form<>(MakeDirectoryArguments::read, MakeDirectoryArguments::write),
            new Form<>(SymbolicLinkArguments::read, SymbolicLinkArguments::write),
            new Form<>(MakeNodeArguments::read, MakeNodeArguments::write),
            new Form<>(RenameArguments::read, RenameArguments::write),
            new Form<>(LinkArguments::read, LinkArguments::write),
            new Form<>(ReadDirectoryArguments::read, ReadDirectoryArguments::write),
            new Form<>(ReadDirectoryPlusArguments::read, ReadDirectoryPlusArguments::write),
            new Form<>(CommitArguments::read, CommitArguments::write),
            new Form<>(WriteArguments::read, WriteArguments::write),
            new Form<>(Fattr::read, Fattr::write),
            new Form<>(WccData::read, WccData::write),
            new Form<>(FileSystemStatus::read, FileSystemStatus::write),
            new Form<>(FileSystemInfo::read, FileSystemInfo::write),
            new Form<>(PathConfiguration::read, PathConfiguration::write),
            new Form<>(MountResult::read, MountResult::write),
            new Form<>(MountEntry::readList, MountEntry::writeList),
            new Form<>(ExportEntry::readList, ExportEntry::writeList));

    private static final List<UpperLayerBinding> BINDINGS = List.of(new NfsUpperLayerBinding(), new MountUpperLayerBinding());
    private static final int VERSION = 3;
    /** One more than there are in either program. */
    private static final int PROCEDURES = 23;

    private final CountingAllocator memory = new CountingAllocator();

    @FuzzTest(maxDuration = "2s")
    void shouldReadOrRefuse(byte[] input) {
        if (input.length == 0) {
            return;
        }
        ByteBuf in = memory.allocator().buffer(input.length).writeBytes(input, 1, input.length - 1);
        ByteBuf out = memory.allocator().buffer();
        try {
            int kind = input[0] & 0xff;
            askBindings(kind % PROCEDURES, in);
            FORMS.get(kind % FORMS.size()).readAndWrite(in, out);
        } finally {
            in.release();
            out.release();
        }
        memory.requireNothingLeft();
    }

    private static void askBindings(int procedure, ByteBuf message) {
        for (UpperLayerBinding binding : BINDINGS) {
            int start = message.readerIndex();
            try {
                binding.layoutOfCall(VERSION, procedure, message);
                binding.itemsOfReply(VERSION, procedure, message);
                binding.itemsOfReducedReply(VERSION, procedure, message, List.of(4));
            } catch (XdrException e) {
                // a message that is not what the procedure takes or gives
            }
            assertEquals(start, message.readerIndex());
        }
    }
}
