# What the Java side costs: the channel and perftest, which is C on the same verbs, on the same device in the same run.
peer="perftest, siw and rxe"

scenario() {
    tolerate 'speed is unknown, defaulting to' # rxe, of the virtual network card
    local device
    for device in siw rxe; do
        guest 20 use_device $device
        measure $device
    done
    guest 20 use_device siw
}

measure() {
    guest 100 run_perftest "$1" >"$log/perftest.$1"
    guest 200 run_speed "$provider_classpath" "$native_library" >"$log/speed.$1"
    local latency_micros read_mebibytes_per_second perftest_micros perftest_mebibytes
    source "$log/perftest.$1"
    source <(grep -E '^[a-z_]+=[0-9.]+$' "$log/speed.$1")
    checked "$1: 64 bytes one way in $latency_micros us, perftest $perftest_micros us: $(ratio "$latency_micros" "$perftest_micros") times;" \
        "RDMA Reads of 64 KiB $read_mebibytes_per_second MiB/s, perftest $perftest_mebibytes MiB/s: $(ratio "$read_mebibytes_per_second" "$perftest_mebibytes") times"
    expect "latency at most three times perftest's on $1" yes "$(awk "BEGIN { print $latency_micros <= 3 * $perftest_micros ? \"yes\" : \"no\" }")"
}

ratio() {
    awk "BEGIN { printf \"%.2f\", $1 / $2 }"
}
