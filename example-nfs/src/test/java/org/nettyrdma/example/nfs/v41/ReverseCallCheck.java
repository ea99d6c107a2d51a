package org.nettyrdma.example.nfs.v41;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.nettyrdma.channel.RdmaEventLoopGroup;

/**
 * Makes an NFS version 4.1 server call its client over the connection that the client made: opens files of the root
 * directory with read delegations, and returns each one when the server calls it back, which it does as soon as somebody
 * writes to the file. Arguments: host, port, seconds to wait for each callback, file names. Exit status 0 if all were called
 * back, 1 if not.
 */
public final class ReverseCallCheck {

    private static final int SLOTS = 4;

    private ReverseCallCheck() {
    }

    public static void main(String[] arguments) {
        InetSocketAddress server = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        int seconds = Integer.parseInt(arguments[2]);
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1);
        int status = 1;
        try {
            status = check(group, server, seconds, Arrays.copyOfRange(arguments, 3, arguments.length)) ? 0 : 1;
        } catch (Exception e) {
            e.printStackTrace();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
        System.exit(status);
    }

    private static boolean check(RdmaEventLoopGroup group, InetSocketAddress server, int seconds, String... names)
            throws Exception {
        BlockingQueue<StateId> recalls = new LinkedBlockingQueue<>();
        AtomicInteger callbacks = new AtomicInteger();
        CallbackSession session = new CallbackSession(SLOTS);
        CallbackProgram program = new CallbackProgram(session, callback -> {
            callbacks.incrementAndGet();
            System.out.println("callback: " + callback);
        }, recalls::add);
        try (Nfs41Client client = Nfs41Client.connect(group, server, session, program)) {
            client.exchangeId("netty-rdma reverse call check");
            System.out.println("back channel on this connection: " + client.createSession());
            client.reclaimComplete();
            client.sequence();
            boolean recalled = true;
            for (String name : names) {
                recalled &= recalled(client, name, seconds, recalls);
            }
            client.destroySession();
            System.out.println(callbacks + " callbacks");
            return recalled && callbacks.get() > 0;
        }
    }

    private static boolean recalled(Nfs41Client client, String name, int seconds, BlockingQueue<StateId> recalls)
            throws Exception {
        Nfs41Client.OpenedFile file = client.open(name);
        System.out.println("delegated: " + name);
        StateId recall = recalls.poll(seconds, TimeUnit.SECONDS);
        client.returnDelegation(file);
        client.closeFile(file);
        boolean right = recall != null && Arrays.equals(recall.other(), file.delegation().other());
        System.out.println((right ? "returned: " : "not called back: ") + name);
        return right;
    }
}
