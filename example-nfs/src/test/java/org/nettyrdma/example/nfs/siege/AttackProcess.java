package org.nettyrdma.example.nfs.siege;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.nettyrdma.example.nfs.siege.Attack.Attacker;

/**
 * Attacks a server, one attack for some time, from a process of its own. Writes a line when all connections were tried once, or
 * after ten seconds, and one at the end that says what has become of them.
 */
final class AttackProcess {

    private static final long RECONNECT_MILLIS = 100;
    /** A server that does not let everybody in makes connecting slow. */
    private static final long FIRST_TURN_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Attack attack;
    private final AttackTarget target;
    private final Attacker[] attackers;
    private final long[] dueNanos;
    private long opened;
    private long refused;
    private long ended;
    private long messages;

    private AttackProcess(Attack attack, AttackTarget target) {
        this.attack = attack;
        this.target = target;
        attackers = new Attacker[attack.connections()];
        dueNanos = new long[attackers.length];
        Arrays.fill(dueNanos, System.nanoTime());
    }

    /** ATTACK SECONDS RDMA_PORT TCP_PORT FILE_HANDLE. */
    public static void main(String[] arguments) {
        AttackProcess process = new AttackProcess(Attack.valueOf(arguments[0]),
                AttackTarget.parse(arguments[2], arguments[3], arguments[4]));
        process.run(TimeUnit.SECONDS.toNanos(Integer.parseInt(arguments[1])));
    }

    private void run(long durationNanos) {
        turn(System.nanoTime() + FIRST_TURN_NANOS);
        System.out.println("begun");
        long endNanos = System.nanoTime() + durationNanos;
        while (System.nanoTime() - endNanos < 0) {
            turn(endNanos);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        long standing = Arrays.stream(attackers).filter(attacker -> attacker != null).count();
        for (int i = 0; i < attackers.length; i++) {
            close(i);
        }
        System.out.println(opened + " connections, " + refused + " refused, " + ended + " ended, " + standing + " standing, "
                + messages + " messages");
    }

    private void turn(long endNanos) {
        for (int i = 0; i < attackers.length; i++) {
            if (System.nanoTime() - dueNanos[i] >= 0) {
                step(i);
            }
            if (System.nanoTime() - endNanos >= 0) {
                return;
            }
        }
    }

    private void step(int i) {
        int waitMillis;
        boolean connecting = attackers[i] == null;
        try {
            if (connecting) {
                attackers[i] = attack.open(target, i);
                opened++;
            }
            attackers[i].step().run();
            waitMillis = attackers[i].everyMillis();
            if (!attackers[i].stream().channel().isOpen()) {
                close(i); // by its own will
            }
        } catch (SocketTimeoutException e) {
            refused++;
            waitMillis = (int) RECONNECT_MILLIS;
        } catch (IOException e) {
            if (connecting && attackers[i] == null) {
                refused++;
            } else {
                ended++;
            }
            close(i);
            waitMillis = (int) RECONNECT_MILLIS;
        }
        dueNanos[i] = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
    }

    private void close(int i) {
        if (attackers[i] != null) {
            messages += attackers[i].stream().messages();
            attackers[i].stream().close();
            attackers[i] = null;
        }
    }
}
