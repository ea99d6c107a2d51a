package org.nettyrdma.benchmarks;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.TypeConversionException;

/**
 * What can be compared: the library in its variants, and what people would use instead. The first are those of this project.
 */
enum Peer {
    /** RPC-over-RDMA version 1 on software iWARP, the default idle strategy. */
    RDMA("RDMA (software iWARP)"),
    /** The same, never sleeping. */
    RDMA_BUSY_POLL("RDMA, busy-poll"),
    /** The default with a checksum over every byte. */
    RDMA_CRC("RDMA, CRC32C"),
    /** The default with all meters of calls and connections in a Prometheus registry, at both ends. */
    RDMA_METRICS("RDMA, metrics"),
    /** With an inline threshold of 4096 bytes, as many connections have it: what is longer needs chunks. */
    RDMA_CHUNKS("RDMA, 4096 bytes inline"),
    /** The default on shared memory, which works on one machine only. */
    SHM("RDMA (shared memory)"),
    /** The same with both ends on one event loop, which then never sleeps nor wakes anybody: what the stack costs by itself. */
    STACK("RDMA, both ends on one event loop"),
    /** ONC RPC with record marking over TCP, Netty's NIO transport. */
    NIO("Netty NIO"),
    /** The same with the send buffer that the software provider sets. */
    NIO_256K("Netty NIO, SO_SNDBUF 256 KiB"),
    /** Frames of the same sizes over the same transport without any RPC: what the layer above the transport costs. */
    NIO_ECHO("Netty NIO, bare echo"),
    /** The same frames on Netty's epoll transport. */
    EPOLL_ECHO("Netty epoll, bare echo"),
    /** The same frames as a byte stream on software iWARP. */
    STREAM_ECHO("RDMA byte stream, bare echo"),
    /** The payloads of an echo by gRPC over Netty's NIO transport. */
    NIO_GRPC("gRPC, Netty NIO"),
    /** The same over Netty's epoll transport. */
    EPOLL_GRPC("gRPC, Netty epoll"),
    /** The same as a byte stream on software iWARP. */
    STREAM_GRPC("gRPC, RDMA byte stream"),
    /** ONC RPC with record marking over TCP, Netty's epoll transport. */
    EPOLL("Netty epoll"),
    /** The same with the send buffer that the software provider sets. */
    EPOLL_256K("Netty epoll, SO_SNDBUF 256 KiB"),
    /** ONC RPC with record marking over domain sockets, Netty's epoll transport: what people use on one machine. */
    DOMAIN("Netty domain sockets"),
    /** ONC RPC with record marking over TCP, as dCache's NFS server does it. */
    ONCRPC4J("oncrpc4j"),
    /** Requests and replies of the same sizes over UCX, a library in C behind Java bindings, by TCP; never sleeps. */
    UCX_TCP("UCX (jucx), tcp"),
    /** The same by memory that both ends share, which works on one machine only. */
    UCX_SHM("UCX (jucx), shared memory");

    private final String title;

    Peer(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    /** The name on the command line and in files. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The peer with a name, in any case, with hyphens or underscores. */
    static Peer named(String name) {
        String constant = name.toUpperCase(Locale.ROOT).replace('-', '_');
        return Stream.of(values()).filter(peer -> peer.name().equals(constant)).findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + name + "' is no peer"));
    }

    /** What to do where it cannot run. */
    String installationHint() {
        return ucx() ? "; on Debian: apt install libucx0" : "";
    }

    boolean rdma() {
        return this == RDMA || this == RDMA_BUSY_POLL || this == RDMA_CRC || this == RDMA_METRICS || this == RDMA_CHUNKS
                || sharedMemory();
    }

    /** Whether RPC-over-RDMA runs on memory that both ends share. */
    boolean sharedMemory() {
        return this == SHM || this == STACK;
    }

    boolean checksum() {
        return this == RDMA_CRC;
    }

    /** Whether an end uses a CPU as long as it has a connection, so that nothing else can be measured beside it. */
    boolean spinsWhenIdle() {
        return busyPoll() || ucx();
    }

    /** Whether its event loops never sleep. */
    boolean busyPoll() {
        return this == RDMA_BUSY_POLL || this == STACK;
    }

    boolean netty() {
        return this == NIO || this == NIO_256K || this == NIO_ECHO || this == NIO_GRPC || epoll();
    }

    boolean epoll() {
        return this == EPOLL || this == EPOLL_256K || this == EPOLL_ECHO || this == EPOLL_GRPC || this == DOMAIN;
    }

    /** Whether it moves frames without RPC. */
    boolean bareEcho() {
        return this == NIO_ECHO || this == EPOLL_ECHO || this == STREAM_ECHO;
    }

    /** Whether it is gRPC. */
    boolean grpc() {
        return this == NIO_GRPC || this == EPOLL_GRPC || this == STREAM_GRPC;
    }

    /** Whether a case says something about it. */
    boolean takes(Case scenario, Placement placement) {
        boolean oneCpu = placement == Placement.ONE_CPU;
        if (scenario.isStreamOnly()) {
            return bareEcho() || grpc();
        }
        return switch (this) {
            case RDMA_BUSY_POLL -> scenario == Case.PING_PONG && !oneCpu;
            case RDMA_METRICS -> scenario == Case.CALLS_32;
            case STACK -> scenario == Case.CALLS_32 && oneCpu;
            case NIO_ECHO, EPOLL_ECHO, STREAM_ECHO, NIO_GRPC, EPOLL_GRPC, STREAM_GRPC -> !scenario.measuresBytes();
            case RDMA_CRC, RDMA_CHUNKS, NIO_256K, EPOLL_256K -> scenario.measuresBytes();
            case UCX_TCP, UCX_SHM -> !oneCpu; // two threads that spin on one CPU measure its scheduler
            default -> true;
        };
    }

    /** What its processes find in their environment. */
    Map<String, String> environment() {
        return switch (this) {
            case UCX_TCP -> Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo", "UCX_LOG_LEVEL", "fatal");
            case UCX_SHM -> Map.of("UCX_TLS", "posix,sysv,cma", "UCX_LOG_LEVEL", "fatal");
            default -> Map.of();
        };
    }

    boolean ucx() {
        return this == UCX_TCP || this == UCX_SHM;
    }

    boolean fixedSendBuffer() {
        return this == NIO_256K || this == EPOLL_256K;
    }
}
