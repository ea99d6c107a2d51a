package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;

/**
 * The arguments of MKNOD (RFC 1813, section 3.3.11).
 *
 * @param where      directory and name of the new file
 * @param type       what to create
 * @param attributes attributes of the new file; sent for devices, sockets and named pipes, else {@link Sattr#NONE}
 * @param device     number of the new device; sent for devices, else {@link DeviceNumber#NONE}
 */
public record MakeNodeArguments(DirectoryOperationArguments where, FileType type, Sattr attributes, DeviceNumber device)
        implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static MakeNodeArguments read(ByteBuf in) {
        DirectoryOperationArguments where = DirectoryOperationArguments.read(in);
        FileType type = FileType.read(in);
        return switch (type) {
            case CHARACTER_DEVICE, BLOCK_DEVICE ->
                    new MakeNodeArguments(where, type, Sattr.read(in), DeviceNumber.read(in));
            case SOCKET, FIFO -> new MakeNodeArguments(where, type, Sattr.read(in), DeviceNumber.NONE);
            case REGULAR, DIRECTORY, SYMBOLIC_LINK -> new MakeNodeArguments(where, type, Sattr.NONE, DeviceNumber.NONE);
        };
    }

    @Override
    public void write(ByteBuf out) {
        where.write(out);
        out.writeInt(type.code());
        switch (type) {
            case CHARACTER_DEVICE, BLOCK_DEVICE -> {
                attributes.write(out);
                device.write(out);
            }
            case SOCKET, FIFO -> attributes.write(out);
            case REGULAR, DIRECTORY, SYMBOLIC_LINK -> { }
        }
    }
}
