# The contract of every provider, on the kernel's RoCE device.
peer="rxe, in the guest"

scenario() {
    tolerate 'speed is unknown, defaulting to' # rxe, of the virtual network card
    tolerate 'rxe_invalidate_mr: ' # the contract withdraws keys that do not exist
    test_provider 580 rxe tests $no_short_memory org.nettyrdma.verbs.DisniVerbsContractTest org.nettyrdma.channel.DisniTransportTest
    guest 60 use_device siw
}
