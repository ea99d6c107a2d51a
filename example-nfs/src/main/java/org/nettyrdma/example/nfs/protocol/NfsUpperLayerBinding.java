package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.UpperLayerBinding;

/**
 * The binding of NFS version 3 (RFC 8267, section 3). Eligible for direct placement are the data of READ and WRITE, the
 * target of SYMLINK and the result of READLINK; nothing else.
 *
 * <p>Reply sizes are those of RFC 1813 with every optional part present and an empty RPC verifier, which is what servers send
 * to AUTH_SYS and AUTH_NONE callers. Thread safe.
 */
public final class NfsUpperLayerBinding implements UpperLayerBinding {

    /** An accepted reply from its XID to its status, with an empty verifier (RFC 5531, section 9). */
    private static final int RPC_HEADER_BYTES = 24;
    private static final int STATUS_BYTES = 4;
    private static final int WORD_BYTES = 4;
    private static final int HYPER_BYTES = 8;
    private static final int HANDLE_BYTES = WORD_BYTES + Nfs.MAX_HANDLE_BYTES;
    private static final int ATTRIBUTES_BYTES = WORD_BYTES + Fattr.LENGTH;
    /** {@code wcc_data}: size and two times before, attributes after. */
    private static final int WCC_BYTES = WORD_BYTES + 3 * HYPER_BYTES + ATTRIBUTES_BYTES;
    private static final int CREATED_BYTES = WORD_BYTES + HANDLE_BYTES + ATTRIBUTES_BYTES + WCC_BYTES;
    /** What surrounds the names in the reply of READDIR and READDIRPLUS: attributes, verifier, end of list, end flag. */
    private static final int DIRECTORY_BYTES = ATTRIBUTES_BYTES + HYPER_BYTES + 2 * WORD_BYTES;
    private static final int TIME_SET_BY_CLIENT = 2;

    /** Creates the binding; it has no state, so one serves all connections. */
    public NfsUpperLayerBinding() {
    }

    @Override
    public int program() {
        return Nfs.PROGRAM;
    }

    @Override
    public CallLayout layoutOfCall(int version, int procedure, ByteBuf arguments) {
        NfsProcedure nfsProcedure = NfsProcedure.of(procedure);
        if (version != Nfs.VERSION || nfsProcedure == null) {
            return CallLayout.UNKNOWN;
        }
        return new CallLayout(itemsOfCall(nfsProcedure, arguments), replySpace(nfsProcedure, arguments));
    }

    @Override
    public List<DataItem> itemsOfReply(int version, int procedure, ByteBuf results) {
        if (version != Nfs.VERSION || !hasEligibleResult(procedure) || word(results, 0) != NfsStatus.OK.code()) {
            return List.of();
        }
        int afterAttributes = STATUS_BYTES + optional(results, STATUS_BYTES, Fattr.LENGTH);
        // READ3resok has the count and the end flag before the data, READLINK3resok nothing.
        return item(results, procedure == NfsProcedure.READ.number() ? afterAttributes + 2 * WORD_BYTES : afterAttributes);
    }

    @Override
    public List<DataItem> itemsOfReducedReply(int version, int procedure, ByteBuf results, List<Integer> placedBytes) {
        // The only eligible item is the last one, so its length word stands where it stands in a whole reply.
        return placedBytes.isEmpty() || placedBytes.get(0) == 0 ? List.of() : itemsOfReply(version, procedure, results);
    }

    private static boolean hasEligibleResult(int procedure) {
        return procedure == NfsProcedure.READ.number() || procedure == NfsProcedure.READLINK.number();
    }

    private static List<DataItem> itemsOfCall(NfsProcedure procedure, ByteBuf arguments) {
        return switch (procedure) {
            // WRITE3args: file, offset, count, stable, data.
            case WRITE -> item(arguments, opaque(arguments, 0) + HYPER_BYTES + 2 * WORD_BYTES);
            // SYMLINK3args: directory, name, attributes, path.
            case SYMLINK -> item(arguments, afterSattr(arguments, afterName(arguments)));
            default -> List.of();
        };
    }

    private static int afterName(ByteBuf arguments) {
        int handleBytes = opaque(arguments, 0);
        return handleBytes + opaque(arguments, handleBytes);
    }

    private static int afterSattr(ByteBuf arguments, int start) {
        int offset = start;
        for (int i = 0; i < 3; i++) { // mode, user, group
            offset += optional(arguments, offset, WORD_BYTES);
        }
        offset += optional(arguments, offset, HYPER_BYTES); // size
        for (int i = 0; i < 2; i++) { // access and modification time
            offset += WORD_BYTES + (word(arguments, offset) == TIME_SET_BY_CLIENT ? HYPER_BYTES : 0);
        }
        return offset;
    }

