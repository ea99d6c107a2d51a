package org.nettyrdma.codec.oncrpc;

/** A program whose procedures are given by the test. */
final class TestProgram implements RpcProgram {

    /** What a call does. */
    @FunctionalInterface
    interface Procedure {
        void call(RpcCall call) throws Exception;
    }

    private final int program;
    private final VersionRange versions;
    private final Procedure procedure;

    TestProgram(int program, int lowestVersion, int highestVersion, Procedure procedure) {
        this.program = program;
        this.versions = new VersionRange(lowestVersion, highestVersion);
        this.procedure = procedure;
    }

    /** Program 200000 version 1, all of whose procedures return their arguments. */
    static TestProgram echo() {
        return new TestProgram(200000, 1, 1, call -> call.reply(call.arguments().retainedSlice()));
    }

    @Override
    public int program() {
        return program;
    }

    @Override
    public int lowestVersion() {
        return versions.lowest();
    }

    @Override
    public int highestVersion() {
        return versions.highest();
    }

    @Override
    public void call(RpcCall call) throws Exception {
        procedure.call(call);
    }
}
