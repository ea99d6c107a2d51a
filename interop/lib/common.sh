# Small things that every part needs.

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "interop: $*"
    exit 1
}

# Waits until a command succeeds: await SECONDS WHAT COMMAND...
await() {
    local limit=$1 what=$2 deadline=$((SECONDS + $1))
    shift 2
    until "$@"; do
        [[ $SECONDS -lt $deadline ]] || { say "gave up waiting for $what after $limit s"; return 1; }
        sleep 0.1
    done
}

port_is_listening() {
    [[ -n $(ss -Hltn "sport = :$1") ]]
}

# A TCP port of this host that nobody uses right now, outside of the range from which connections get theirs.
free_port() {
    local port
    while :; do
        port=$((10000 + RANDOM % 20000))
        if [[ -z $(ss -Hatn "sport = :$port") ]]; then
            echo "$port"
            return
        fi
    done
}

# Checksums of all files below a directory, sorted by name, symbolic links by their targets.
checksums() {
    (
        cd "$1"
        find . -type f -print0 | sort -z | xargs -0 -r sha256sum
        find . -type l -printf '%p -> %l\n' | sort
    )
}

same() {
    local what=$1 left=$2 right=$3
    if ! diff "$left" "$right" >"$log/differences"; then
        say "$what differs:"
        head -5 "$log/differences" >&2
        return 1
    fi
}

expect() {
    local what=$1 wanted=$2 got=$3
    [[ $wanted == "$got" ]] || { say "$what: expected '$wanted', got '$got'"; return 1; }
}

expect_at_least() {
    local what=$1 least=$2 got=$3
    ((got >= least)) || { say "$what: expected at least $least, got $got"; return 1; }
}
