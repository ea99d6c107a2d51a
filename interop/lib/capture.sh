# Captures of the host's loopback, and tshark to read them.

capture_pid=

# Captures a TCP port of the loopback into a file: capture PORT FILE
capture() {
    capture_file=$2
    setpriv --pdeathsig TERM dumpcap -q -i lo -B 64 -f "tcp port $1 or udp port 9" -w "$capture_file.raw" 2>>"$log/capture.log" &
    capture_pid=$!
    await 60 "the capture" test -s "$capture_file.raw"
}

# Ends the capture when it has seen a last datagram, and with it all that came before, and puts each MPA frame into a packet of its own. The datagram has
# the name of the file, for there may be another capture.
stop_capture() {
    echo "end of $capture_file" >/dev/udp/127.0.0.1/9
    await 60 "the end of the capture" capture_has_ended
    kill_capture
    ! grep -E 'dropped on .*: [0-9]+/[1-9]' "$log/capture.log" || { say "the capture has lost packets"; return 1; }
    "$interop/lib/align" "$capture_file.raw" "$capture_file" 2>>"$log/tshark.log"
}

capture_has_ended() {
    tail -c 4096 "$capture_file.raw" | grep -qaF "end of $capture_file"
}

kill_capture() {
    [[ -n $capture_pid ]] || return 0
    kill -INT "$capture_pid" 2>/dev/null || true
    wait "$capture_pid" 2>/dev/null || true
    capture_pid=
}

tshark_reads() {
    tshark -n -o tcp.try_heuristic_first:TRUE -r "$1" "${@:2}" 2>>"$log/tshark.log"
}

# How many packets a filter selects: packets FILE FILTER
packets() {
    tshark_reads "$1" -Y "$2" | wc -l
}
