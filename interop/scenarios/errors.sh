# What goes wrong at the server must reach the kernel's user as the right errno.
peer="kernel client, siw"

scenario() {
    local export=$log/export
    tolerate 'nfs: server .* not responding' 'nfsacl: server .* not responding'
    mkdir "$export"
    trap 'stop_product; umount "$log/export" 2>/dev/null || true' EXIT
    mount -t tmpfs -o size=16m,mode=777 tmpfs "$export"

    start_server --export "$export"
    guest_fails 30 "Connection refused" mount_product "$(free_port)" "$tcp_port" retry=0
    guest_fails 30 "Connection refused" mount_product "$rdma_port" "$(free_port)" retry=0
    checked "wrong port: ECONNREFUSED"

    guest 30 mount_product "$rdma_port" "$tcp_port"
    guest_fails 60 "No space left on device" dd if=/dev/zero of=/mnt/large bs=1M count=32 conv=fsync
    guest 60 rm /mnt/large
    guest 30 dd if=/dev/zero of=/mnt/small bs=1M count=8 conv=fsync status=none
    checked "full file system: ENOSPC, and room again after rm"

    mkdir -m 755 "$export/private"
    guest_fails 10 "Permission denied" touch /mnt/private/file
    checked "root squash: EACCES"
    guest 30 umount /mnt

    # Not before: where guest or host are slow, what was written takes longer than this.
    guest 30 mount_product "$rdma_port" "$tcp_port" soft,timeo=50,retrans=1
    stop_server
    guest_fails 90 "Input/output error" cat /mnt/absent
    checked "closed server, soft mount: EIO"
    start_server --export "$export"
    guest 60 cat /mnt/small >/dev/null
    checked "and works again when the server is back"
    guest 30 umount /mnt
    stop_server

    start_server --export "$export" --read-only
    guest 30 mount_product "$rdma_port" "$tcp_port"
    guest_fails 10 "Read-only file system" touch /mnt/file
    guest_fails 10 "Read-only file system" rm /mnt/small
    guest 60 cat /mnt/small >/dev/null
    guest 30 umount /mnt
    checked "read-only export: EROFS"
}
