# A device that leaves while a process uses it, and comes back: the process lets it go, and uses it again.
peer="siw and rxe, in the guest"

scenario() {
    tolerate 'speed is unknown, defaulting to' # of the virtual network card
    local device
    for device in rxe siw; do
        test_provider 200 $device "tests.$device" "-Drdma.software=$device" org.nettyrdma.channel.DeviceRemovalTest
    done
    guest 60 use_device siw
}
