package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.shared.ItemReduction;

/**
 * Which data of an RPC program may travel in chunks, and how large its replies can get (RFC 8166, section 6). With a binding,
 * handlers that write plain {@link ByteBuf}s get direct data placement, too. A program without a binding works. Data that its
 * messages do not name then goes inline or in a long message.
 *
 * <p>The methods are called for every message that has or may have chunks. Several event loops may call them at once. They must
 * not change the indices of the buffer that they get. At the receiver the content of that buffer comes from the peer. A method
 * that cannot parse it may throw any {@link RuntimeException}.
 *
 * <p>A binding also detects violations (RFC 8166, section 6.1). Each Read chunk of a call has to hold one eligible argument, and
 * as many bytes as the argument's length word says. A responder answers any other call with GARBAGE_ARGS, the equivalent of bad
 * XDR, and the program does not see it. A requester fails a call whose reply has placed data where the binding finds no eligible
 * result of that length. In both cases the connection lives.
 */
public interface UpperLayerBinding {

    /**
     * The program that this is the binding of, in all its versions.
     *
     * @return its RPC program number
     */
    int program();

    /**
     * Describes a call that is about to be sent, or one with Read chunks that was received and put together.
     *
     * @param version   version of the program
     * @param procedure its procedure
     * @param arguments the call from its first argument byte on; neither its content nor its indices may be changed
     * @return what is known, {@link CallLayout#UNKNOWN} if nothing is
     */
    CallLayout layoutOfCall(int version, int procedure, ByteBuf arguments);

    /**
     * Finds the DDP-eligible results in a whole reply that is about to be sent.
     *
     * @param version   version of the program
     * @param procedure its procedure
     * @param results   the reply from its first result byte on; only replies with status SUCCESS are given. Neither its
     *                  content nor its indices may be changed
     * @return the items in ascending order; positions count from the first byte of the results
     */
    List<DataItem> itemsOfReply(int version, int procedure, ByteBuf results);

    /**
     * Finds the positions in a received reply where directly placed data belongs. For such an item {@code results} has the length
     * word, but neither the content nor the padding. Items that were not placed are complete in {@code results}.
     *
     * <p>The default is right for programs whose last result is their only eligible one, such as NFS version 3: the data
     * belongs at the end.
     *
     * @param version     version of the program
     * @param procedure   its procedure
     * @param results     the inline part of the reply from its first result byte on; only replies with status SUCCESS are
     *                    given. Neither its content nor its indices may be changed
     * @param placedBytes for each Write chunk that the call offered, in order, how many bytes were placed in it, padding
     *                    perhaps included; 0 if the item in question is inline or absent
     * @return for each number above 0, in order, where the item's content is missing, with the length that its length word
     *         tells; positions count from the first byte of {@code results}, absent bytes not counted
     */
    default List<DataItem> itemsOfReducedReply(int version, int procedure, ByteBuf results, List<Integer> placedBytes) {
        return ItemReduction.lastItem(results, 0);
    }
}
