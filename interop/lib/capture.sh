# Captures of the host's loopback, and tshark to read them.

capture_pid=

# Captures a TCP port of the loopback into a file: capture PORT FILE
capture() {
    setpriv --pdeathsig TERM dumpcap -q -i lo -B 64 -f "tcp port $1" -w "$2" 2>>"$log/capture.log" &
    capture_pid=$!
    await 10 "the capture" test -s "$2"
}

# Ends the capture when it has seen what there was.
stop_capture() {
    [[ -n $capture_pid ]] || return 0
    kill -INT "$capture_pid" 2>/dev/null || true
    wait "$capture_pid" 2>/dev/null || true
    capture_pid=
    ! grep -E 'dropped on .*: [0-9]+/[1-9]' "$log/capture.log" || { say "the capture has lost packets"; return 1; }
}

tshark_reads() {
    tshark -n -o tcp.try_heuristic_first:TRUE -o tcp.desegment_tcp_streams:TRUE -r "$1" "${@:2}" 2>>"$log/tshark.log"
}

# The values of a field, one line for each frame: fields FILE FIELD [FILTER]
fields() {
    tshark_reads "$1" -T fields -e "$2" -Y "${3:-$2}"
}
