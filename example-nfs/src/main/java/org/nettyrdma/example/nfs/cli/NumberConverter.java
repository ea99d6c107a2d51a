package org.nettyrdma.example.nfs.cli;

import java.util.regex.Pattern;
import org.nettyrdma.example.nfs.Transport;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Takes numbers from 0 on, of a range, in digits of ASCII; the message about others names it. */
abstract class NumberConverter implements ITypeConverter<Integer> {

    /** Java takes signs and the digits of other scripts, too. So many fit into a {@code long}. */
    private static final Pattern DIGITS = Pattern.compile("[0-9]{1,18}");

    private final long min;
    private final long max;

    private NumberConverter(long min, long max) {
        this.min = min;
        this.max = max;
    }

    @Override
    public final Integer convert(String value) {
        long number = DIGITS.matcher(value).matches() ? Long.parseLong(value) : -1;
        if (number >= min && number <= max) {
            return (int) number;
        }
        throw new TypeConversionException("'" + value + "' is not a number from " + min + " to " + max);
    }

    static final class Port extends NumberConverter {
        Port() {
            super(1, 65535);
        }
    }

    static final class PortOrAny extends NumberConverter {
        PortOrAny() {
            super(0, 65535);
        }
    }

    /** The highest number means "no change" to Unix and is nobody's. */
    static final class UserOrGroup extends NumberConverter {
        UserOrGroup() {
            super(0, 0xFFFF_FFFEL);
        }
    }

    static final class Seconds extends NumberConverter {
        Seconds() {
            super(1, 86_400);
        }
    }

    static final class Credits extends NumberConverter {
        Credits() {
            super(1, 1024);
        }
    }

    static final class OutstandingCalls extends NumberConverter {
        OutstandingCalls() {
            super(1, 1024);
        }
    }

    static final class FilesAtOnce extends NumberConverter {
        FilesAtOnce() {
            super(1, 256);
        }
    }

    static final class TransferBytes extends NumberConverter {
        TransferBytes() {
            super(1, Transport.MAX_DATA_BYTES);
        }
    }

    static final class Threads extends NumberConverter {
        Threads() {
            super(1, 1024);
        }
    }

    static final class Connections extends NumberConverter {
        Connections() {
            super(1, 1_000_000);
        }
    }

    static final class SecondsOrNever extends NumberConverter {
        SecondsOrNever() {
            super(0, 1_000_000);
        }
    }

    static final class Repetitions extends NumberConverter {
        Repetitions() {
            super(1, Integer.MAX_VALUE);
        }
    }
}
