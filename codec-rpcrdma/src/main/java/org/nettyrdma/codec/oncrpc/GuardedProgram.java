package org.nettyrdma.codec.oncrpc;

/** A program behind a {@link DuplicateRequestCache}. */
final class GuardedProgram implements RpcProgram {

    private final DuplicateRequestCache cache;
    private final RpcProgram program;

    GuardedProgram(DuplicateRequestCache cache, RpcProgram program) {
        this.cache = cache;
        this.program = program;
    }

    @Override
    public int program() {
        return program.program();
    }

    @Override
    public int lowestVersion() {
        return program.lowestVersion();
    }

    @Override
    public int highestVersion() {
        return program.highestVersion();
    }

    @Override
    public AuthStatus authenticate(RpcCallHeader header) {
        return program.authenticate(header);
    }

    @Override
    public int maxResultBytes(RpcCall call) {
        return program.maxResultBytes(call);
    }

    @Override
    public boolean isIdempotent(int version, int procedure) {
        return program.isIdempotent(version, procedure);
    }

    @Override
    public Object clientOf(RpcCall call) {
        return program.clientOf(call);
    }

    @Override
    public void call(RpcCall call) throws Exception {
        if (program.isIdempotent(call.version(), call.procedure())) {
            program.call(call);
        } else {
            cache.serve(program, call);
        }
    }
}
