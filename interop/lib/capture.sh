# Captures of the host's loopback, and tshark to read them.

capture_pid=

# Captures a TCP port of the loopback into a file: capture PORT FILE
capture() {
    capture_file=$2
    setpriv --pdeathsig TERM dumpcap -q -i lo -B 64 -f "tcp port $1 or udp port 9" -w "$capture_file" 2>>"$log/capture.log" &
    capture_pid=$!
    await 10 "the capture" test -s "$capture_file"
}

# Ends the capture when it has seen a last datagram, and with it all that came before.
stop_capture() {
    [[ -n $capture_pid ]] || return 0
    echo "end of capture" >/dev/udp/127.0.0.1/9
    await 10 "the end of the capture" capture_has_ended
    kill -INT "$capture_pid" 2>/dev/null || true
    wait "$capture_pid" 2>/dev/null || true
    capture_pid=
    ! grep -E 'dropped on .*: [0-9]+/[1-9]' "$log/capture.log" || { say "the capture has lost packets"; return 1; }
}

capture_has_ended() {
    tail -c 4096 "$capture_file" | grep -qa "end of capture"
}

tshark_reads() {
    tshark -n -o tcp.try_heuristic_first:TRUE -o tcp.desegment_tcp_streams:TRUE -r "$1" "${@:2}" 2>>"$log/tshark.log"
}

# The values of a field, one line for each frame: fields FILE FIELD [FILTER]
fields() {
    tshark_reads "$1" -T fields -e "$2" -Y "${3:-$2}"
}
