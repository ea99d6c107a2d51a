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

    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash --checksum
    capture "$rdma_port" "$log/own.pcapng"
    copy_both_ways "rdma://127.0.0.1:$rdma_port/" --checksum
    stop_capture
    judge "$log/own.pcapng" "own server with CRC"
    tshark_reads "$log/own.pcapng" -V -Y iwarp_mpa >"$log/own.txt"
    local good
    good=$(grep -c 'Good CRC32' "$log/own.txt" || true)
    expect_at_least "frames with a good checksum" 100 "$good"
    expect "frames with a bad checksum" "" "$(grep 'Bad CRC32' "$log/own.txt" | head -5)"
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

# Recognised from the first byte to the last, nothing malformed. tshark 4.0 misses the data that a READ or READLINK reply placed in a Write chunk,
# between two kernels as well, so those replies do not count.
judge() {
    local file=$1 name=$2 layer
    for layer in iwarp_mpa iwarp_ddp_rdmap rpcordma rpc nfs; do
        expect_at_least "frames with $layer, $name" 10 "$(tshark_reads "$file" -Y "$layer" | wc -l)"
    done
    expect "malformed frames, $name" "" "$(tshark_reads "$file" -Y '_ws.malformed && !(nfs.procedure_v3 in {5, 6} && rpc.msgtyp == 1)' | head -5)"
    expect "frames with bytes that are no MPA, $name" "" "$(tshark_reads "$file" -Y 'tcp.len > 0 && !iwarp_mpa && !tcp.segment_data' | head -5)"
    checked "$name: $(tshark_reads "$file" -Y nfs | wc -l) frames with NFS among $(tshark_reads "$file" -Y iwarp_mpa | wc -l) with MPA, DDP, RDMAP; none malformed"
}
