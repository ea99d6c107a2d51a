package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;

/**
 * Who is at the other end of a socket, as the system says.
 */
final class PeerUser {

    private PeerUser() {
    }

    /**
     * Checks that the peer's user may connect, and that the files which the peer names are that user's: otherwise it could have
     * this process read files for it that it cannot read itself.
     *
     * @throws IOException if not
     */
    static void check(SocketChannel channel, ShmSettings settings, ProcessDirectory directory, long instance)
            throws IOException {
        UserPrincipal user = user(channel, settings, directory);
        Path files = directory.file(instance, OwnControl.KIND, 0).getParent();
        try {
            if (!Files.getOwner(files, LinkOption.NOFOLLOW_LINKS).equals(user)) {
                throw new ShmProtocolException(EndReason.FAILED, "the files in %s do not belong to user %s", files,
                        user.getName());
            }
        } catch (NoSuchFileException e) { // its text, which the peer is told, would be the path alone
            throw new ShmProtocolException(EndReason.FAILED, "the two processes do not share the directory %s (%s)",
                    directory.shared(), ShmSettings.DIRECTORY_PROPERTY);
        }
    }

    private static UserPrincipal user(SocketChannel channel, ShmSettings settings, ProcessDirectory directory)
            throws IOException {
        UserPrincipal user = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
        if (!user.equals(directory.owner()) && !settings.otherUsers().contains(user.getName())) {
            throw new ShmProtocolException(EndReason.FAILED, "user %s may not connect (%s)", user.getName(),
                    ShmSettings.USERS_PROPERTY);
        }
        return user;
    }
}
