# The connection is lost under our client: our server killed every second for a minute, a link that breaks every second, the kernel's server ended
# and started again. Trees go in and out all the while.
peer="our server; kernel server, siw"

scenario() {
    make_tree "$log/tree" 24
    checksums "$log/tree" >"$log/sums.source"
    mkdir "$log/export"
    survive_killed_server
    survive_broken_link
    survive_restarted_kernel
    rm -r "$log/tree" "$log/export"
}

survive_killed_server() {
    local deadline=$((SECONDS + 60)) kills=0 worker
    start_server --export "$log/export" --no-root-squash
    copy_until_enough killed "rdma://127.0.0.1:$rdma_port/" &
    worker=$!
    while [[ $SECONDS -lt $deadline || $kills -lt 10 ]]; do
        sleep 1
        stop_server -KILL
        kills=$((kills + 1))
        start_server --export "$log/export" --no-root-squash
    done
    end_copies killed "$worker" "our server killed $kills times, a second after it listened"
}

survive_broken_link() {
    local worker
    start_relay "$rdma_port" --cut 1
    copy_until_enough cut "rdma://127.0.0.1:$relay_port/" &
    worker=$!
    sleep 15
    await 120 "5 lost connections" has_lost 5
    end_copies cut "$worker" "connection to our server cut every second"
    stop_relay
    stop_server
}

survive_restarted_kernel() {
    local worker deadline=$((SECONDS + 20)) restarts=0
    guest 60 start_kernel_server "$laboratory"
    copy_until_enough kernel "rdma://127.0.0.1:$guest_rdma_port/tmp/export" --mount-port "$guest_mount_port" &
    worker=$!
    until [[ $SECONDS -ge $deadline && $restarts -ge 5 ]] && has_lost 5; do
        sleep 1
        guest 60 restart_kernel_server "$laboratory"
        restarts=$((restarts + 1))
        [[ $restarts -lt 100 ]] || { say "100 restarts, and not 5 lost connections"; return 1; }
    done
    end_copies kernel "$worker" "kernel's server restarted $restarts times"
    guest 120 checksums /tmp/export/tree >"$log/sums.kernel"
    same "what was put and what the kernel's server has" "$log/sums.source" "$log/sums.kernel"
    guest 60 stop_kernel_server "$laboratory"
    # nfsd forgets a connection that came at the moment of its end (README.md), and its device cannot be removed any more.
    local forgotten
    forgotten=$(guest 30 connections)
    [[ -z $forgotten ]] || leave_guest "a connection that nfsd has forgotten, $forgotten"
}

# Copies the tree in and out again and again, until end_copies, and compares each copy: copy_until_enough NAME URL [OPTION...]
copy_until_enough() {
    local rounds=0
    until [[ -e $log/enough.$1 ]]; do
        begun_client put -r "${@:3}" "$log/tree" "$2"
        begun_client get -r "${@:3}" "${2%/}/tree" "$log/back.$1"
        checksums "$log/back.$1" >"$log/sums.$1"
        same "what was put and what came back" "$log/sums.source" "$log/sums.$1"
        rm -r "$log/back.$1"
        rounds=$((rounds + 1))
    done
    echo $rounds >"$log/rounds.$1"
}

# Runs our client, again if the server was away when it began. It tells of each connection that it loses.
begun_client() {
    local status
    local -x NFS_JAVA_OPTS=-Dorg.slf4j.simpleLogger.log.org.nettyrdma.example.nfs.client.ServerConnection=info
    while :; do
        status=0
        client 120 "$@" >>"$log/copies.log" || status=$?
        [[ $status -eq 3 ]] && tail -1 "$log/client.log" | grep -q 'cannot connect to' || return $status
    done
}

# Lets the copy under way end: end_copies NAME PROCESS WHAT
end_copies() {
    touch "$log/enough.$1"
    wait "$2"
    has_lost 5 || { say "fewer than 5 connections were lost in the middle"; return 1; }
    checked "$3: $(<"$log/rounds.$1") times $(wc -l <"$log/sums.source") files of 24 MiB put and got, $(lost) connections lost, SHA-256 equal"
    : >"$log/client.log"
}

# How many connections our client has lost in the middle of a command.
lost() {
    grep -c 'the connection was lost' "$log/client.log" || true
}

has_lost() {
    [[ $(lost) -ge $1 ]]
}
