# The contract of every provider, on the kernel's RoCE device.
peer="rxe, in the guest"
by_name_only="has not passed twice in a row yet"

scenario() {
    tolerate 'speed is unknown, defaulting to' # rxe, of the virtual network card
    tolerate 'rxe_invalidate_mr: ' # the contract withdraws keys that do not exist
    test_provider 240 rxe verbs org.nettyrdma.verbs.DisniVerbsContractTest
    checked "$(sed -n 's/.* - RDMA device //p' "$log/verbs.log" | head -1)"
    checked "contract of the verbs: $tests"
    test_provider 600 rxe transport org.nettyrdma.channel.DisniTransportTest
    checked "contract of the channel: $tests"
    guest 20 use_device siw
}
