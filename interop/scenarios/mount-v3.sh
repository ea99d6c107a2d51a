# The kernel's client on our server: everything a file system is used for, compared on both sides.
peer="kernel client, siw"

scenario() {
    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash
    guest 60 mount_product "$rdma_port" "$tcp_port"
    guest 120 use_files >"$log/files.log"
    checked "create, rename, link, 900-byte symbolic link, truncate, append, holes, attributes, the order of times, errors"
    guest 240 use_sizes >"$log/sizes.log"
    checked "$(tail -1 "$log/sizes.log") files of sizes around every threshold, buffered and direct"
    guest 600 use_large_directory 5000 >"$log/directory.log"
    expect "names in the large directory" "5000 5000" "$(tail -2 "$log/directory.log" | xargs)"
    expect "files in the large directory on the host" 5000 "$(find "$log/export/many" -type f | wc -l)"
    guest 180 empty_large_directory
    checked "5000 files in one directory, listed twice and removed"
    guest 300 use_tar /usr/src/linux-headers-"${kernel%-amd64}"-common/include net rdma >"$log/tar.log"
    checked "tar in and out of $(tail -1 "$log/tar.log") source files"
    guest 180 use_fio >"$log/fio.log"
    checked "fio with verification, direct, buffered and unaligned, 6 x 8 MiB"
    guest 180 use_processes >"$log/processes.log"
    checked "8 processes at once with 80 locked appends"
    guest 180 sums >"$log/sums.guest"
    checksums "$log/export" >"$log/sums.host"
    same "what the guest reads and the server has" "$log/sums.guest" "$log/sums.host"
    checked "SHA-256 of $(wc -l <"$log/sums.host") files equal on both sides"
    guest 60 transport_counters >"$log/counters"
    guest 30 umount /mnt
    source "$log/counters"
    checked "chunks: $read_chunks Read, $write_chunks Write, $reply_chunks Reply; $sends sends, $connects connect, bad replies $bad_reply"
    expect "connections made" 1 "$connects"
    expect "bad replies" 0 "$bad_reply"
    expect "replies with an unknown XID" 0 "$bad_xids"
    use_server_without_rights
}

# A server that may do with files what their modes say, as one that is not root, and files of a user whom it has no rights of.
use_server_without_rights() {
    stop_server
    mkdir "$log/foreign"
    echo "what was there before" | tee "$log/foreign/data" >"$log/foreign/program"
    chown 2001:2001 "$log"/foreign/*
    chmod 666 "$log/foreign/data"
    chmod 6777 "$log/foreign/program"
    server_rights=(--bounding-set -all --inh-caps -all)
    start_server --export "$log/foreign"
    guest 60 mount_product "$rdma_port" "$tcp_port"
    guest 60 write_over_foreign_files
    guest 30 umount /mnt
    expect "what the files of another user have on the host" "new new 777" \
        "$(cat "$log/foreign/data") $(cat "$log/foreign/program") $(stat -c %a "$log/foreign/program")"
    checked "a server that is not root: another user's file and program written over"
}
