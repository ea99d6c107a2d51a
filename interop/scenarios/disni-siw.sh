# The contract of every provider, on the kernel's iWARP device.
peer="siw, in the guest"

scenario() {
    tolerate 'speed is unknown, defaulting to' # of the virtual network card
    tolerate 'siw: got TERMINATE' 'siw: siw_rx_umem: .* bogus addr' # the contract breaks the rules on purpose
    test_provider 580 siw tests org.nettyrdma.verbs.DisniVerbsContractTest org.nettyrdma.channel.DisniTransportTest
    guest 60 use_device siw
}