    private static ReplySpace replySpace(NfsProcedure procedure, ByteBuf arguments) {
        return switch (procedure) {
            case NULL -> new ReplySpace(RPC_HEADER_BYTES);
            case GETATTR -> inline(Fattr.LENGTH);
            case SETATTR, REMOVE, RMDIR -> inline(WCC_BYTES);
            case LOOKUP -> inline(HANDLE_BYTES + 2 * ATTRIBUTES_BYTES);
            case ACCESS -> inline(ATTRIBUTES_BYTES + WORD_BYTES);
            case READLINK -> placed(ATTRIBUTES_BYTES + WORD_BYTES, Nfs.MAX_STRING_BYTES);
            case READ -> placed(ATTRIBUTES_BYTES + 3 * WORD_BYTES, count(arguments, opaque(arguments, 0) + HYPER_BYTES));
            case WRITE -> inline(WCC_BYTES + 2 * WORD_BYTES + HYPER_BYTES);
            case CREATE, MKDIR, SYMLINK, MKNOD -> inline(CREATED_BYTES);
            case RENAME -> inline(2 * WCC_BYTES);
            case LINK -> inline(ATTRIBUTES_BYTES + WCC_BYTES);
            // The last argument bounds the names; some servers do not count what surrounds them.
            case READDIR -> inline(DIRECTORY_BYTES + count(arguments, opaque(arguments, 0) + 2 * HYPER_BYTES));
            case READDIRPLUS -> inline(DIRECTORY_BYTES + count(arguments, opaque(arguments, 0) + 2 * HYPER_BYTES + WORD_BYTES));
            case FSSTAT -> inline(ATTRIBUTES_BYTES + 6 * HYPER_BYTES + WORD_BYTES);
            case FSINFO -> inline(ATTRIBUTES_BYTES + 8 * WORD_BYTES + 2 * HYPER_BYTES);
            case PATHCONF -> inline(ATTRIBUTES_BYTES + 6 * WORD_BYTES);
            case COMMIT -> inline(WCC_BYTES + HYPER_BYTES);
        };
    }

    private static ReplySpace inline(int bytesAfterStatus) {
        return new ReplySpace(RPC_HEADER_BYTES + STATUS_BYTES + bytesAfterStatus);
    }

    private static ReplySpace placed(int bytesAfterStatus, int maxItemBytes) {
        return new ReplySpace(RPC_HEADER_BYTES + STATUS_BYTES + bytesAfterStatus, List.of(maxItemBytes));
    }

    /** Reads a count of bytes; one that no server can fill is cut to what this program takes. */
    private static int count(ByteBuf arguments, int offset) {
        return (int) Math.min(Integer.toUnsignedLong(word(arguments, offset)), Nfs.MAX_DATA_BYTES);
    }

    /** Returns the item whose length word is at {@code offset}; none if it is empty, as there is nothing to place then. */
    private static List<DataItem> item(ByteBuf in, int offset) {
        int length = word(in, offset);
        if (length < 0 || length > Nfs.MAX_DATA_BYTES) {
            throw new XdrException("opaque data of " + Integer.toUnsignedString(length) + " bytes, limit " + Nfs.MAX_DATA_BYTES);
        }
        return length == 0 ? List.of() : List.of(new DataItem(offset + WORD_BYTES, length));
    }

    /** Returns how many bytes variable-length opaque data takes with its length word and padding. */
    private static int opaque(ByteBuf in, int offset) {
        int length = word(in, offset);
        if (length < 0 || length > in.readableBytes()) {
            throw new XdrException("handle or name of " + Integer.toUnsignedString(length) + " bytes, there are "
                    + in.readableBytes());
        }
        return WORD_BYTES + Xdr.paddedLength(length);
    }

    /** Returns how many bytes an optional field takes with the word that says whether it is there. */
    private static int optional(ByteBuf in, int offset, int bytes) {
        return word(in, offset) == 0 ? WORD_BYTES : WORD_BYTES + bytes;
    }

    private static int word(ByteBuf in, int offset) {
        if (offset > in.readableBytes() - WORD_BYTES) {
            throw new XdrException("a word is missing at offset " + offset + ", there are " + in.readableBytes() + " bytes");
        }
        return in.getInt(in.readerIndex() + offset);
    }
}
