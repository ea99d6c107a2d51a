# What a byte stream costs: our channel at both ends, and rstream of rdma-core at both ends, on the guest's siw, by turns in one run. It judges only that
# all arrives.
peer="rstream, siw"
by_name_only="measures, for minutes"
alone="it measures time"
guest_functions=stream

latency_size=64:1:10000
bandwidth_size=65536:32:20
rounds=3

scenario() {
    local round sizes strategy
    local -A latencies=() bandwidths=()
    # The last of each counts: on emulated processors it takes that long until all is compiled.
    mapfile -t sizes < <(for ((round = 0; round < 6; round++)); do echo "$latency_size:u"; done
        for ((round = 0; round < 4; round++)); do echo "$bandwidth_size:u"; done)
    tolerate 'speed is unknown, defaulting to' # of the virtual network card
    guest 60 use_device siw
    for ((round = 1; round <= rounds; round++)); do
        measure
    done
    for strategy in BUSY_POLL ADAPTIVE; do
        checked "siw, against rstream, $strategy: 64 bytes one way take $(median ${latencies[$strategy]}) times as long (${latencies[$strategy]# });" \
            "64 KiB at a time are $(median ${bandwidths[$strategy]}) times as fast (${bandwidths[$strategy]# })"
    done
}

# One round of all; the better of rstream's two ways to call, not to block (n) and to block (b), counts.
measure() {
    local kind size mode micros each strategy
    local -A ours=() best=()
    for strategy in BUSY_POLL ADAPTIVE; do
        measure_ours
    done
    for kind in latency bandwidth; do
        size=${kind}_size each=
        for mode in n b; do
            micros=$(guest 400 rstream_alone 10.0.2.15 "${!size}" $mode)
            each+=" $mode $micros"
            best[$kind]=$(printf '%s\n' ${best[$kind]:-} "$micros" | sort -g | head -1)
        done
        say "   round $round, ${!size}: ours ${ours[BUSY_POLL.$kind]} us for each transfer if it never sleeps, else ${ours[ADAPTIVE.$kind]}, rstream$each us"
    done
    for strategy in BUSY_POLL ADAPTIVE; do
        latencies[$strategy]+=" $(ratio "${ours[$strategy.latency]}" "${best[latency]}")"
        bandwidths[$strategy]+=" $(ratio "${best[bandwidth]}" "${ours[$strategy.bandwidth]}")"
    done
}

# A server that never sleeps would take a processor from rstream: it lives as long as its client.
measure_ours() {
    local kind size
    guest 120 measured $strategy serve_streams "$provider_java" "$native_library" 1 "${sizes[@]}"
    guest 1000 measured $strategy use_streams "$provider_java" "$native_library" rstream 10.0.2.15 7471 "${sizes[@]}" >"$log/ours.$round.$strategy"
    guest 60 stop_streams >"$log/server.log"
    ! grep -E 'failed|Exception' "$log/server.log" >&2
    for kind in latency bandwidth; do
        size=${kind}_size
        ours[$strategy.$kind]=$(awk -v size="${!size}" '$2 == size { micros = $4 } END { print micros }' "$log/ours.$round.$strategy")
    done
}
