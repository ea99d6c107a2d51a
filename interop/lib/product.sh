# Our own side, on the host: build it, start and stop the NFS server, run the client.

nfs=$product/example-nfs/nfs
product_pid=

build_product() {
    :
}

stop_product() {
    [[ -n $product_pid ]] || return 0
    kill "$product_pid" 2>/dev/null || true
    wait "$product_pid" 2>/dev/null || true
    product_pid=
}
