# The native half of the provider with AddressSanitizer and UndefinedBehaviorSanitizer: the contract of the verbs, what the native library does on a
# device, and every native method with arguments that are stale, null or random.
peer="rxe, in the guest"

scenario() {
    tolerate 'speed is unknown, defaulting to' # rxe, of the virtual network card
    tolerate 'rxe_invalidate_mr: ' # the contract withdraws keys that do not exist
    tolerate 'rxe_mr_init_user: Unable to pin memory region' # the fuzz test registers memory that is not there
    local library=$state/sanitized tests=org.nettyrdma.verbs test_runner=run_tests_with_sanitizers
    make -s -C "$product/$provider/src/main/c" SANITIZE=1 "OUT=$library" >"$log/make.log" 2>&1
    cp "$product/$provider/src/main/c/leaks-of-java.txt" "$library"
    # DiSNI's own Java half, which the tests of the native library use and the provider does not, needs a package that Java keeps closed.
    test_provider 400 rxe tests "$(in_guest "$library")" --add-exports=java.base/sun.nio.ch=ALL-UNNAMED $no_short_memory \
        $tests.DisniVerbsContractTest $tests.disni.NativeVerbsTest $tests.disni.NativeFuzzTest
    ! grep -qE 'Sanitizer|runtime error' "$log/tests.log" || { say "the sanitizers complain:"; grep -E -A 20 'Sanitizer|runtime error' "$log/tests.log" >&2; return 1; }
    checked "AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer say nothing"
    guest 60 use_device siw
}
