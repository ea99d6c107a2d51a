package org.nettyrdma.codec.oncrpc;

import java.util.List;

/** The programs that a server exports. Immutable. */
final class ProgramTable {

    /** A server exports a handful of programs, so a scan beats a map. */
    private final RpcProgram[] programs;

    ProgramTable(List<RpcProgram> programs) {
        this.programs = programs.toArray(RpcProgram[]::new);
        for (int i = 0; i < this.programs.length; i++) {
            requireProperRange(this.programs[i]);
            for (int j = 0; j < i; j++) {
                requireDisjoint(this.programs[i], this.programs[j]);
            }
        }
    }

    private static void requireProperRange(RpcProgram program) {
        if (Integer.compareUnsigned(program.lowestVersion(), program.highestVersion()) > 0) {
            throw new IllegalArgumentException("program " + name(program) + " has no version");
        }
    }

    private static void requireDisjoint(RpcProgram one, RpcProgram other) {
        if (one.program() == other.program()
                && (range(one).contains(other.lowestVersion()) || range(other).contains(one.lowestVersion()))) {
            throw new IllegalArgumentException("two programs " + name(one) + " and " + name(other));
        }
    }

    private static String name(RpcProgram program) {
        return Integer.toUnsignedString(program.program()) + " versions " + range(program);
    }

    private static VersionRange range(RpcProgram program) {
        return new VersionRange(program.lowestVersion(), program.highestVersion());
    }

    /** Returns the program in that version, or {@code null}. */
    RpcProgram find(int program, int version) {
        for (RpcProgram candidate : programs) {
            if (candidate.program() == program && Integer.compareUnsigned(version, candidate.lowestVersion()) >= 0
                    && Integer.compareUnsigned(version, candidate.highestVersion()) <= 0) {
                return candidate;
            }
        }
        return null;
    }

    /** Returns the lowest and the highest version of a program, or {@code null} if there is no such program. */
    VersionRange versionsOf(int program) {
        VersionRange all = null;
        for (RpcProgram candidate : programs) {
            if (candidate.program() == program) {
                all = all == null ? range(candidate) : new VersionRange(
                        unsignedMin(all.lowest(), candidate.lowestVersion()),
                        -1 - unsignedMin(-1 - all.highest(), -1 - candidate.highestVersion()));
            }
        }
        return all;
    }

    private static int unsignedMin(int a, int b) {
        return Integer.compareUnsigned(a, b) < 0 ? a : b;
    }
}
