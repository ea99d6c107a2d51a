package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;

/**
 * Keeps the memory below a buffer where it is, while others than the buffer's owner use it and hold a reference on the buffer.
 * That reference alone is not enough in two cases. A registered buffer moves when it grows, which must not happen while somebody
 * writes into it. And a composite may let go of a component, on which this holds a reference, too.
 */
final class Pin {

    private final RegisteredByteBuf buffer;
    /** What the reference is on, so that leak detection hears of its release; {@code null} if there is none. */
    private final ByteBuf component;
    private final boolean isWritten;
    private final Pin next;

    private Pin(RegisteredByteBuf buffer, ByteBuf component, boolean isWritten, Pin next) {
        this.buffer = buffer;
        this.component = component;
        this.isWritten = isWritten;
        this.next = next;
        if (component != null) {
            component.retain();
        }
        if (isWritten) {
            buffer.fix();
        }
    }

    /**
     * Keeps the memory of a buffer, on which the caller has a reference.
     *
     * @param isWritten whether others write into the memory
     * @return what to release before the reference; {@code null} if that is enough
     */
    static Pin of(ByteBuf buffer, boolean isWritten) {
        return add(buffer, false, isWritten, null);
    }

    private static Pin add(ByteBuf buffer, boolean isComponent, boolean isWritten, Pin next) {
        ByteBuf root = buffer;
        while (!(root instanceof CompositeByteBuf || root instanceof RegisteredByteBuf) && root.unwrap() != null) {
            root = root.unwrap();
        }
        if (root instanceof RegisteredByteBuf registered) {
            return isComponent || isWritten ? new Pin(registered, isComponent ? buffer : null, isWritten, next) : next;
        }
        Pin first = next;
        if (root instanceof CompositeByteBuf composite) {
            for (int i = 0; i < composite.numComponents(); i++) {
                first = add(composite.internalComponent(i), true, isWritten, first);
            }
        }
        return first;
    }

    /** Lets go of all that a pin keeps, if anything. */
    static void release(Pin first) {
        for (Pin pin = first; pin != null; pin = pin.next) {
            if (pin.isWritten) {
                pin.buffer.unfix();
            }
            if (pin.component != null) {
                pin.component.release();
            }
        }
    }
}
