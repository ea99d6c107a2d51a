# Send with Invalidate in both directions: the side that gets it has nothing left to invalidate itself.
peer="kernel, both roles"

scenario() {
    kernel_client
    kernel_server
}

kernel_client() {
    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash --statistics
    capture "$rdma_port" "$log/client.pcap"
    guest 30 mount_product "$rdma_port" "$tcp_port"
    guest 60 transport_counters >"$log/counters.before"
    guest 60 write_and_read 100
    guest 60 transport_counters >"$log/counters.after"
    guest 30 umount /mnt
    stop_capture
    stop_server
    local before chunks invalidated
    before=$(source "$log/counters.before" && echo $((read_chunks + write_chunks - local_invalidates)))
    source "$log/counters.after"
    chunks=$((read_chunks + write_chunks - local_invalidates - before))
    expect_at_least "chunks that needed no local invalidation" 190 "$chunks"
    invalidated=$(packets "$log/client.pcap" "iwarp_rdma.opcode == 4 && tcp.srcport == 20049")
    expect_at_least "Sends with Invalidate from us" 190 "$invalidated"
    expect "Sends with Invalidate by our server's own count" "$invalidated" "$(statistic "$server_log" rpcrdma.chunks.remote.invalidations)"
    checked "kernel client: $invalidated Sends with Invalidate from us by the capture and by our count, $chunks chunks without a local invalidation in mountstats"
}

kernel_server() {
    guest 60 start_kernel_server "$laboratory"
    head -c 8M /dev/urandom >"$log/data"
    capture "$guest_rdma_port" "$log/server.pcap"
    client 60 put --statistics --mount-port "$guest_mount_port" "$log/data" "rdma://127.0.0.1:$guest_rdma_port/tmp/export/" >"$log/put.log"
    client 60 get --statistics --mount-port "$guest_mount_port" "rdma://127.0.0.1:$guest_rdma_port/tmp/export/data" "$log/back" >"$log/get.log"
    stop_capture
    guest 60 stop_kernel_server "$laboratory"
    cmp "$log/data" "$log/back" >&2
    local invalidated
    invalidated=$(packets "$log/server.pcap" "iwarp_rdma.opcode == 4 && tcp.srcport == 20049")
    expect_at_least "Sends with Invalidate from the kernel" 16 "$invalidated"
    expect "handles invalidated by our client's own count" "$invalidated" "$(statistic "$log/client.log" rpcrdma.chunks.remote.invalidations)"
    expect "pieces of memory that our client exposed" "$invalidated" "$(statistic "$log/client.log" rpcrdma.chunks.exposures)"
    checked "kernel server: $invalidated Sends with Invalidate from it for 8 MiB each way, and as many exposures of ours: none was left to us"
}
