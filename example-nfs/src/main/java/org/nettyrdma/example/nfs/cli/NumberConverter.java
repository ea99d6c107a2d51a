package org.nettyrdma.example.nfs.cli;

import org.nettyrdma.example.nfs.Transport;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Takes numbers of a range; the message about others names it. */
abstract class NumberConverter implements ITypeConverter<Integer> {

    private final long min;
    private final long max;

    private NumberConverter(long min, long max) {
        this.min = min;
        this.max = max;
    }

    @Override
    public final Integer convert(String value) {
        try {
            long number = Long.parseLong(value);
            if (number >= min && number <= max) {
                return (int) number;
            }
        } catch (NumberFormatException e) {
            // The same message.
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
