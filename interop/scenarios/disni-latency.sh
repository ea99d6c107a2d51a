# What the Java side costs: the channel and perftest, which is C on the same verbs, on the same device in the same run.
peer="perftest, siw and rxe"
alone="it measures time"

scenario() {
    tolerate 'speed is unknown, defaulting to' # rxe, of the virtual network card
    local device
    local -a latencies
    gcc -O2 -static -o "$(share)/guest/cycle-rate" "$interop/guest/cycle-rate.c"
    for device in siw rxe; do
        guest 60 use_device $device
        # Other programs of this machine can disturb a whole measurement: slow is what is slow twice.
        measure $device
        within_limit || measure $device
        expect "latency at most three times perftest's on $device" yes "$(within_limit && echo yes || echo no)"
    done
    guest 60 use_device siw
}

# The two take turns, three times. The median ratio counts: once two are within the limit, or two beyond it, it is there, too, whatever the third would
# be. Sets latencies.
measure() {
    local device=$1 round latency_micros read_mebibytes_per_second perftest_micros perftest_mebibytes
    local -a reads=()
    latencies=()
    for round in 1 2 3; do
        guest 100 run_perftest "$device" >"$log/perftest.$device.$round"
        guest 200 run_speed "$provider_java" "$native_library" >"$log/speed.$device.$round"
        source <(grep -E '^[a-z_]+=[0-9.]+$' "$log/perftest.$device.$round")
        source <(grep -E '^[a-z_]+=[0-9.]+$' "$log/speed.$device.$round")
        latencies+=("$(ratio "$latency_micros" "$perftest_micros")")
        reads+=("$(ratio "$read_mebibytes_per_second" "$perftest_mebibytes")")
        say "   $device, round $round: 64 bytes one way in $latency_micros us, perftest $perftest_micros us;" \
            "RDMA Reads of 64 KiB $read_mebibytes_per_second MiB/s, perftest $perftest_mebibytes MiB/s"
        ! within_limit && ! beyond_limit || break
    done
    checked "$device, against perftest: 64 bytes one way take ${latencies[*]} times as long; RDMA Reads of 64 KiB are ${reads[*]} times as fast"
}

within_limit() {
    [[ $(rounds '<=') -ge 2 ]]
}

beyond_limit() {
    [[ $(rounds '>') -ge 2 ]]
}

# How many rounds have taken at most, or more than, three times as long: rounds '<='|'>'
rounds() {
    printf '%s\n' "${latencies[@]}" | awk "\$1 $1 3" | wc -l
}
