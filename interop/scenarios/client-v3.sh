# Our client on the kernel's server: a tree of 256 MiB in, out again, listed and removed.
peer="kernel server, siw"

scenario() {
    local url
    guest 60 start_kernel_server "$laboratory"
    url=rdma://127.0.0.1:$guest_rdma_port/tmp/export
    make_tree "$log/tree" 256
    checksums "$log/tree" >"$log/sums.source"
    local started=$SECONDS
    client 300 put -r --mount-port "$guest_mount_port" "$log/tree" "$url" >"$log/put.log"
    local put_seconds=$((SECONDS - started + 1))
    guest 120 checksums /tmp/export/tree >"$log/sums.server"
    same "what was put and what the server has" "$log/sums.source" "$log/sums.server"
    started=$SECONDS
    client 300 get -r --mount-port "$guest_mount_port" "$url/tree" "$log/back" >"$log/get.log"
    local get_seconds=$((SECONDS - started + 1))
    checksums "$log/back" >"$log/sums.back"
    same "what was put and what came back" "$log/sums.source" "$log/sums.back"
    checked "256 MiB in $(wc -l <"$log/sums.source") files put in $put_seconds s and got in $get_seconds s, SHA-256 equal in guest and on host"
    client 60 ls -l --mount-port "$guest_mount_port" "$url/tree/small" >"$log/ls.log"
    expect "names listed" 300 "$(grep -c 'file-' "$log/ls.log")"
    checked "ls -l of 300 files"
    client 120 rm -r --mount-port "$guest_mount_port" "$url/tree" >"$log/rm.log"
    expect_output "what is left" "" guest 60 ls -A /tmp/export
    checked "rm -r leaves nothing"
    rm -r "$log/tree" "$log/back"
    guest 60 stop_kernel_server "$laboratory"
}
