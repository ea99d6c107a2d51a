# The contract of every provider, on the kernel's iWARP device.
peer="siw, in the guest"
by_name_only="has not passed twice in a row yet"

scenario() {
    tolerate 'speed is unknown, defaulting to' # of the virtual network card
    tolerate 'siw: got TERMINATE' 'siw: siw_rx_umem: .* bogus addr' # the contract breaks the rules on purpose
    test_provider 240 siw verbs org.nettyrdma.verbs.DisniVerbsContractTest
    checked "$(sed -n 's/.* - RDMA device //p' "$log/verbs.log" | head -1)"
    checked "contract of the verbs: $tests"
    test_provider 600 siw transport org.nettyrdma.channel.DisniTransportTest
    checked "contract of the channel: $tests"
    guest 20 use_device siw
}
