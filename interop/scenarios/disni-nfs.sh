# NFS over the devices of the guest: our own ends, the kernel's, and the software provider on the host.
peer="siw, rxe, kernel"

scenario() {
    tolerate 'speed is unknown, defaulting to' # rxe, of the virtual network card
    local device
    for device in rxe siw; do
        guest 60 use_device $device
        between_our_ends $device
        kernel_client $device
        [[ $device != siw ]] || software_client
        removed_device $device
        server_counts $device
    done
    guest 60 use_device siw
    software_server
    upstream_library
    for device in rxe siw; do
        guest 60 use_device $device
        kernel_server $device
    done
}

# Which memory was opened to the peer, and who withdrew it, as our client counts: withdrawn LOG
withdrawn() {
    echo "$(statistic "$1" rdma.channel.exposures)" "$(statistic "$1" rdma.channel.remote.invalidations.received)" \
        "$(statistic "$1" rdma.channel.local.invalidations)"
}

# On rxe a memory window is bound for each call, and the peer withdraws it by Send with Invalidate; siw has neither: withdrawn_as_expected DEVICE LOG
withdrawn_as_expected() {
    local exposures remote local
    read -r exposures remote local <<<"$(withdrawn "$2")"
    expect_at_least "pieces of memory that our client opened on $1" 8 "$exposures"
    if [[ $1 == rxe ]]; then
        expect "windows that our client's peer withdrew, and our client, on $1" "$exposures 0" "$remote $local"
        who="all $exposures windows of our client withdrawn by its peer, none by itself"
    else
        expect "registrations that our client's peer withdrew, and our client, on $1" "0 $exposures" "$remote $local"
        who="all $exposures registrations of our client withdrawn by itself"
    fi
}

between_our_ends() {
    guest 300 serve_and_copy "$nfs_java" "$native_library" rdma://10.0.2.15:20049/ 20048 >"$log/client.$1.log"
    withdrawn_as_expected "$1" "$log/client.$1.log"
    checked "$1: our client and server, 4 MiB put and got, SHA-256 equal; $who"
}

# Both ends with a native library that can do no more than upstream's: no private data, so that 1024 bytes travel inline.
upstream_library() {
    build_upstream_library
    guest 300 serve_and_copy "$nfs_java" "$upstream_library" rdma://10.0.2.15:20049/ 20048 >"$log/upstream.log"
    guest 30 stop_product >"$log/server.upstream.log"
    withdrawn_as_expected siw "$log/upstream.log"
    local side
    for side in upstream server.upstream; do
        expect "connections of $side with 1024 bytes inline" 2 "$(awk '$1 == "nfs.rdma.connections" && / receive=1024 / && / send=1024 / { sum += $NF } END { print sum + 0 }' "$log/$side.log")"
    done
    checked "siw: our client and server with what upstream's library can do, 1024 bytes inline, 4 MiB put and got, SHA-256 equal; $who"
}

kernel_client() {
    guest 60 mount_and_copy >"$log/mount.$1.log"
    source "$log/mount.$1.log"
    # On siw our server has no Send with Invalidate; on rxe the kernel needs several handles for each call, and then there is no such Send, either.
    expect_at_least "registrations that the kernel's client withdrew" 8 "$local_invalidates"
    checked "$1: the kernel mounts our server, 4 MiB in and out, SHA-256 equal; $local_invalidates registrations withdrawn by the kernel itself"
}

# What the server has done for both clients: server_counts DEVICE
server_counts() {
    local sent
    sent=$(statistic "$log/server.$1.log" rdma.channel.remote.invalidations.sent)
    if [[ $1 == rxe ]]; then
        expect_at_least "Sends with Invalidate of our server on $1" "$(statistic "$log/client.$1.log" rdma.channel.remote.invalidations.received)" "$sent"
    else
        expect "Sends with Invalidate of our server on $1, which has none" 0 "$sent"
    fi
}

kernel_server() {
    guest 60 start_kernel_server "$laboratory"
    guest 180 copy_by_product "$nfs_java" "$native_library" rdma://10.0.2.15:20049/tmp/export/ 20048 >"$log/kernel.$1.log"
    guest 60 stop_kernel_server "$laboratory"
    withdrawn_as_expected "$1" "$log/kernel.$1.log"
    checked "$1: our client on the kernel's server, 4 MiB put and got, SHA-256 equal; $who"
}

# The software provider on the host, the server in the guest.
software_client() {
    head -c 4M /dev/urandom >"$log/data"
    client 120 put --mount-port "$guest_mount_port" "$log/data" "rdma://127.0.0.1:$guest_rdma_port/"
    client 120 get --mount-port "$guest_mount_port" "rdma://127.0.0.1:$guest_rdma_port/data" "$log/back"
    cmp "$log/data" "$log/back" >&2
    checked "siw: the software provider's client on the host, 4 MiB put and got, SHA-256 equal"
}

# The software provider's server on the host, the client in the guest.
software_server() {
    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash
    guest 180 copy_by_product "$nfs_java" "$native_library" "rdma://10.0.2.2:$rdma_port/" "$tcp_port" >"$log/software.log"
    stop_server
    checked "siw: our client on the software provider's server on the host, 4 MiB put and got, SHA-256 equal"
}

# The device goes while data flows: both ends must notice and end. The drivers let a device go only when every process that has opened it has ended or closed it,
# which takes another device to look for (DeviceRemovalTest does that), so the removal itself is complete when the server has ended, too.
removed_device() {
    start_job put_for_long "$nfs_java" "$native_library" rdma://10.0.2.15:20049/ 20048
    local put=$job removal status=0
    guest 100 await 90 "data on its way" data_flows
    start_job rdma link delete "$1"0
    removal=$job
    await_job "$put" 90 || status=$?
    cp "$(share)/jobs/$put/output" "$log/removed.$1.log"
    [[ $status -ne 0 && $status -ne 124 ]] || { say "the client's status after the removal is $status"; return 1; }
    guest 30 stop_product >"$log/server.$1.log"
    await_job "$removal" 30
    expect "leaks of the client" 0 "$(grep -c LEAK "$log/removed.$1.log" || true)"
    expect "leaks of the server" 0 "$(grep -c LEAK "$log/server.$1.log" || true)"
    expect_at_least "ends that name the cause" 1 "$(cat "$log/removed.$1.log" "$log/server.$1.log" | grep -c "was removed")"
    # It reads both to the end: a pipe whose reader is content with the first line fails where the writer has more.
    checked "$1: device removed while a file was put: $(awk 'match($0, /the RDMA device .* was removed/) && !found++ { print substr($0, RSTART, RLENGTH) }' \
        "$log/removed.$1.log" "$log/server.$1.log"); both ends ended in order"
}
