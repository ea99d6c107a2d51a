# Builds the laboratory: Debian's kernel, siw built for it, and an initramfs. Kept in the cache under the kernel's release.

# In the order of their use; modprobe adds what each depends on. rxe does not start without crc32.
guest_modules=(
    crc32_generic crc32_pclmul virtio_pci virtio_net 9pnet_virtio 9p overlay
    rdma_rxe siw rdma_ucm ib_uverbs rpcrdma nfsd nfs nfsv3 nfsv4
)

build_laboratory() {
    [[ $EUID -eq 0 ]] || die "must run as root"
    [[ -n $(newest_kernel) ]] || update_package_lists
    kernel=$(newest_kernel)
    [[ -n $kernel ]] || die "linux-image-amd64 is not known to apt: this needs Debian 12 on amd64"
    laboratory=$cache/$kernel
    if [[ ! -f $laboratory/root/boot/vmlinuz-$kernel ]]; then
        update_package_lists # what older lists name may be gone from the mirrors
        kernel=$(newest_kernel)
        laboratory=$cache/$kernel
    fi
    install_packages "${host_packages[@]}"
    type -p java >/dev/null || install_packages openjdk-17-jdk-headless
    type -p mvn >/dev/null || install_packages maven
    ! laboratory_is_fresh || return 0
    local lock
    exec {lock}>"$cache/lock"
    flock "$lock" # another run with the same cache may be building
    if ! laboratory_is_fresh; then
        say "building the laboratory for $kernel"
        install_packages "linux-headers-$kernel"
        unpack_kernel
        build_siw
        build_initramfs
    fi
    exec {lock}>&-
}

laboratory_is_fresh() {
    [[ $laboratory/initramfs.gz -nt $interop/guest/init && $laboratory/initramfs.gz -nt $interop/lib/laboratory.sh ]]
}

unpack_kernel() {
    [[ ! -d $laboratory/root ]] || return 0
    rm -rf "$laboratory/unpacked"
    unpack_packages "$laboratory/unpacked" "linux-image-$kernel" "${guest_packages[@]}"
    mv "$laboratory/unpacked" "$laboratory/root"
}

# Debian leaves the siw driver out of its kernel; its source is in the linux-source package.
build_siw() {
    local source=$laboratory/siw target=$laboratory/root/lib/modules/$kernel/kernel/drivers/infiniband/sw/siw
    [[ ! $target/siw.ko -nt $interop/lib/laboratory.sh ]] || return 0
    rm -rf "$source"
    mkdir -p "$source" "$target"
    tar -C "$source" --strip-components=5 -xf /usr/src/linux-source-6.1.tar.xz linux-source-6.1/drivers/infiniband/sw/siw
    keep_order_of_completions "$source/siw_qp.c"
    make -C "/usr/src/linux-headers-$kernel" "M=$source" CONFIG_RDMA_SIW=m modules >"$state/siw.log" 2>&1 ||
        die "siw does not build: $(tail -5 "$state/siw.log")"
    cp "$source/siw.ko" "$target"
    depmod -b "$laboratory/root" "$kernel"
}

# When a connection ends, siw first marks the queue pair as failed and then completes what was posted. A Send that is posted in between completes at once,
# before those posted earlier. xprtrdma relies on their order and has died of it: a null pointer in rpcrdma_sendctx_dma_unmap. Here the work requests
# complete first. A source with other lines is left as it is.
keep_order_of_completions() {
    sed '
        /^void siw_qp_llp_close(/,/^}/ {
            s/^{$/{\n\tbool was_idle;\n/
            s/^\tswitch (qp->attrs.state) {$/\twas_idle = tx_wqe(qp)->wr_status == SIW_WR_IDLE;\n\tsiw_sq_flush(qp);\n&/
            s/tx_wqe(qp)->wr_status == SIW_WR_IDLE)/was_idle)/
        }
        /^static int siw_qp_nextstate_from_rts(/,/^}/ s/^\t\t\tqp->attrs.state = SIW_QP_STATE_ERROR;$/\t\t\tsiw_sq_flush(qp);\n&/
    ' "$1" >"$1.new"
    if [[ $(diff "$1" "$1.new" | grep -c '^>') -eq 6 ]]; then
        mv "$1.new" "$1"
    else
        say "siw is built as it is: its source has changed"
    fi
}

build_initramfs() {
    local tree=$laboratory/initramfs number=100 module
    rm -rf "$tree"
    mkdir -p "$tree"/{bin,dev,proc,sys,modules,host,overlay,root}
    cp /bin/busybox "$tree/bin/busybox"
    install -m 755 "$interop/guest/init" "$tree/init"
    for module in $(modules_in_order); do
        cp "$module" "$tree/modules/$((number++))-$(basename "$module")"
    done
    (cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$laboratory/initramfs.new"
    mv "$laboratory/initramfs.new" "$laboratory/initramfs.gz"
}

# Files of the modules and of their dependencies, each once and after what it needs.
modules_in_order() {
    local module
    for module in "${guest_modules[@]}"; do
        modprobe -d "$laboratory/root" -S "$kernel" -D "$module" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
    done | awk '!seen[$0]++'
}
