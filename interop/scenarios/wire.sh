# What tshark, which knows nothing of us, makes of our bytes: towards the kernel's server, and between our own ends with checksums.
peer="tshark"

scenario() {
    make_tree "$log/tree" 4
    guest 60 start_kernel_server "$laboratory"
    capture "$guest_rdma_port" "$log/kernel.pcap"
    copy_both_ways "rdma://127.0.0.1:$guest_rdma_port/tmp/export" --mount-port "$guest_mount_port"
    stop_capture
    guest 60 stop_kernel_server "$laboratory"
    judge "$log/kernel.pcap" "kernel server"

    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash --checksum
    capture "$rdma_port" "$log/own.pcap"
    copy_both_ways "rdma://127.0.0.1:$rdma_port/" --checksum
    stop_capture
    judge "$log/own.pcap" "own server with CRC"
    judge_checksums "$log/own.pcap"
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
    for layer in rpcordma rpc nfs 'nfs.procedure_v3 == 6' 'nfs.procedure_v3 == 7' 'iwarp_rdma.opcode == 0' 'iwarp_rdma.opcode == 2'; do
        expect_at_least "packets with $layer, $name" 10 "$(packets "$file" "$layer")"
    done
    expect "packets that are no MPA, $name" "" "$(tshark_reads "$file" -Y '!iwarp_mpa')"
    expect "malformed packets, $name" "" "$(tshark_reads "$file" -Y '_ws.malformed && !(nfs.procedure_v3 in {5, 6} && rpc.msgtyp == 1)')"
    checked "$name: $(packets "$file" iwarp_mpa) frames of MPA, $(packets "$file" iwarp_ddp_rdmap) of DDP and RDMAP, $(packets "$file" rpcordma) messages of" \
        "RPC-over-RDMA, $(packets "$file" nfs) of NFS, none malformed"
}

judge_checksums() {
    tshark_reads "$1" -V >"$log/frames.txt"
    local good
    good=$(grep -c 'Good CRC32' "$log/frames.txt")
    expect "frames with a good checksum" "$(packets "$1" iwarp_ddp_rdmap)" "$good"
    checked "own server: all $good checksums good"
}
