# Small things that every part needs.

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "interop: $*"
    exit 1
}

# A limit is for one guest at a time, which has the processors to itself: allowed SECONDS
allowed() {
    echo $(($1 * guests))
}

# Waits until a command succeeds: await SECONDS WHAT COMMAND...
await() {
    local limit what=$2
    limit=$(allowed "$1")
    local deadline=$((SECONDS + limit))
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

# Compares what a command prints: expect_output WHAT WANTED COMMAND...
expect_output() {
    local got
    got=$("${@:3}") || return
    expect "$1" "$2" "$got"
}

expect_at_least() {
    local what=$1 least=$2 got=$3
    ((got >= least)) || { say "$what: expected at least $least, got $got"; return 1; }
}

# A directory tree of about so many MiB: large files, odd sizes around the thresholds, small ones, depth, links: make_tree DIRECTORY MIB
make_tree() {
    local directory=$1 mebibytes=$2 size number
    mkdir -p "$directory"/{small,sizes,deep/er/and/deep/er}
    head -c $((mebibytes * 1048576 / 2 + 1)) /dev/urandom >"$directory/large"
    for number in 1 2 3; do
        head -c $((mebibytes * 1048576 / 8 + number)) /dev/urandom >"$directory/deep/medium-$number"
    done
    for size in 0 1 2 3 4 1023 1024 1025 3947 3948 3949 4095 4096 4097 65535 65536 65537; do
        head -c $size /dev/urandom >"$directory/sizes/$size"
    done
    for number in {1..300}; do
        head -c $((number * 7)) /dev/urandom >"$directory/small/file-$number"
    done
    ln -s ../large "$directory/deep/er/link"
    echo deep >"$directory/deep/er/and/deep/er/file"
}
