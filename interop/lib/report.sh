# What the run found.

results=()

# A scenario says what it has checked, one line each.
checked() {
    say "   $*"
    echo "$*" >>"$log/checked"
}

note_failure() {
    say "   failed at $2:$3 (status $1): $4"
}

report_result() {
    local name=$1 result=$2 seconds=$3 peer
    peer=$(sed -n 's/^peer="\(.*\)"$/\1/p' "$interop/scenarios/$name.sh")
    results+=("$name|$peer|$result|$seconds")
    say "   $result after $seconds s"
}

# The tails of everything that may tell why, with what the last jobs of the guest have said.
show_failure() {
    local file
    local -a outputs
    mapfile -t outputs < <(ls -t "$(share)"/jobs/*/output 2>/dev/null | head -3)
    for file in "$log"/*.log "${outputs[@]}" "$console"; do
        [[ -s $file ]] || continue
        say "-- last lines of $file"
        tail -n 12 "$file" >&2
    done
}

print_report() {
    local row name peer result seconds
    printf '\n%-12s %-20s %-7s %8s  %s\n' scenario peer result seconds checked
    for row in "${results[@]}"; do
        IFS='|' read -r name peer result seconds <<<"$row"
        printf '%-12s %-20s %-7s %8s  ' "$name" "$peer" "$result" "$seconds"
        if [[ -s $state/$name/checked ]]; then
            sed "2,\$s/^/$(printf '%52s' '')/" "$state/$name/checked"
        else
            echo
        fi
    done
}

remove_state_without_failures() {
    local row
    for row in "${results[@]}"; do
        [[ $row != *'|FAILED|'* ]] || { say "logs are in $state"; return; }
    done
    [[ ${#died[@]} -eq 0 ]] || return 0
    rm -rf "$state"
}

# Two figures, the first as a multiple of the second.
ratio() {
    awk "BEGIN { printf \"%.2f\", $1 / $2 }"
}

median() {
    printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}
