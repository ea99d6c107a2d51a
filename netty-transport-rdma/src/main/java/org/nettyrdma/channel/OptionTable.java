package org.nettyrdma.channel;

import io.netty.channel.ChannelOption;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The options that a kind of channel adds to those of every Netty channel, and how its config gets and sets each. Does not change
 * once it is made.
 */
final class OptionTable<C> {

    private final Map<ChannelOption<?>, Accessors<C, ?>> accessors = new HashMap<>();

    private record Accessors<C, T>(Function<C, T> getter, BiConsumer<C, T> setter) {
    }

    <T> OptionTable<C> with(ChannelOption<T> option, Function<C, T> getter, BiConsumer<C, T> setter) {
        accessors.put(option, new Accessors<>(getter, setter));
        return this;
    }

    ChannelOption<?>[] options() {
        return accessors.keySet().toArray(ChannelOption[]::new);
    }

    /** Returns {@code null} if it is none of these options; no value is {@code null}. */
    <T> T get(C config, ChannelOption<T> option) {
        Accessors<C, T> found = accessors(option);
        return found == null ? null : found.getter.apply(config);
    }

    /** Returns {@code false} if it is none of these options. */
    <T> boolean set(C config, ChannelOption<T> option, T value) {
        Accessors<C, T> found = accessors(option);
        if (found == null) {
            return false;
        }
        found.setter.accept(config, value);
        return true;
    }

    @SuppressWarnings("unchecked") // only with() puts them in
    private <T> Accessors<C, T> accessors(ChannelOption<T> option) {
        return (Accessors<C, T>) accessors.get(option);
    }
}
