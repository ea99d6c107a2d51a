# The private data of RFC 8797, both ways: the thresholds that peers advertise are used, and 1024 without it.
peer="kernel, both roles"

scenario() {
    kernel_client
    kernel_server
}

# A write is inline as long as the call fits; its size is what the kernel's counter of Read chunks tells.
kernel_client() {
    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash --statistics
    capture "$rdma_port" "$log/client.pcap"
    guest 30 mount_product "$rdma_port" "$tcp_port"
    expect_output "Read chunks for a write of 3000 bytes at 4096" 0 guest 60 chunks_of_write 3000
    expect_output "Read chunks for a write of 4000 bytes at 4096" 1 guest 60 chunks_of_write 4000
    guest 30 umount /mnt
    stop_capture
    expect_output "private data of the kernel" "f6ab0e1801010303" private_data "$log/client.pcap" Req
    checked "kernel client: advertises 4096, uses our $(private_data "$log/client.pcap" Rep): 3000 bytes inline, 4000 by chunk"

    start_relay "$rdma_port" --hide-private-data
    guest 30 mount_product "$relay_port" "$tcp_port"
    expect_output "Read chunks for a write of 700 bytes at 1024" 0 guest 60 chunks_of_write 700
    expect_output "Read chunks for a write of 1000 bytes at 1024" 1 guest 60 chunks_of_write 1000
    guest 60 read_back
    guest 30 umount /mnt
    stop_relay
    stop_server
    expect "connections of 4096 and of 1024 bytes that our server counts" "1 1" \
        "$(connections "$server_log" 4096 4096) $(connections "$server_log" 1024 1024)"
    checked "kernel client without our private data: 700 bytes inline, 1000 by chunk"
}

kernel_server() {
    guest 60 start_kernel_server "$laboratory"
    head -c 3000 /dev/urandom >"$log/three"
    head -c 700 /dev/urandom >"$log/small"
    expect_output "RDMA Reads for 3000 bytes at 4096" 0 reads_of_put "$guest_rdma_port" "$log/three"
    start_relay "$guest_rdma_port" --hide-private-data
    expect_output "RDMA Reads for 3000 bytes at 1024" 1 reads_of_put "$relay_port" "$log/three"
    expect_output "RDMA Reads for 700 bytes at 1024" 0 reads_of_put "$relay_port" "$log/small"
    stop_relay
    expect "connections of 4096 and of 1024 bytes that our client counts" "1 2" \
        "$(connections "$log/client.log" 4096 4096) $(connections "$log/client.log" 1024 1024)"
    guest 60 stop_kernel_server "$laboratory"
    checked "kernel server: our client sends 3000 bytes inline, and by chunk when no private data came back"
}

# How many RDMA Reads the kernel's server has made for one file that we put.
reads_of_put() {
    local before after
    before=$(guest 60 cat /proc/sys/sunrpc/svc_rdma/rdma_stat_read)
    client 60 put --statistics --mount-port "$guest_mount_port" "$2" "rdma://127.0.0.1:$1/tmp/export/" >>"$log/put.log"
    after=$(guest 60 cat /proc/sys/sunrpc/svc_rdma/rdma_stat_read)
    guest 60 cat "/tmp/export/${2##*/}" | cmp - "$2" >&2
    echo $((after - before))
}

# The last 8 bytes of the first MPA request or reply in a capture: private_data FILE Req|Rep
private_data() {
    tshark_reads "$1" -Y "iwarp_mpa.key.${2,,}" -T fields -e tcp.payload | head -1 | tail -c 17
}

# Connections with these inline thresholds in the statistics of ours: connections LOG SEND RECEIVE
connections() {
    awk -v send="send=$2" -v receive="receive=$3" \
        '$1 == "nfs.rdma.connections" && $0 ~ send && $0 ~ receive { sum += $NF } END { print sum + 0 }' "$1"
}
