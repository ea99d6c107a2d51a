package org.nettyrdma.codec.rpcrdma.soak;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.nettyrdma.codec.oncrpc.client.CuttingRelay;

/**
 * What lies between clients and servers of the soak: {@code SoakNetwork PORT...} prints a port for each port of a server. It cuts
 * each connection sooner or later, in the middle of a message. One of eight is slow.
 */
final class SoakNetwork {

    private static final int MAX_BYTES = 3 << 20;

    private SoakNetwork() {
    }

    public static void main(String[] arguments) throws Exception {
        Random random = new Random();
        List<CuttingRelay> relays = new ArrayList<>();
        StringBuilder ports = new StringBuilder("listening");
        for (String argument : arguments) {
            InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(argument));
            CuttingRelay relay = new CuttingRelay(() -> server, () -> random.nextInt(MAX_BYTES),
                    () -> random.nextInt(8) == 0 ? 10 : 0);
            relays.add(relay);
            ports.append(' ').append(((InetSocketAddress) relay.address()).getPort());
        }
        System.out.println(ports);
        while (true) {
            Thread.sleep(10_000);
            System.out.println("cuts " + relays.stream().mapToInt(CuttingRelay::cuts).sum());
        }
    }
}
