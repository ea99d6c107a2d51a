# Version 2 offered to a server that has version 1 only, and spoken between our own ends.
peer="kernel server, ours"

# One RPC-over-RDMA message to a line, in hexadecimal from its XID on: untagged frames behind the length of the frame and 18 bytes of header.
messages() {
    tshark_reads "$1" -Y iwarp_ddp_rdmap -T fields -e tcp.payload | sed -nE 's/^.{4}4.{35}(.*)/\1/p'
}

# Messages whose version, type and first word of the body match: count FILE VERSION TYPE [BODY]
count() {
    messages "$1" | grep -cE "^.{8}0000000$2.{8}0000000$3${4-}" || true
}

scenario() {
    make_tree "$log/tree" 4
    guest 60 start_kernel_server "$laboratory"
    capture "$guest_rdma_port" "$log/kernel.pcap"
    copy_both_ways prefer-v2 "rdma://127.0.0.1:$guest_rdma_port/tmp/export" --mount-port "$guest_mount_port"
    stop_capture
    guest 60 stop_kernel_server "$laboratory"
    expect "calls in version 2 that the kernel got on two connections" 2 "$(count "$log/kernel.pcap" 2 '[01]')"
    expect "ERR_VERS from the kernel, for version 1 only" 2 "$(count "$log/kernel.pcap" 2 4 000000010000000100000001)"
    expect_at_least "messages in version 1" 20 "$(count "$log/kernel.pcap" 1 '[01]')"
    expect "connections in version 1 that our client counts" 2 "$(connections 1)"
    checked "kernel server: one call refused with ERR_VERS and sent again, then $(count "$log/kernel.pcap" 1 '[01]') messages of version 1"

    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash --rpcrdma prefer-v2
    capture "$rdma_port" "$log/own.pcap"
    copy_both_ways v2 "rdma://127.0.0.1:$rdma_port/"
    stop_capture
    stop_server
    expect "messages in version 1" 0 "$(count "$log/own.pcap" 1 '[01]')"
    expect "RDMA2_CONNPROP, two on each of two connections" 4 "$(count "$log/own.pcap" 2 5)"
    expect_at_least "messages in version 2" 20 "$(count "$log/own.pcap" 2 '[01]')"
    expect "connections in version 2 that our client counts" 2 "$(connections 2)"
    checked "own server: $(count "$log/own.pcap" 2 '[01]') messages of version 2"
}

copy_both_ways() {
    local versions=$1 url=$2
    shift 2
    rm -rf "$log/back"
    client 120 put --statistics -r --rpcrdma "$versions" "$@" "$log/tree" "$url" >"$log/put.log"
    client 120 get --statistics -r --rpcrdma "$versions" "$@" "${url%/}/tree" "$log/back" >"$log/get.log"
    same "what was put and what came back" <(checksums "$log/tree") <(checksums "$log/back")
}

# Connections of a version in the statistics of our client: connections VERSION
connections() {
    awk -v version="version=$1" '$1 == "nfs.rdma.connections" && $0 ~ version { sum += $NF } END { print sum + 0 }' "$log/client.log"
}
