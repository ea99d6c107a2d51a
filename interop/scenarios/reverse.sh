# Calls of the kernel's server to its client on the client's own connection: a minimal NFS version 4.1 client of ours holds read delegations,
# somebody in the guest writes to the files, and the server calls them back.
peer="kernel server, siw"

reverse_files=(one two three)

scenario() {
    guest 30 start_delegating_server "$laboratory" "${reverse_files[@]}"
    capture "$guest_rdma_port" "$log/reverse.pcap"
    start_check
    local name waited
    for name in "${reverse_files[@]}"; do
        await 30 "the delegation of $name" grep -qx "delegated: $name" "$log/check.log"
        waited=$(guest 60 write_against_delegation "$name")
        await 60 "the return of $name" grep -qx "returned: $name" "$log/check.log"
    done
    wait "$check_pid"
    stop_capture
    grep -qx "back channel on this connection: true" "$log/check.log"
    expect "callbacks answered" "${#reverse_files[@]}" "$(grep -c '^callback: CB_COMPOUND CB_SEQUENCE CB_RECALL, status 0$' "$log/check.log")"
    guest 60 stop_kernel_server "$laboratory"
    checked "${#reverse_files[@]} delegations recalled by CB_SEQUENCE and CB_RECALL on the client's connection, the last writer waited $waited ms"
}

start_check() {
    local classes=$product/example-nfs/target
    setpriv --pdeathsig TERM timeout 120 java -cp "$classes/test-classes:$classes/classes:$classes/lib/*" \
        org.nettyrdma.example.nfs.v41.ReverseCallCheck 127.0.0.1 "$guest_rdma_port" 40 "${reverse_files[@]}" \
        >"$log/check.log" 2>"$log/check.errors" &
    check_pid=$!
}
