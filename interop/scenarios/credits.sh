# 64 threads of small operations against servers that grant few and many credits.
peer="kernel client, siw"

scenario() {
    local credits rate
    local -a rates=()
    mkdir "$log/export"
    for credits in 1 8 32 128; do
        start_server --export "$log/export" --no-root-squash --credits "$credits"
        guest 30 mount_product "$rdma_port" "$tcp_port"
        guest 90 small_operations >"$log/fio.$credits.log"
        rate=$(awk -F';' 'NF > 49 { print $8 + $49 }' "$log/fio.$credits.log")
        guest 60 transport_counters >"$log/counters.$credits"
        guest 30 umount /mnt
        stop_server
        source "$log/counters.$credits"
        expect "connections made with $credits credits" 1 "$connects"
        expect "bad replies with $credits credits" 0 "$bad_reply"
        rates+=("$credits: $rate/s")
    done
    checked "64 threads of 512-byte reads and writes by credits: ${rates[*]}"
    checked "one connection each time: no receive overrun on either side"
}
