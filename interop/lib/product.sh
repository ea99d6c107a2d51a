# Our own side, on the host: build it, start and stop the NFS server, run the client.

nfs=$product/example-nfs/nfs
server_pid=
server_count=0
server_rights=()
relay_pid=

build_product() {
    "$nfs" --version >"$state/build.log" 2>&1 || die "the product does not build: $(tail -5 "$state/build.log")"
}

# Starts our server on the host's loopback, which the guest sees as 10.0.2.2, and sets rdma_port and tcp_port. A server that is started again
# in the same scenario gets the same ports. With server_rights, options of setpriv, it runs with those.
start_server() {
    server_log=$log/server.$((++server_count)).log
    : >"$server_log"
    setpriv --pdeathsig TERM "${server_rights[@]}" "$nfs" serve --bind 127.0.0.1 --port "${rdma_port:-0}" --tcp-port "${tcp_port:-0}" --state-dir "$log/state" "$@" \
        >"$server_log" 2>&1 &
    server_pid=$!
    await 60 "the server" server_is_listening
    rdma_port=$(port_of rdma)
    tcp_port=$(port_of tcp)
}

server_is_listening() {
    kill -0 "$server_pid" && [[ -n $(port_of rdma) && -n $(port_of tcp) ]]
}

# The server prints the address of each transport, like rdma://127.0.0.1:20049/
port_of() {
    sed -n "s|.*$1://127.0.0.1:\([0-9]*\)/.*|\1|p" "$server_log"
}

stop_server() {
    [[ -n $server_pid ]] || return 0
    kill "${1:--TERM}" "$server_pid" 2>/dev/null || true
    wait "$server_pid" 2>/dev/null || true
    server_pid=
}

# Starts a relay and sets relay_port: start_relay TARGET_PORT [OPTION...]
start_relay() {
    relay_port=$(free_port)
    setpriv --pdeathsig TERM "$interop/lib/relay" "${@:2}" "$relay_port" "$1" >>"$log/relay.log" 2>&1 &
    relay_pid=$!
    await 60 "the relay" port_is_listening "$relay_port"
}

stop_relay() {
    [[ -n $relay_pid ]] || return 0
    kill "$relay_pid" 2>/dev/null || true
    wait "$relay_pid" 2>/dev/null || true
    relay_pid=
}

stop_product() {
    kill_capture
    stop_relay
    stop_server
}

# Runs our client with a time limit: client SECONDS COMMAND ARGUMENT... Over TCP also to our own server on this host, so that there is something
# to capture.
client() {
    timeout "$(allowed "$1")" "$nfs" "$2" --provider iwarp "${@:3}" 2>>"$log/client.log"
}

# A number that our side printed at its end, summed over connections; needs --statistics: statistic LOG NAME
statistic() {
    awk -v name="$2" '$1 == name { sum += $NF } END { print sum + 0 }' "$1"
}
