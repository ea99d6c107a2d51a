# The provider for RDMA hardware: built on the host, run in the guest, which has the devices.

provider=netty-transport-rdma
provider_classpath=
nfs_classpath=
native_library= # a folder for the library path, empty for the library in the jar

# Builds the transport with its tests and the jar of its native half, and sets provider_classpath and nfs_classpath as the guest sees them.
build_provider() {
    install_packages libibverbs-dev librdmacm-dev perftest gcc-aarch64-linux-gnu libc6-dev-arm64-cross # the last two for .ci/cross
    # example-nfs is built by now; this adds the native library and the libraries of the tests.
    mvn -q -B -Dstyle.color=never -f "$product/pom.xml" -Pnative -pl $provider -am -DskipTests \
        package dependency:build-classpath "-Dmdep.outputFile=$state/provider.libraries" -Dmdep.includeScope=test \
        >"$state/build-provider.log" 2>&1 || die "the provider does not build: $(tail -5 "$state/build-provider.log")"
    local version native
    version=$(sed -n 's|.*<version>\(.*\)</version>.*|\1|p' "$product/pom.xml" | head -1)
    native=$product/$provider/target/$provider-$version-linux-x86_64.jar
    provider_classpath=$(in_guest "$product/$provider/target/test-classes:$product/$provider/target/classes:$native:$(<"$state/provider.libraries")")
    # The example has neither DiSNI nor the native jar: a user adds both.
    nfs_classpath=$(in_guest "$product/example-nfs/target/classes:$product/example-nfs/target/lib/*:$native:$(tr ':' '\n' <"$state/provider.libraries" | grep /disni-)")
}

# Builds the native library without what upstream's own lacks, and sets upstream_library as the guest sees it.
build_upstream_library() {
    make -s -C "$product/$provider/src/main/c" UPSTREAM=1 "OUT=$state/upstream" >"$log/make.log" 2>&1
    upstream_library=$(in_guest "$state/upstream")
}

# The host's paths as the guest sees them, also those below /tmp: in_guest PATH[:PATH...]
in_guest() {
    sed 's|^|/run/host|; s|:|:/run/host|g' <<<"$1"
}

# Runs test classes in one Java on a device of the guest: test_provider SECONDS siw|rxe LOG [LIBRARY_PATH] [OPTION_OF_JAVA...] CLASS...
# test_runner names another function of the guest than run_tests.
test_provider() {
    local limit=$1 device=$2 file=$log/$3.log library=$native_library status=0
    shift 3
    if [[ $1 == /* ]]; then
        library=$1
        shift
    fi
    guest 60 use_device "$device"
    start_job "${test_runner:-run_tests}" "$provider_classpath" "$library" "$@"
    await_job "$job" "$limit" || status=$?
    cp "$(job_file output)" "$file"
    [[ $status -eq 0 ]] || { say "tests on $device ended with status $status:"; grep -E "^FAILED|LEAK" "$file" >&2 || true; return 1; }
    ! grep -q 'LEAK' "$file" || { say "a leak on $device:"; grep -A 20 LEAK "$file" >&2; return 1; }
    checked "$(sed -n 's/.* - RDMA device //p' "$file" | head -1)"
    checked "$device: $(grep -E '^[A-Za-z0-9]+: [0-9]+ passed' "$file" | paste -sd ';' | sed 's/;/; /g')"
}
