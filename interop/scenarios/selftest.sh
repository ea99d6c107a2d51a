# The laboratory itself: the kernel's client on the kernel's server, inside of the guest and by way of the host.
peer="kernel to kernel"

scenario() {
    guest 60 start_kernel_server "$laboratory"
    guest 30 self_mount "port=20049" 10.0.2.15
    guest 60 self_copy
    guest 30 umount /mnt
    checked "8 MiB in and out over siw in the guest, SHA-256 equal"

    # The kernel's server may leave a client's first message lying until more comes, so the client is not to wait for a minute.
    start_relay "$guest_rdma_port"
    capture "$relay_port" "$log/self.pcap"
    guest 60 self_mount "port=$relay_port,mountport=$guest_mount_port,mountproto=tcp,timeo=20" 10.0.2.2
    guest 60 self_copy
    guest 60 transport_counters >"$log/counters"
    guest 30 umount /mnt
    stop_capture
    stop_relay
    guest 60 stop_kernel_server "$laboratory"
    source "$log/counters"
    expect_at_least "Read chunks" 8 "$read_chunks"
    expect_at_least "Write chunks" 8 "$write_chunks"
    expect_at_least "captured NFS messages" 20 "$(packets "$log/self.pcap" nfs)"
    checked "8 MiB in and out by way of the host and its relay, SHA-256 equal, $read_chunks Read and $write_chunks Write chunks, seen by tshark"
}
