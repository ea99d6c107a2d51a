package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The RDMA devices of this machine, as the Linux kernel lists them in {@code /sys}. Needs no native library.
 */
final class SystemDevices {

    private static final Path DIRECTORY = Path.of("/sys/class/infiniband");

    /** What the kernel calls an iWARP device, in the file {@code node_type}. */
    private static final String IWARP_NODE = "RNIC";

    private SystemDevices() {
    }

    /** Their names, none where the kernel has no RDMA. */
    static List<String> names() {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(DIRECTORY)) {
            devices.forEach(device -> names.add(device.getFileName().toString()));
        } catch (IOException e) {
            return List.of(); // no such directory: no device
        }
        return names;
    }

    /** Whether a device is the kernel's software RoCE; no other has this file. */
    static boolean isRxe(String name) {
        return Files.exists(DIRECTORY.resolve(name).resolve("parent"));
    }

    /** Whether at least one speaks iWARP. */
    static boolean anyIsIwarp() {
        return names().stream().anyMatch(name -> {
            try {
                return Files.readString(DIRECTORY.resolve(name).resolve("node_type")).contains(IWARP_NODE);
            } catch (IOException e) {
                return true; // unknown: take the precautions that iWARP needs
            }
        });
    }
}
