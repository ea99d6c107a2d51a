# The provider for RDMA hardware: built on the host, run in the guest, which has the devices.

provider=netty-transport-rdma
provider_classpath=
native_library=

# Compiles the transport with its tests and its native half, and sets provider_classpath and native_library as the guest sees them.
build_provider() {
    install_packages libibverbs-dev librdmacm-dev perftest
    # example-nfs is built by now; this adds the native library and the libraries of the tests.
    mvn -q -B -Dstyle.color=never -f "$product/pom.xml" -Pnative -pl $provider -am -DskipTests \
        test-compile dependency:build-classpath "-Dmdep.outputFile=$state/provider.libraries" -Dmdep.includeScope=test \
        >"$state/build-provider.log" 2>&1 || die "the provider does not build: $(tail -5 "$state/build-provider.log")"
    provider_classpath=$(in_guest "$product/$provider/target/test-classes:$product/$provider/target/classes:$(<"$state/provider.libraries")")
    native_library=$(in_guest "$product/$provider/target/native")
    # The library of the example has no DiSNI: a user adds it.
    nfs_classpath=$(in_guest "$product/example-nfs/target/classes:$product/example-nfs/target/lib/*:$(tr ':' '\n' <"$state/provider.libraries" | grep /disni-)")
}

# The host's paths as the guest sees them, also those below /tmp: in_guest PATH[:PATH...]
in_guest() {
    sed 's|^|/run/host|; s|:|:/run/host|g' <<<"$1"
}

# Runs test classes on a device of the guest and sets `tests` to their counts: test_provider SECONDS siw|rxe LOG CLASS...
test_provider() {
    local limit=$1 device=$2 file=$log/$3.log
    guest 20 use_device "$device"
    start_job run_tests "$provider_classpath" "$native_library" "${@:4}"
    local status=0
    await_job "$job" "$limit" || status=$?
    cp "$(job_file output)" "$file"
    tests=$(tail -1 "$file")
    [[ $status -eq 0 ]] || { say "tests on $device ended with status $status:"; grep -E '^FAILED|LEAK' "$file" >&2; return 1; }
    ! grep -q 'LEAK' "$file" || { say "a leak on $device:"; grep -A 20 LEAK "$file" >&2; return 1; }
}
