# The laboratory itself: the kernel's client on the kernel's server, over siw in the guest.
peer="kernel to kernel"

scenario() {
    guest 30 start_kernel_server "$laboratory"
    guest 30 self_mount
    guest 60 self_copy
    guest 10 transport_counters >"$log/counters"
    guest 10 umount /mnt
    guest 10 stop_kernel_server "$laboratory"
    source "$log/counters"
    expect_at_least "Read chunks" 8 "$read_chunks"
    expect_at_least "Write chunks" 8 "$write_chunks"
    checked "8 MiB in and out over siw, SHA-256 equal, $read_chunks Read and $write_chunks Write chunks"
}
