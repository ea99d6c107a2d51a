# Debian packages: what the laboratory needs on the host, and what is only unpacked for the guest.

host_packages=(
    qemu-system-x86 busybox-static cpio kmod xz-utils iproute2 util-linux tshark fio
    rdma-core ibverbs-utils ibverbs-providers rdmacm-utils nfs-common rpcbind curl netcat-traditional
    gcc make perl linux-source-6.1
)

# The image and the NFS server are unpacked, not installed: the host keeps its own kernel and starts no server.
guest_packages=(nfs-kernel-server)

newest_kernel() {
    apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-//p' | head -1
}

update_package_lists() {
    local deadline=$((SECONDS + 120))
    # Another apt may have the lists, such as the daily one of a machine that has just started, and apt does not wait for it here.
    until apt-get update -qq >"$state/apt.log" 2>&1; do
        if ((SECONDS >= deadline)) || ! grep -q 'Could not get lock' "$state/apt.log"; then
            die "apt-get update failed: $(tail -3 "$state/apt.log")"
        fi
        sleep 2
    done
}

installed() {
    dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q ^ii
}

install_packages() {
    local package
    local -a missing=()
    for package in "$@"; do
        installed "$package" || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    say "installing ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 "${missing[@]}" >"$state/apt.log" 2>&1 ||
        die "apt-get install failed: $(tail -3 "$state/apt.log")"
}

# Downloads packages and unpacks them into a directory: unpack_packages DIRECTORY PACKAGE...
unpack_packages() {
    local directory=$1 download
    shift
    download=$(mktemp -d)
    chmod 755 "$download" # apt fetches as a user of its own
    mkdir -p "$directory"
    (cd "$download" && apt-get download -qq "$@") >"$state/apt.log" 2>&1 || die "apt-get download failed: $(tail -3 "$state/apt.log")"
    local file
    for file in "$download"/*.deb; do
        dpkg -x "$file" "$directory"
    done
    rm -r "$download"
}
