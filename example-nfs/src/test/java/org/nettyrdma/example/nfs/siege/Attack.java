package org.nettyrdma.example.nfs.siege;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Locale;

/** The ways to take more than one's share. Each is a number of connections that are made again when the server ends them. */
enum Attack {

    /** An error for each message, and nobody reads them. */
    MALFORMED_HEADERS(8) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return flood(target, turn, Calls.hex("00000005 00000001 00000020 00000000 00000007 00000000 00000000"));
        }
    },
    VERSION_ERRORS(8) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return flood(target, turn, Calls.hex("00000005 00000009 00000020 00000000 00000000 00000000 00000000"));
        }
    },
    MALFORMED_OF_VERSION_TWO(8) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return flood(target, turn, Calls.hex("00000007 00000002 00000001 00000005 00000000 00000000 00000007"));
        }
    },
    /** As many FPDUs as there can be in a stream, none of which says anything. */
    EMPTY_SEGMENTS(40) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return flood(target, turn, new byte[0]);
        }
    },
    UNREAD_SMALL_REPLIES(8) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return flood(target, turn, Calls.message(5, Calls.noLists(), Calls.nullCall(5)));
        }
    },
    /** Replies of almost the largest size that needs no chunk, to many connections that take none. */
    UNREAD_INLINE_REPLIES(400) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            byte[] call = Calls.message(6, Calls.noLists(), Calls.read(6, target.fileHandle(), 3900));
            RawRdmaStream stream = manyCalls(target, turn, 32, call);
            return new Attacker(stream, 500, () -> {
                stream.flush();
                for (int i = 0; i < 32 && stream.isFlushed(); i++) {
                    stream.offer(call);
                    stream.flush();
                }
            });
        }
    },
    /** As many READs of 1 MiB as the server grants, whose data nobody takes. */
    UNREAD_REPLIES(64) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return silent(reads(target, turn, 128, 1 << 20));
        }
    },
    UNANSWERED_READS(64) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return silent(writes(target, turn, 128));
        }
    },
    /** Takes 16 KiB a second. */
    TRICKLED_REPLIES(64) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            RawRdmaStream stream = reads(target, turn, 128, 1 << 20);
            ByteBuffer some = ByteBuffer.allocate(16_384);
            return new Attacker(stream, 1000, () -> {
                stream.discard(some);
                stream.flush();
            });
        }
    },
    /** Answers an RDMA Read every two seconds. */
    TRICKLED_READS(64) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            RawRdmaStream stream = writes(target, turn, 128);
            return new Attacker(stream, 2000, () -> {
                stream.flush();
                stream.receive();
                stream.answerOneRead();
            });
        }
    },
    /** Reads what it asked for, in sizes that fit badly together. */
    READS_OF_ODD_SIZES(10) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            RawRdmaStream stream = reads(target, turn, 1, 700_000 + 20_000 * turn);
            ByteBuffer all = ByteBuffer.allocate(1 << 20);
            byte[] again = read(target, 700_000 + 20_000 * turn);
            return new Attacker(stream, 20, () -> {
                stream.discard(all);
                if (all.position() > 0 && stream.isFlushed()) {
                    stream.offer(again); // there may be several now, within the credits that came with the replies
                }
                stream.flush();
            });
        }
    },
    /** A thousand READs of 1 MiB in one burst. */
    TCP_BURST(4) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            RawStream stream = new RawStream(target.connect(target.tcpPort(), turn));
            for (int i = 0; i < 1000; i++) {
                stream.offer(Calls.read(i, target.fileHandle(), 1 << 20));
            }
            return silent(stream);
        }
    },
    /** Half of a record of 1 MiB. */
    TCP_UNFINISHED_RECORDS(700) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            SocketChannel channel = target.connect(target.tcpPort(), turn);
            RawStream stream = new RawStream(channel);
            ByteBuffer half = ByteBuffer.allocate(524_292).putInt(0x80100000).put(new byte[524_288]).flip();
            return new Attacker(stream, 20, () -> {
                channel.write(half);
                stream.discard(ByteBuffer.allocate(16));
            });
        }
    },
    /** Connection requests that never come. */
    HALF_OPEN(2500) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            RawStream stream = new RawStream(target.connect(target.rdmaPort(), turn));
            return new Attacker(stream, 500, () -> stream.discard(ByteBuffer.allocate(16)));
        }
    },
    IDLE_RDMA(450) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return listening(RawRdmaStream.connect(target, turn));
        }
    },
    IDLE_TCP(450) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            return listening(new RawStream(target.connect(target.tcpPort(), turn)));
        }
    },
    /** Receive buffers of 0, 1 and 20 bytes, then calls; the answers are read. */
    ABSURD_PROPERTIES(16) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            RawRdmaStream stream = RawRdmaStream.connect(target, turn);
            int bytes = new int[] {0, 1, 20, 23}[turn % 4];
            stream.offer(Calls.messageOfVersionTwo(1, Calls.noLists(), Calls.nullCall(1)));
            stream.offer(Calls.hex("00000000 00000002 00000001 00000005 00000000 00000001 00000001 00000004"
                    + String.format("%08x", bytes)));
            ByteBuffer all = ByteBuffer.allocate(65_536);
            return new Attacker(stream, 5, () -> {
                stream.offer(Calls.messageOfVersionTwo(2, Calls.noLists(), Calls.nullCall(2)));
                stream.flush();
                stream.discard(all);
            });
        }
    },
    /** A connection, a call, the next connection. */
    CHURN(8) {
        @Override
        Attacker open(AttackTarget target, int turn) throws IOException {
            RawRdmaStream stream = RawRdmaStream.connect(target, turn);
            stream.offer(Calls.message(5, Calls.noLists(), Calls.nullCall(5)));
            stream.flush();
            return new Attacker(stream, 10, stream::close);
        }
    };

    /** An attacker's connection, and what it does every so many milliseconds. */
    record Attacker(RawStream stream, int everyMillis, Step step) {
    }

    /** Does what can be done without waiting. */
    interface Step {

        void run() throws IOException;
    }

    private final int connections;

    Attack(int connections) {
        this.connections = connections;
    }

    int connections() {
        return connections;
    }

    /** The name on the command line and in the table. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Makes connection number {@code turn}. */
    abstract Attacker open(AttackTarget target, int turn) throws IOException;

    private static Attacker flood(AttackTarget target, int turn, byte[] message) throws IOException {
        RawRdmaStream stream = RawRdmaStream.connect(target, turn);
        return new Attacker(stream, 1, () -> stream.flood(message));
    }

    /** Sends what it has, and never reads. */
    private static Attacker silent(RawStream stream) {
        return new Attacker(stream, 20, stream::flush);
    }

    private static Attacker listening(RawStream stream) {
        ByteBuffer some = ByteBuffer.allocate(4096);
        return new Attacker(stream, 500, () -> stream.discard(some));
    }

    private static byte[] read(AttackTarget target, int bytes) {
        return Calls.message(6, Calls.writeList(bytes), Calls.read(6, target.fileHandle(), bytes));
    }

    private static RawRdmaStream reads(AttackTarget target, int turn, int calls, int bytes) throws IOException {
        return manyCalls(target, turn, calls, read(target, bytes));
    }

    private static RawRdmaStream writes(AttackTarget target, int turn, int calls) throws IOException {
        return manyCalls(target, turn, calls, Calls.message(7, Calls.readList(40, 1 << 20), Calls.nullCall(7)));
    }

    /** One call gets the credits for the others. */
    private static RawRdmaStream manyCalls(AttackTarget target, int turn, int calls, byte[] call) throws IOException {
        RawRdmaStream stream = RawRdmaStream.connect(target, turn);
        if (calls > 1) {
            stream.channel().configureBlocking(true);
            stream.offer(Calls.message(5, Calls.noLists(), Calls.nullCall(5)));
            stream.flush();
            if (stream.channel().socket().getInputStream().read() < 0) {
                throw new IOException("ended by the server");
            }
            stream.channel().configureBlocking(false);
        }
        for (int i = 0; i < calls; i++) {
            stream.offer(call);
        }
        return stream;
    }
}
