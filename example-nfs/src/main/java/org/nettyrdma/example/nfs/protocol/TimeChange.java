package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.util.Objects;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/**
 * What to do with a time of a file: {@code set_atime} and {@code set_mtime} (RFC 1813, section 2.6).
 *
 * @param how  whose time to set, if any
 * @param time the time for {@link How#SET_TO_CLIENT_TIME}, else {@code null}
 */
public record TimeChange(How how, NfsTime time) implements WireForm {

    /** Whose time to set: {@code time_how}. */
    public enum How {
        /** Leaves the time as it is. */
        DONT_CHANGE(0),
        /** Takes the clock of the server. */
        SET_TO_SERVER_TIME(1),
        /** Takes the time that follows. */
        SET_TO_CLIENT_TIME(2);

        private final int code;

        How(int code) {
            this.code = code;
        }

        /**
         * The code on the wire.
         *
         * @return 0 to 2
         */
        public int code() {
            return code;
        }
    }

    /** Leaves the time as it is. */
    public static final TimeChange NONE = new TimeChange(How.DONT_CHANGE, null);

    /** Takes the clock of the server. */
    public static final TimeChange SERVER_TIME = new TimeChange(How.SET_TO_SERVER_TIME, null);

    /**
     * Checks that there is a time exactly where one belongs.
     *
     * @param how  whose time to set
     * @param time the time
     * @throws IllegalArgumentException if a time is missing or too many
     */
    public TimeChange {
        Objects.requireNonNull(how, "how");
        if ((how == How.SET_TO_CLIENT_TIME) != (time != null)) {
            throw new IllegalArgumentException("time: " + time + " (expected only for SET_TO_CLIENT_TIME, how: " + how + ')');
        }
    }

    /**
     * Sets a given time.
     *
     * @param time the time to set
     * @return the change
     */
    public static TimeChange to(NfsTime time) {
        return new TimeChange(How.SET_TO_CLIENT_TIME, time);
    }

    /**
     * Whether there is anything to do.
     *
     * @return {@code true} unless the time stays as it is
     */
    public boolean isSet() {
        return how != How.DONT_CHANGE;
    }

    /**
     * Reads a change.
     *
     * @param in the message
     * @return the change
     */
    public static TimeChange read(ByteBuf in) {
        int code = Xdr.readInt(in, "time_how");
        return switch (code) {
            case 0 -> NONE;
            case 1 -> SERVER_TIME;
            case 2 -> to(NfsTime.read(in));
            default -> throw new XdrException("time_how: " + code + " (expected: 0..2)");
        };
    }

    @Override
    public void write(ByteBuf out) {
        out.writeInt(how.code());
        if (time != null) {
            time.write(out);
        }
    }
}
