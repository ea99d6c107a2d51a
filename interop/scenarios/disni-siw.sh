# The contract of every provider, on the kernel's iWARP device.
peer="siw, in the guest"

scenario() {
    test_provider 240 siw verbs org.nettyrdma.verbs.DisniVerbsContractTest
    checked "$(sed -n 's/.* - RDMA device //p' "$log/verbs.log" | head -1)"
    checked "contract of the verbs: $tests"
    test_provider 600 siw transport org.nettyrdma.channel.DisniTransportTest
    checked "contract of the channel: $tests"
    guest 20 use_device siw
}
