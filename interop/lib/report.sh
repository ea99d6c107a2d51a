# What the run found.

# A scenario says what it has checked, one line each.
checked() {
    say "   $*"
    echo "$*" >>"$log/checked"
}

note_failure() {
    say "   failed at $2:$3 (status $1): $4"
}

# report_result INDEX passed|FAILED SECONDS
report_result() {
    local peer
    peer=$(sed -n 's/^peer="\(.*\)"$/\1/p' "$interop/scenarios/${names[$1]}.sh")
    echo "$peer|$2|$3" >"$state/result.$1"
    say "   $2 after $3 s"
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
    local index name peer result seconds
    printf '\n%-12s %-20s %-7s %8s  %s\n' scenario peer result seconds checked
    for index in "${!names[@]}"; do
        name=${names[index]}
        IFS='|' read -r peer result seconds <"$state/result.$index"
        printf '%-12s %-20s %-7s %8s  ' "$name" "$peer" "$result" "$seconds"
        if [[ -s $state/$name/checked ]]; then
            sed "2,\$s/^/$(printf '%52s' '')/" "$state/$name/checked"
        else
            echo
        fi
    done
}

all_have_passed() {
    local index
    for index in "${!names[@]}"; do
        grep -qs '|passed|' "$state/result.$index" || return 1
    done
}

remove_state_without_failures() {
    if grep -qs '|FAILED|' "$state"/result.*; then
        say "logs are in $state"
    elif [[ ! -s $state/died ]]; then
        rm -rf "$state"
    fi
}

# Two figures, the first as a multiple of the second.
ratio() {
    awk "BEGIN { printf \"%.2f\", $1 / $2 }"
}

median() {
    printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}
