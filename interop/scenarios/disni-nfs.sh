# NFS over the devices of the guest: our own ends, the kernel's, and the software provider on the host.
peer="siw, rxe, kernel"
by_name_only="has not passed twice in a row yet"

scenario() {
    tolerate 'speed is unknown, defaulting to' # rxe, of the virtual network card
    local device
    for device in rxe siw; do
        guest 20 use_device $device
        removed_device $device
        guest 20 use_device $device
        between_our_ends $device
        kernel_client $device
    done
    guest 20 use_device siw
    software_client
    software_server
    for device in rxe siw; do
        guest 20 use_device $device
        kernel_server $device # last: the kernel's mountd keeps its port
    done
}

# Starts our server in the guest: serve_in_guest DEVICE_NAME
serve_in_guest() {
    guest 120 start_product "$nfs_classpath" "$native_library" --statistics
}

stop_in_guest() {
    guest 30 stop_product >"$log/server.$1.log"
    expect "leaks of the server on $1" 0 "$(grep -c LEAK "$log/server.$1.log" || true)"
}

between_our_ends() {
    serve_in_guest
    guest 180 copy_by_product "$nfs_classpath" "$native_library" rdma://10.0.2.15:20049/ 20048 >"$log/client.$1.log"
    stop_in_guest "$1"
    checked "$1: our client and server, 4 MiB put and got, SHA-256 equal, $(statistic "$log/client.$1.log" rpcrdma.chunks.remote.invalidations) Sends with Invalidate"
}

kernel_client() {
    serve_in_guest
    guest 60 mount_and_copy
    guest 30 umount /mnt
    stop_in_guest "$1"
    checked "$1: the kernel mounts our server, 4 MiB in and out, SHA-256 equal, $(statistic "$log/server.$1.log" rpcrdma.chunks.remote.invalidations) Sends with Invalidate from us"
}

kernel_server() {
    guest 30 start_kernel_server "$laboratory"
    guest 180 copy_by_product "$nfs_classpath" "$native_library" rdma://10.0.2.15:20049/tmp/export/ 20048 >"$log/kernel.$1.log"
    guest 20 stop_kernel_server "$laboratory"
    checked "$1: our client on the kernel's server, 4 MiB put and got, SHA-256 equal, $(statistic "$log/kernel.$1.log" rpcrdma.chunks.remote.invalidations) Sends with Invalidate from it"
}

# The software provider on the host, the server in the guest.
software_client() {
    serve_in_guest
    head -c 4M /dev/urandom >"$log/data"
    client 120 put --mount-port "$guest_mount_port" "$log/data" "rdma://127.0.0.1:$guest_rdma_port/"
    client 120 get --mount-port "$guest_mount_port" "rdma://127.0.0.1:$guest_rdma_port/data" "$log/back"
    stop_in_guest software
    cmp "$log/data" "$log/back" >&2
    checked "siw: the software provider's client on the host, 4 MiB put and got, SHA-256 equal"
}

# The software provider's server on the host, the client in the guest.
software_server() {
    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash
    guest 180 copy_by_product "$nfs_classpath" "$native_library" "rdma://10.0.2.2:$rdma_port/" "$tcp_port" >"$log/software.log"
    stop_server
    checked "siw: our client on the software provider's server on the host, 4 MiB put and got, SHA-256 equal"
}

# The device goes while data flows: both ends must notice and end. The drivers let a device go only when every process that has opened it has
# ended, so the removal itself is complete when the server has ended, too.
removed_device() {
    serve_in_guest
    start_job put_for_long "$nfs_classpath" "$native_library" rdma://10.0.2.15:20049/ 20048
    local put=$job removal status=0
    guest 100 await 90 "data on its way" data_flows
    start_job rdma link delete "$1"0
    removal=$job
    await_job "$put" 90 || status=$?
    cp "$state/guest/share/jobs/$put/output" "$log/removed.$1.log"
    [[ $status -ne 0 && $status -ne 124 ]] || { say "the client's status after the removal is $status"; return 1; }
    stop_in_guest "removed.$1"
    await_job "$removal" 30
    expect "leaks of the client" 0 "$(grep -c LEAK "$log/removed.$1.log" || true)"
    expect_at_least "ends that name the cause" 1 "$(cat "$log/removed.$1.log" "$log/server.removed.$1.log" | grep -c "was removed")"
    checked "$1: device removed while a file was put: $(cat "$log/removed.$1.log" "$log/server.removed.$1.log" | grep -m 1 -o 'the RDMA device .* was removed'); both ends ended in order"
}
