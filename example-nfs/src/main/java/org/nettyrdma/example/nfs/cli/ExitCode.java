package org.nettyrdma.example.nfs.cli;

/** What the process returns to its caller; documented by {@code nfs --help}. */
final class ExitCode {

    static final int OK = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;
    static final int UNREACHABLE = 3;

    private ExitCode() {
    }
}
