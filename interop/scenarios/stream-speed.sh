# What a byte stream costs: our channel at both ends, and rstream of rdma-core at both ends, on the guest's siw, by turns in one run. It judges only that
# all arrives.
peer="rstream, siw"
by_name_only="measures, for minutes"
guest_functions=stream

latency_size=64:1:10000
bandwidth_size=65536:32:20
rounds=3

scenario() {
    local round sizes=("$latency_size:u" "$latency_size:u" "$bandwidth_size:u" "$bandwidth_size:u") # each first to warm up
    local -a latencies=() bandwidths=()
    tolerate 'speed is unknown, defaulting to' # of the virtual network card
    guest 60 use_device siw
    guest 120 measured serve_streams "$provider_classpath" "$native_library" 1 $(printf "${sizes[*]} %.0s" 1 2 3)
    for ((round = 1; round <= rounds; round++)); do
        measure
    done
    guest 60 stop_streams >"$log/server.log"
    ! grep -E 'failed|Exception' "$log/server.log" >&2
    checked "siw, against rstream: 64 bytes one way take $(median "${latencies[@]}") times as long (${latencies[*]});" \
        "64 KiB at a time are $(median "${bandwidths[@]}") times as fast (${bandwidths[*]})"
}

# One round of both; the better of rstream's two ways to call, not to block (n) and to block (b), counts.
measure() {
    local kind size mode best micros ours each
    guest 400 measured use_streams "$provider_classpath" "$native_library" rstream 10.0.2.15 7471 "${sizes[@]}" >"$log/ours.$round"
    for kind in latency bandwidth; do
        size=${kind}_size
        best= each=
        for mode in n b; do
            micros=$(guest 400 rstream_alone 10.0.2.15 "${!size}" $mode)
            each+=" $mode $micros"
            best=$(printf '%s\n' $best "$micros" | sort -g | head -1)
        done
        ours=$(awk -v size="${!size}" '$2 == size { micros = $4 } END { print micros }' "$log/ours.$round")
        say "   round $round, ${!size}: ours $ours us for each transfer, rstream$each us"
        case $kind in
            latency) latencies+=("$(ratio "$ours" "$best")") ;;
            *) bandwidths+=("$(ratio "$best" "$ours")") ;;
        esac
    done
}
