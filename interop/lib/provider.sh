# The provider for RDMA hardware: built on the host, run in the guest, which has the devices.

provider=netty-transport-rdma
provider_classpath= # on the host
provider_java=      # what the guest's Java gets for it, and for the example
nfs_java=
# disni-siw uses up the memory of a JVM in the contract of the verbs. No device takes part in it, so it is the same on all of them.
no_short_memory=-Dnettyrdma.shortMemory=false
native_library= # a folder for the library path, empty for the library in the jar

# Builds the transport with its tests and the jar of its native half, and sets provider_classpath, provider_java and nfs_java.
build_provider() {
    install_packages libibverbs-dev librdmacm-dev perftest gcc-aarch64-linux-gnu libc6-dev-arm64-cross # the last two for .ci/cross
    # example-nfs is built by now; this adds the native library and the libraries of the tests.
    mvn -q -B -Dstyle.color=never -f "$product/pom.xml" -Pnative -pl $provider -am -DskipTests \
        package dependency:build-classpath "-Dmdep.outputFile=$state/provider.libraries" -Dmdep.includeScope=test \
        >"$state/build-provider.log" 2>&1 || die "the provider does not build: $(tail -5 "$state/build-provider.log")"
    local version jar
    version=$(sed -n 's|.*<version>\(.*\)</version>.*|\1|p' "$product/pom.xml" | head -1)
    jar=$product/$provider/target/$provider-$version
    provider_classpath=$jar-tests.jar:$jar.jar:$jar-linux-x86_64.jar:$(<"$state/provider.libraries")
    java_for_guest provider "$provider_classpath" org.nettyrdma.testing.TestRun \
        org.nettyrdma.verbs.IwarpVerbsContractTest org.nettyrdma.channel.IwarpTransportTest
    provider_java=@$(in_guest "$state/provider.java")
    # The example has neither DiSNI nor the native jar: a user adds both.
    local classpath
    classpath=$(printf '%s:' "$product"/example-nfs/target/lib/*)$jar-linux-x86_64.jar:$(
        tr ':' '\n' <"$state/provider.libraries" | grep /disni-)
    javac -d "$state/commands" -cp "$classpath" "$interop/lib/Commands.java"
    jar cf "$state/commands.jar" -C "$state/commands" .
    java_for_guest nfs "$classpath:$state/commands.jar" Commands -- demo --provider iwarp </dev/null
    nfs_java=@$(in_guest "$state/nfs.java")
}

# Writes an argument file for the guest's Java, with a class path of jars: java_for_guest NAME CLASS_PATH CLASS [ARGUMENT...]
# CLASS runs once on the host, and the classes that it needed become an archive: an emulated Java would spend more than half of its start on reading and
# verifying them. So do those that only a device needs, which is in the guest. An archive made while CLASS runs would leave out what is written for Java 5, as
# picocli is. An archive holds for jars of the same names only, and what is below /tmp or /run has another name in the guest.
java_for_guest() {
    local file=$state/$1 classpath=$2 jar
    printf -- '-cp\n%s\n' "$(in_guest "$classpath")" >"$file.java"
    [[ :$classpath != *:/tmp/* && :$classpath != *:/run/* ]] || return 0
    java -Xshare:off "-XX:DumpLoadedClassList=$file.classes" -cp "$classpath" "${@:3}" >"$file.log" 2>&1 || die "$3 fails: $(tail -5 "$file.log")"
    for jar in $(tr ':' '\n' <<<"$classpath" | grep -E "/(disni|$provider)-[^/]*\.jar$"); do
        jar tf "$jar" | sed -n '/[Dd]isni.*\.class$/ s/\.class$//p'
    done >>"$file.classes"
    java -XX:+UseSerialGC -Xshare:dump "-XX:SharedClassListFile=$file.classes" "-XX:SharedArchiveFile=$file.jsa" -cp "$classpath" >>"$file.log" 2>&1 ||
        die "no archive of classes: $(tail -5 "$file.log")"
    printf -- '-cp\n%s\n-XX:SharedArchiveFile=%s\n' "$classpath" "$(in_guest "$file.jsa")" >"$file.java"
}

# Builds the native library without what upstream's own lacks, and sets upstream_library as the guest sees it.
build_upstream_library() {
    make -s -C "$product/$provider/src/main/c" UPSTREAM=1 "OUT=$log/upstream" >"$log/make.log" 2>&1
    upstream_library=$(in_guest "$log/upstream")
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
    start_job "${test_runner:-run_tests}" "$provider_java" "$library" "$@"
    await_job "$job" "$limit" || status=$?
    cp "$(job_file output)" "$file"
    [[ $status -eq 0 ]] || { say "tests on $device ended with status $status:"; grep -E -A 40 "^FAILED|LEAK" "$file" | head -200 >&2 || true; return 1; }
    ! grep -q 'LEAK' "$file" || { say "a leak on $device:"; grep -A 20 LEAK "$file" >&2; return 1; }
    checked "$(sed -n 's/.* - RDMA device //p' "$file" | head -1)"
    checked "$device: $(grep -E '^[A-Za-z0-9]+: [0-9]+ passed' "$file" | paste -sd ';' | sed 's/;/; /g')"
}
