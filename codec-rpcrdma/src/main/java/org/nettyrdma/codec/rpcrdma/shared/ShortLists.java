package org.nettyrdma.codec.rpcrdma.shared;

import java.util.ArrayList;
import java.util.List;

/** Lists of chunks, segments and items, nearly all of which have one element: such a list is an object of two words. */
public final class ShortLists {

    private ShortLists() {
    }

    /**
     * Appends to a list that was made here, or is {@code List.of()}.
     *
     * @return the list to go on with, of which nothing but the elements is promised
     */
    public static <T> List<T> append(List<T> list, T element) {
        if (list.isEmpty()) {
            return List.of(element);
        }
        List<T> longer = list.size() == 1 ? new ArrayList<>(list) : list;
        longer.add(element);
        return longer;
    }
}
