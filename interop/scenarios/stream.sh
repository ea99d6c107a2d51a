# Byte streams between our channel and programs in C: rstream of rdma-core, and programs for sockets under librspreload.so. On siw our end is on the host, on
# rxe in the guest.
peer="rstream, curl, nc"

fetched=32  # MiB by curl
exchanged=8 # MiB by nc, which takes them in small pieces
# rstream as server on siw: it ends in the moment in which it has sent the last byte, and must not be told of room or credits then (README.md). So
# all that it sends fits into our first credits, 11 messages, and into half of our first ring, 4095 bytes.
small_runs=(1:1:1:n 64:5:2:a 64:10:1:b 192:10:1:n 320:5:2:a 512:7:1:b 1000:4:1:n 1018:2:2:a 2039:2:1:b 4079:1:1:n)
stream_peer=org.nettyrdma.testing.stream.StreamPeer

scenario() {
    tolerate 'speed is unknown, defaulting to' # of the virtual network card
    local -a all few
    mapfile -t all < <(rstream_runs 1)
    mapfile -t few < <(rstream_runs 4)
    guest 60 use_device siw
    over_siw "${all[@]}"
    guest 60 use_device rxe
    over_rxe "${few[@]}"
    guest 60 use_device siw
}

# The sizes of rstream's own list, or one of so many of it, each with one of its three ways to call: rstream_runs STEP
rstream_runs() {
    local -a modes=(n a b)
    local power bytes transfers index=0
    for power in {6..22}; do
        for bytes in $((1 << power)) $((3 << power - 1)); do
            transfers=$((1 << 18 < bytes ? 1 : (1 << 18) / bytes))
            ((index % $1)) || echo "$bytes:$((transfers > 100 ? 100 : transfers)):2:${modes[index / $1 % 3]}"
            index=$((index + 1))
        done
    done
}

# Our end on the host: peer LOG ARGUMENT...
peer() {
    setpriv --pdeathsig TERM java -Dorg.nettyrdma.provider=iwarp -Dio.netty.leakDetection.level=paranoid \
        -Dio.netty.leakDetection.acquireAndReleaseOnly=true -cp "$provider_classpath" $stream_peer "${@:2}" \
        >"$log/$1.log" 2>&1
}

over_siw() {
    peer server.siw serve 127.0.0.1 0 $((exchanged << 20)) "$@" &
    server_pid=$! # stop_product ends it
    await 60 "our servers" grep -q "^serving" "$log/server.siw.log"
    local word rstream exchange http
    read -r word rstream exchange http <<<"$(grep "^serving" "$log/server.siw.log")"
    guest 300 rstream_clients 10.0.2.2 "$rstream" "$@" >"$log/rstream.clients.siw"
    use_servers siw 10.0.2.2 "$http" "$exchange"
    stop_server
    judge_servers siw "$log/server.siw.log" $#

    start_job rstream_servers 7471 "${small_runs[@]}"
    peer client.siw rstream 127.0.0.1 "$guest_stream_port" "${small_runs[@]}"
    await_job "$job" 60
    judge_clients siw "$log/client.siw.log" ${#small_runs[@]} 1

    start_job exchange_by_nc nc.traditional -q 3600 -l -p 7471 "$exchanged"
    peer exchange.siw exchange 127.0.0.1 "$guest_stream_port" $((exchanged << 20)) $((exchanged << 20))
    await_job "$job" 600
    judge_exchange siw "$log/exchange.siw.log" "$(<"$(job_file output)")"
    checked "siw: nc as server, $exchanged MiB each way at once, SHA-256 equal"
}

# On the guest's own device, with less data: two emulated processors have both ends.
over_rxe() {
    guest 120 serve_streams "$provider_java" "$native_library" $((exchanged << 20)) "$@"
    guest 300 rstream_clients 10.0.2.15 7471 "$@" >"$log/rstream.clients.rxe"
    use_servers rxe 10.0.2.15 7473 7472
    guest 60 stop_streams >"$log/server.rxe.log"
    judge_servers rxe "$log/server.rxe.log" $#

    start_job rstream_servers 7471 "$@"
    local servers=$job
    guest 300 use_streams "$provider_java" "$native_library" rstream 10.0.2.15 7471 "$@" >"$log/client.rxe.log"
    await_job "$servers" 60
    judge_clients rxe "$log/client.rxe.log" $# 64
}

# Programs for sockets as clients of our servers: use_servers DEVICE ADDRESS HTTP_PORT EXCHANGE_PORT
use_servers() {
    local got
    got=$(guest 3600 use_curl "$2" "$3" "$fetched")
    set -- "$@" $got
    expect "what curl got and put back on $1" "$((fetched << 20)) $5" "$6 $7"
    checked "$1: curl under librspreload from and to our HTTP/1.1 server, $fetched MiB each way, SHA-256 equal"
    guest 3600 exchange_by_nc nc.traditional "$2" "$4" "$exchanged" >"$log/exchanged.$1"
}

# What our servers say: judge_servers DEVICE LOG RUNS
judge_servers() {
    no_failure "$2"
    expect "runs of rstream that our server has verified" "$3" "$(grep -c '^rstream .* passed' "$2")"
    checked "$1: rstream as client, $3 sizes from 64 B on, verified on both sides"
    expect "what our server sent to curl" "$(sed -n 's/^http GET //p' "$2")" "$(sed -n 's/^http PUT //p' "$2")"
    judge_exchange "$1" "$2" "$(<"$log/exchanged.$1")"
    checked "$1: nc as client, $exchanged MiB each way at once, SHA-256 equal"
}

# judge_clients DEVICE LOG RUNS LEAST_BYTES
judge_clients() {
    no_failure "$2"
    expect "runs that our client has verified" "$3" "$(grep -c '^rstream .* passed' "$2")"
    checked "$1: rstream as server, $3 sizes from $4 B on, verified on both sides"
}

# Both checksums of the guest's program are ours, the other way round: judge_exchange DEVICE LOG CHECKSUMS
judge_exchange() {
    expect "checksums of the exchange over $1" "$3" "$(awk '$1 == "exchange" && $2 == "passed" { print $8, $5 }' "$2")"
}

no_failure() {
    ! grep -E 'failed|LEAK|Exception' "$1" >&2
}
