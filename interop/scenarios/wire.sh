# What tshark, which knows nothing of us, makes of our bytes: towards the kernel's server, and between our own ends with checksums.
peer="tshark"

scenario() {
    make_tree "$log/tree" 4
    guest 30 start_kernel_server "$laboratory"
    capture "$guest_rdma_port" "$log/kernel.pcapng"
    copy_both_ways "rdma://127.0.0.1:$guest_rdma_port/tmp/export" --mount-port "$guest_mount_port"
    stop_capture
    guest 20 stop_kernel_server "$laboratory"
    judge "$log/kernel.pcapng" "kernel server"

    mkdir -m 777 "$log/export"
    start_server --export "$log/export" --checksum
    capture "$rdma_port" "$log/own.pcapng"
    copy_both_ways "rdma://127.0.0.1:$rdma_port/" --checksum
    stop_capture
    judge "$log/own.pcapng" "own server with CRC"
    local good bad
    good=$(fields "$log/own.pcapng" iwarp_mpa.crc_check | tr ',' '\n' | grep -c . || true)
    bad=$(tshark_reads "$log/own.pcapng" -Y '_ws.expert.message contains "CRC"' | wc -l)
    expect_at_least "frames with a good checksum" 100 "$good"
    expect "frames with a bad checksum" 0 "$bad"
    checked "own server: $good checksums good"
}

copy_both_ways() {
    local url=$1
    shift
    rm -rf "$log/back"
    client 120 put -r "$@" "$log/tree" "$url" >"$log/put.log"
    client 120 get -r "$@" "${url%/}/tree" "$log/back" >"$log/get.log"
    same "what was put and what came back" <(checksums "$log/tree") <(checksums "$log/back")
}

# Recognised from the first byte to the last, nothing malformed.
judge() {
    local file=$1 name=$2 layer protocols=""
    for layer in iwarp_mpa iwarp_ddp_rdmap rpcordma rpc nfs; do
        expect_at_least "frames with $layer, $name" 10 "$(tshark_reads "$file" -Y "$layer" | wc -l)"
    done
    expect "malformed frames, $name" "" "$(tshark_reads "$file" -Y '_ws.malformed' | head -5)"
    expect "bytes that are no MPA, $name" "" "$(tshark_reads "$file" -Y 'tcp.len > 0 && !iwarp_mpa && !tcp.reassembled_in && !tcp.segment' | head -5)"
    checked "$name: $(tshark_reads "$file" -Y nfs | wc -l) NFS messages in $(tshark_reads "$file" -Y iwarp_mpa | wc -l) frames of MPA, DDP, RDMAP and RPC-over-RDMA, none malformed"
}
