package org.nettyrdma.verbs.shm;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;

/** Who is at the other end of a socket, as the system says: a user with whom this process may be connected. */
final class PeerUser {

    private final SocketChannel channel;
    private final UserPrincipal user;

    private PeerUser(SocketChannel channel, UserPrincipal user) {
        this.channel = channel;
        this.user = user;
    }

    /**
     * The user of a peer.
     *
     * @param refusal what the text says of one with whom this process may not be connected
     * @throws IOException if it is one
     */
    static PeerUser of(SocketChannel channel, ShmSettings settings, ProcessDirectory directory, String refusal)
            throws IOException {
        UserPrincipal user = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
        if (!user.equals(directory.owner()) && !settings.otherUsers().contains(user)) {
            throw new ShmProtocolException(EndReason.FAILED, "user %s %s (%s)", user.getName(), refusal,
                    ShmSettings.USERS_PROPERTY);
        }
        return new PeerUser(channel, user);
    }

    /**
     * Checks that the files which the peer names are that user's: otherwise it could have this process read files for it that it
     * cannot read itself.
     *
     * @throws EOFException if there are none, and the peer has gone: those of a process that has ended are removed
     * @throws IOException if they are not
     */
    void requireFiles(ProcessDirectory directory, long instance) throws IOException {
        Path files = directory.file(instance, OwnControl.KIND, 0).getParent();
        try {
            if (!Files.getOwner(files, LinkOption.NOFOLLOW_LINKS).equals(user)) {
                throw new ShmProtocolException(EndReason.FAILED, "the files in %s do not belong to user %s", files,
                        user.getName());
            }
        } catch (NoSuchFileException e) { // its text, which the peer is told, would be the path alone
            if (hasGone()) {
                throw new EOFException("the peer has closed the connection before it stood: " + files + " does not exist");
            }
            throw new ShmProtocolException(EndReason.FAILED, "the two processes do not share the directory %s (%s)",
                    directory.shared(), ShmSettings.DIRECTORY_PROPERTY);
        }
    }

    /** Its whole frame was read, so that nothing else can be there before the connection stands. */
    private boolean hasGone() {
        try {
            return channel.read(ByteBuffer.allocate(1)) < 0;
        } catch (IOException e) {
            return true; // a reset
        }
    }
}
