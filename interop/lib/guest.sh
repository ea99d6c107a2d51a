# The virtual machine: start, stop, and run commands in it.

guest_pid=
guest_directory=$state/guest
job_count=0

guest_is_running() {
    [[ -n $guest_pid ]] && kill -0 "$guest_pid" 2>/dev/null
}

# Boots the guest unless it runs. Its first serial line is the console, the second carries the numbers of jobs.
start_guest() {
    guest_is_running && return
    local directory=$guest_directory
    rm -rf "$directory"
    mkdir -p "$directory/share/jobs"
    cp -r "$interop/guest" "$directory/share/guest"
    mkfifo "$directory/line.in" "$directory/line.out"
    console=$directory/console
    guest_rdma_port=$(free_port) guest_mount_port=$(free_port) guest_nfs_port=$(free_port) guest_stream_port=$(free_port)
    local forward=hostfwd=tcp:127.0.0.1
    # The guest's cycle counter is the host's. It would not trust it, and ask an emulated device for the time, which takes ten times as long.
    # Nor is it to measure how fast it counts: where other programs have the processors meanwhile, it is wrong by several times, and so is all time.
    local clock=
    if grep -qsw tsc /sys/devices/system/clocksource/clocksource0/available_clocksource; then
        gcc -O2 -o "$directory/cycle-rate" "$interop/guest/cycle-rate.c"
        clock="tsc=reliable tsc_early_khz=$("$directory/cycle-rate" | awk '{ printf "%d", $1 * 1000 }')"
    fi
    # What qemu has translated of a program and its libraries serves the next process that has them at the same addresses, hence norandmaps: to start a
    # process takes a third less.
    # The hypervisor's KVM may be announced and yet hang, so the processor is always emulated.
    setpriv --pdeathsig KILL nice -n 10 qemu-system-x86_64 \
        -machine q35 -accel tcg,thread=multi -cpu max -smp 2 -m 4096 -no-reboot -display none -monitor none \
        -kernel "$laboratory/root/boot/vmlinuz-$kernel" -initrd "$laboratory/initramfs.gz" \
        -append "console=ttyS0 quiet panic=-1 rdinit=/init mitigations=off norandmaps no_timer_check $clock" \
        -serial "file:$console" -chardev "pipe,id=line,path=$directory/line" -serial chardev:line \
        -virtfs "local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap" \
        -virtfs "local,path=$directory/share,mount_tag=share,security_model=none" \
        -netdev "user,id=net,$forward:$guest_rdma_port-:20049,$forward:$guest_mount_port-:20048,$forward:$guest_nfs_port-:2049,$forward:$guest_stream_port-:7471" \
        -device virtio-net-pci,netdev=net >"$directory/qemu.log" 2>&1 &
    guest_pid=$!
    exec {line_in}<>"$directory/line.in" {line_out}<>"$directory/line.out"
    await_job ready 300 || { say "the guest does not boot: $(cat "$directory/qemu.log")"; tail -20 "$console" >&2; stop_guest; return 1; }
}

stop_guest() {
    [[ -n $guest_pid ]] || return 0
    kill "$guest_pid" 2>/dev/null || true
    wait "$guest_pid" 2>/dev/null || true
    guest_pid=
    exec {line_in}>&- {line_out}>&-
}

# Starts a command of the guest (functions of guest/library.sh too) and sets `job` to its number: start_job COMMAND...
# A scenario runs in a subshell of its own, so numbers carry the scenario's process to stay different.
start_job() {
    job=$BASHPID.$((++job_count))
    local directory=$guest_directory/share/jobs/$job
    mkdir "$directory"
    printf '%q ' "$@" >"$directory/command"
    echo "$job" >&"$line_in"
}

# Waits for a job's end and returns its status: await_job NUMBER SECONDS. The status file in the share is what counts, the line only tells when to
# look, so it does not matter who reads it.
await_job() {
    local number=$1 limit status=$guest_directory/share/jobs/$1/status
    limit=$(allowed "$2")
    local deadline=$((SECONDS + limit))
    until [[ -s $status ]]; do
        guest_is_running || { say "the guest has died"; return 1; }
        [[ $SECONDS -lt $deadline ]] || { say "job $number did not end within $limit s"; show_blocked_tasks; return 124; }
        read -r -t 0.2 <&"$line_out" || true
    done
    return "$(<"$status")"
}

# Where the kernel holds what does not go on. Not by start_job: who waited wants the number of the job that hangs.
show_blocked_tasks() {
    local name=blocked.$BASHPID.$SECONDS
    local directory=$guest_directory/share/jobs/$name
    mkdir "$directory"
    echo blocked_tasks >"$directory/command"
    echo "$name" >&"$line_in"
    for _ in {1..50}; do
        [[ ! -s $directory/status ]] || break
        sleep 0.2
    done
    cat "$directory/output" >&2 || say "the guest begins no more jobs"
}

# What the scenario has left behind must not fail those that follow: leave_guest REASON
leave_guest() {
    say "   $*: another guest for what follows"
    touch "$log/guest.left"
}

job_file() {
    echo "$guest_directory/share/jobs/$job/$1"
}

# Runs a command in the guest and prints what it prints: guest SECONDS COMMAND...
guest() {
    local limit=$1 status=0
    shift
    start_job "$@"
    await_job "$job" "$limit" || status=$?
    if [[ $status -eq 0 ]]; then
        cat "$(job_file output)"
    else
        say "in the guest: $* ended with status $status"
        tail -15 "$(job_file output)" >&2
    fi
    return $status
}

# Passes when the guest's command fails with the given text in its output: guest_fails SECONDS TEXT COMMAND...
guest_fails() {
    local limit=$1 text=$2 status=0
    shift 2
    start_job "$@"
    await_job "$job" "$limit" || status=$?
    [[ $status -ne 124 ]] || return 1
    [[ $status -ne 0 ]] || { say "in the guest: $* should have failed with '$text'"; return 1; }
    grep -qi -- "$text" "$(job_file output)" || {
        say "in the guest: $* should have failed with '$text', but said:"
        cat "$(job_file output)" >&2
        return 1
    }
}

# The guest's share is here on the host and at /share in the guest.
share() {
    echo "$guest_directory/share"
}

# What the kernel always says: iw_cm misses the port mapper's daemon, nfsd opens its grace period, an emulated processor is slow.
kernel_log_mark() {
    tolerated=('iwpm_register_pid: Unable to send' 'NFSD: Using .* recovery directory' 'NFSD: starting .* grace period' 'hrtimer: interrupt took')
    guest 60 dmesg --clear
}

# Kernel messages that a scenario provokes on purpose, as extended regular expressions.
tolerate() {
    tolerated+=("$@")
}

# Warnings and worse since the mark fail the scenario.
kernel_log_check() {
    guest 60 dmesg >"$log/dmesg"
    guest 60 dmesg --level=emerg,alert,crit,err,warn >"$log/complaints"
    local pattern
    for pattern in "${tolerated[@]}"; do
        grep -Ev -- "$pattern" "$log/complaints" >"$log/complaints.left" || true
        mv "$log/complaints.left" "$log/complaints"
    done
    [[ ! -s $log/complaints ]] || { say "the kernel complains:"; cat "$log/complaints" >&2; return 1; }
}
