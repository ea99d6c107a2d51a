# 64 clients of ours for an hour: servers killed and ended, connections cut, slow readers. No lost or doubled call, nothing grows.
peer="our own ends"
by_name_only="takes an hour, or SOAK_MINUTES"
alone="it compares memory and times over an hour"

scenario() {
    local seconds=$((${SOAK_MINUTES:-60} * 60)) class_path ports clients
    class_path=$(soak_class_path)
    soak_begin lasting 0
    mortal_port=$(free_port) # one of the system's choice may go to another process while the server is away
    soak_begin mortal 0
    run_soak network SoakNetwork "$lasting_port" "$mortal_port"
    await 60 "the network" soak_listens network
    read -ra ports < <(sed -n 's/^listening //p' "$log/network.log")
    run_soak clients SoakClients "$seconds" "$log/outcomes" "${ports[@]}"
    clients=$soak_pid
    soak_kills
    wait "$clients" || say "the clients have ended with status $?"
    stop_soak_server mortal TERM
    stop_soak_server lasting TERM
    soak_judge calls "$log/outcomes" "$log/mortal.ledger" "$log/lasting.ledger"
    soak_judge memory "$log/clients.log" "$log/lasting.log"
    if grep -hE '^FAULT|LEAK' "$log"/{network,clients,lasting,mortal,mortal.earlier}.log | awk 'NR <= 20' >&2; then
        return 1
    fi
    checked "$((seconds / 60)) minutes: $kills servers killed, $ends ended by SIGTERM, $(grep '^cuts' "$log/network.log" | tail -1 | cut -d' ' -f2)" \
        "connections cut; $(sed -n 's/^ended .*\(clients.*\), under.*/\1/p' "$log/clients.log")"
}

# Kills the mortal server again and again, as long as the clients live; its next process comes at once or a little later.
soak_kills() {
    local process=0
    kills=0 ends=0
    while kill -0 "$clients" 2>/dev/null; do
        sleep $((2 + RANDOM % 12))
        kill -0 "$lasting_pid" || { say "the lasting server has ended"; return 1; }
        if ((RANDOM % 3)); then
            stop_soak_server mortal KILL
            kills=$((kills + 1))
        else
            stop_soak_server mortal TERM
            ends=$((ends + 1))
        fi
        ((RANDOM % 2)) || sleep $((RANDOM % 3))
        soak_begin mortal $((++process))
    done
}

# Starts a server, at the same port as the one before: soak_begin lasting|mortal PROCESS
soak_begin() {
    local port=$1_port
    cat "$log/$1.log" >>"$log/$1.earlier.log" 2>/dev/null || true
    run_soak "$1" SoakServer "${!port:-0}" "$log/$1.ledger" "$2"
    printf -v "$1_pid" %s "$soak_pid"
    await 60 "the server" soak_listens "$1"
    printf -v "$1_port" %s "$(sed -n 's/^listening //p' "$log/$1.log")"
}

stop_soak_server() {
    local pid=$1_pid
    kill "-$2" "${!pid}"
    wait "${!pid}" 2>/dev/null || true
}

soak_listens() {
    grep -q '^listening' "$log/$1.log"
}

# Starts a class of the soak and sets soak_pid: run_soak LOG CLASS ARGUMENT... The heap is all there from the start, so that what grows is seen.
run_soak() {
    : >"$log/$1.log"
    MALLOC_ARENA_MAX=2 setpriv --pdeathsig KILL nice -n 5 java -Xms192m -Xmx192m -XX:+AlwaysPreTouch -XX:+UseSerialGC \
        -XX:MaxDirectMemorySize=1g -Dio.netty.leakDetection.level=advanced -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
        -cp "$class_path" "org.nettyrdma.codec.rpcrdma.soak.$2" "${@:3}" >>"$log/$1.log" 2>&1 &
    soak_pid=$!
}

soak_judge() {
    local status=0
    java -cp "$class_path" org.nettyrdma.codec.rpcrdma.soak.SoakJudge "$@" >"$log/judgement.$1" || status=$?
    cat "$log/judgement.$1" >&2
    [[ $status -eq 0 ]] || return "$status"
    while read -r line; do
        checked "$line"
    done <"$log/judgement.$1"
}

# The codec, its tests, and what they need.
soak_class_path() {
    mvn -q -B -Dstyle.color=never -f "$product/pom.xml" -pl codec-rpcrdma -am -DskipTests -Dnettyrdma.skipFuzzing \
        package dependency:build-classpath "-Dmdep.outputFile=$log/libraries" -Dmdep.includeScope=test >"$log/build.log" 2>&1 ||
        { say "the tests do not build: $(tail -5 "$log/build.log")"; return 1; }
    echo "$product/codec-rpcrdma/target/test-classes:$product/codec-rpcrdma/target/classes:$(<"$log/libraries")"
}
