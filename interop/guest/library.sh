# What the scenarios use inside of the guest.

export_directory=/tmp/export
host_address=10.0.2.2
guest_address=10.0.2.15

start_network() {
    ip link set lo up
    ip link set eth0 up
    ip address add $guest_address/24 dev eth0
    ip address add fd00::15/64 dev eth0 nodad
    rdma link add siw0 type siw netdev eth0
    echo 1 >/proc/sys/kernel/panic_on_oops # an oops ends the guest at once, with the trace as the console's last lines
}

# The kernel as server: NFS over RDMA and TCP, MOUNT on a fixed port.
start_kernel_server() {
    local server=/run/host$1/root options=${2:-rw,no_root_squash} # where the packages are unpacked
    PATH=$PATH:$server/usr/sbin:$server/sbin
    mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
    mkdir -p $export_directory /var/lib/nfs/v4recovery /run/rpcbind /run/sendsigs.omit.d
    mountpoint -q $export_directory || mount -t tmpfs -o size=1g tmpfs $export_directory
    find $export_directory -mindepth 1 -delete # of an earlier scenario
    touch /etc/exports /var/lib/nfs/etab
    pgrep -x rpcbind >/dev/null || rpcbind -w
    exportfs -o "$options,insecure,no_subtree_check,fsid=0" "*:$export_directory"
    rpc.nfsd -N 4.2 4
    pgrep -x rpc.mountd >/dev/null || rpc.mountd -p 20048
    grep -q rdma /proc/fs/nfsd/portlist || echo rdma 20049 >/proc/fs/nfsd/portlist
}

stop_kernel_server() {
    local server=/run/host$1/root
    PATH=$PATH:$server/usr/sbin:$server/sbin
    exportfs -ua
    rpc.nfsd 0
    pkill -x rpc.mountd || true # our own server listens on the same port in other scenarios
    await 10 "the end of mountd" mountd_has_ended
}

mountd_has_ended() {
    ! pgrep -x rpc.mountd >/dev/null
}

# The kernel as client: mount_product RDMA_PORT MOUNT_PORT [MORE_OPTIONS]
mount_product() {
    mkdir -p /mnt
    mount -t nfs -o "rdma,port=$1,vers=3,mountport=$2,mountproto=tcp,nolock${3:+,$3}" $host_address:/ /mnt
}

# The numbers of the kernel's RDMA transport in the order of xprt_rdma_print_stats, under their names.
transport_counters() {
    local -a names=(
        binds connects connect_time idle_seconds sends receives bad_xids call_slots backlog
        read_chunks write_chunks reply_chunks total_rdma_request total_rdma_reply pullup_copy fixup_copy
        hardway_register failed_marshal bad_reply nomsg_call mrs_recycled mrs_orphaned mrs_allocated
        local_invalidates empty_sendctx_q reply_waits_for_send
    )
    local line
    line=$(grep -A 30 "mounted on ${1:-/mnt} " /proc/self/mountstats | grep -m 1 'xprt:[[:space:]]*rdma')
    local -a values
    read -ra values <<<"${line#*rdma }"
    local index=1 name # the first value is the local port
    for name in "${names[@]}"; do
        echo "$name=${values[index++]}"
    done
}

# Tasks that no signal ends, with the place in the kernel. Without another process for each, which takes too long.
blocked_tasks() {
    local task line
    for task in /proc/[0-9]*; do
        if read -r line 2>/dev/null <"$task/stat" && [[ $line == *") D "* ]]; then
            echo "blocked in the kernel: ${line%%) *})"
            head -12 "$task/stack"
        fi
    done
}

await() {
    local limit=$1 what=$2 deadline=$((SECONDS + $1))
    shift 2
    until "$@"; do
        [[ $SECONDS -lt $deadline ]] || { echo "gave up waiting for $what after $limit s"; return 1; }
        sleep 0.1
    done
}

checksums() {
    (
        cd "$1"
        find . -type f -print0 | sort -z | xargs -0 -r sha256sum
        find . -type l -printf '%p -> %l\n' | sort
    )
}

# Leaves the guest with one RDMA device: use_device siw|rxe
use_device() {
    local link
    for link in siw0 rxe0 second0; do
        [[ ! -e /sys/class/infiniband/$link ]] || rdma link delete $link
    done
    rdma link add "${1}0" type "$1" netdev eth0
    await 10 "the device" test -e "/dev/infiniband/uverbs0"
}

# Becomes Java, for use in a subshell. It is emulated, its compiler, too: what it compiles must pay soon. exec_java LIBRARY_PATH ARGUMENT...
# The class path comes as an argument that other functions call JAVA: an argument file, with the archive of its classes.
# With an empty path the native library is the one in the jar.
exec_java() {
    ulimit -l unlimited
    exec java -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=8 -XX:+UseSerialGC -Dorg.nettyrdma.provider=disni ${1:+-Djava.library.path="$1"} "${@:2}"
}

# Test classes of the transport: run_tests JAVA LIBRARY_PATH [OPTION_OF_JAVA...] CLASS...
# A test that hangs fails, with the place where it hung, and the others still run.
run_tests() {
    local java=$1 library_path=$2
    local -a options=()
    shift 2
    while [[ $1 == -* ]]; do
        options+=("$1")
        shift
    done
    (exec_java "$library_path" -ea -Djunit.jupiter.execution.timeout.default=90s -Drdma.address=$guest_address -Drdma.requireDevice=true \
        -Dorg.nettyrdma.disni.address=$guest_address -Dnettyrdma.nativeLibrary=true -Dio.netty.leakDetection.level=paranoid -Dnettyrdma.leakReport=/tmp/leaks "${options[@]}" "$java" \
        org.nettyrdma.testing.TestRun "$@")
}
