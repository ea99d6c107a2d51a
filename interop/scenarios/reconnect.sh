# The connection is lost under the kernel's client: the server killed while it writes, and a link that breaks every second.
peer="kernel client, siw"

scenario() {
    tolerate 'nfs: server .* (not responding|OK)'
    mkdir "$log/export"
    survive_killed_server
    survive_broken_link
}

survive_killed_server() {
    local writer
    start_server --export "$log/export" --no-root-squash
    guest 30 mount_product "$rdma_port" "$tcp_port"
    start_job write_large 192
    writer=$job
    await 120 "a part of the file" file_is_larger "$log/export/large" 40000000
    stop_server -KILL
    start_server --export "$log/export" --no-root-squash
    await_job "$writer" 240
    guest 90 large_sums >"$log/sums.guest"
    (cd "$log/export" && sha256sum large) >"$log/sums.host"
    same "the file written and the file on the server" "$log/sums.guest" "$log/sums.host"
    guest 60 transport_counters >"$log/counters.killed"
    guest 60 umount /mnt
    source "$log/counters.killed"
    expect_at_least "connections made" 2 "$connects"
    checked "server killed during a write of 192 MiB and restarted: file complete, SHA-256 equal, $connects connects"
    rm "$log/export/large"
}

survive_broken_link() {
    start_relay "$rdma_port" --cut 1
    guest 30 mount_product "$relay_port" "$tcp_port"
    guest 240 work_for 60 >"$log/work.log"
    stop_relay
    start_relay "$rdma_port" # the same port again, and no cuts
    guest 60 broken_sums >"$log/sums.guest"
    guest 60 transport_counters >"$log/counters.cut"
    guest 60 umount /mnt
    (cd "$log/export/broken" && sha256sum ./*) >"$log/sums.host"
    same "the files written and the files on the server" "$log/sums.guest" "$log/sums.host"
    source "$log/counters.cut"
    expect_at_least "connections made" 30 "$connects"
    checked "connection cut every second for 60 s: $(tail -1 "$log/work.log") files written and read back, SHA-256 equal, $connects connects"
}

file_is_larger() {
    [[ -f $1 && $(stat -c %s "$1") -gt $2 ]]
}
