# A native library that can do no more than upstream's own: ours without the methods that DiSNI lacks. The provider must say what is missing and keep to what is
# safe. And the way of opening memory that only a user can choose.
peer="siw and rxe, in the guest"

scenario() {
    tolerate 'speed is unknown, defaulting to' # rxe, of the virtual network card
    tolerate 'rxe_invalidate_mr: ' 'siw: got TERMINATE' 'siw: siw_rx_umem: .* bogus addr' # the contract breaks the rules on purpose
    local device tests=org.nettyrdma.verbs.DisniVerbsContractTest
    build_upstream_library
    for device in rxe siw; do
        test_provider 400 $device "upstream.$device" "$upstream_library" -Dnettyrdma.nativeLibrary=false $no_short_memory $tests
        grep -q "upstream's native library, no private data.*registration for one call each" "$log/upstream.$device.log"
        test_provider 400 $device "persistent.$device" -Dorg.nettyrdma.disni.persistentRegions=true $no_short_memory $tests
        grep -q "PERSISTENT KEYS" "$log/persistent.$device.log"
    done
}
