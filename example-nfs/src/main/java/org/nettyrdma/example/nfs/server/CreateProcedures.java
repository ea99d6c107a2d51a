package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.PosixMode;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.MakeDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.MakeNodeArguments;
import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.SymbolicLinkArguments;
import org.nettyrdma.example.nfs.protocol.TimeChange;
import org.nettyrdma.example.nfs.protocol.WireForm;

/** CREATE, MKDIR, SYMLINK and MKNOD (RFC 1813, sections 3.3.8 to 3.3.11). */
final class CreateProcedures {

    private static final int DEFAULT_MODE = 0644;
    private static final int DEFAULT_DIRECTORY_MODE = 0755;
    private static final int EXCLUSIVE_MODE = 0600;
    /** Nobody else gets at a new file or directory before it belongs to the caller and has its mode. */
    private static final int OWNER_ONLY = 0600;
    private static final int OWNER_ONLY_DIRECTORY = 0700;

    private final FileTree tree;
    private final Export export;
    private final OpenFiles openFiles;
    private final FileLocks contents;
    private final NameQuota names;
    private final AttributeChanges changes;

    CreateProcedures(FileTree tree, Export export, OpenFiles openFiles, FileLocks contents, NameQuota names,
                     AttributeChanges changes) {
        this.tree = tree;
        this.export = export;
        this.openFiles = openFiles;
        this.contents = contents;
        this.names = names;
        this.changes = changes;
    }

    void create(NfsCall call) throws IOException {
        new FileCreation(call).run();
    }

    /**
     * One CREATE. Takes the locks itself: that of the contents comes first, and which file that is only names tell. So where a
     * file is there, begins again with its lock, as often as another file is there then. So does a new file that is not to be
     * empty. To set the size of either takes no lock of names, see {@link AttributeChanges#openToResize}.
     */
    private final class FileCreation {

        private final NfsCall call;
        private final CreateArguments arguments;
        private final AttributeSlot slot;

        private FileCreation(NfsCall call) {
            this.call = call;
            arguments = CreateArguments.read(call.arguments());
            slot = call.changes();
        }

        private void run() throws IOException {
            Resize next = createOrTell(null);
            while (next != null) {
                Resize resize = next;
                try {
                    next = openFiles.withoutLease(resize.file(), resize.setsSize(), resize.caller(), () -> withContents(resize));
                } catch (IOException | RuntimeException e) {
                    if (resize.isNew()) {
                        call.locked(tree.exclusiveNames(), () -> {
                            takeNewAway(resize.file());
                            throw e;
                        });
                    }
                    throw e;
                }
            }
        }

        /** Takes a file away that was created for a step that has failed. */
        private void takeNewAway(FileId id) throws IOException {
            FileObject directory = findAgain();
            FileObject file = tree.childOrNull(directory, arguments.where().name());
            if (file != null && file.node().id().equals(id)) {
                takeAway(directory, arguments.where().name(), file);
            }
        }

        /** What was found before, without the lock that the call has now, is not the state before any more. */
        private FileObject findAgain() throws IOException {
            slot.fill(null);
            return slot.fillToChange(arguments.where().directory(), export);
        }

        private Resize withContents(Resize resize) throws IOException {
            FileLocks.Held contentsOfFile =
                    resize.setsSize() ? contents.exclusive(resize.file()) : contents.shared(resize.file());
            try {
                Resize next = createOrTell(resize);
                if (next != null && next.toResize() != null) {
                    resize(next);
                    next = createOrTell(next);
                }
                return next;
            } finally {
                contentsOfFile.release();
            }
        }

        /** Returns what has to be done with the lock of the contents, or {@code null} when done; {@code locked} has that lock. */
        private Resize createOrTell(Resize locked) throws IOException {
            return call.locked(tree.exclusiveNames(), () -> {
                slot.fill(null); // what was found without the lock of the contents is not the state before any more
                FileObject directory = slot.fillToChange(arguments.where().directory(), export);
                String name = FileNames.requireOrdinary(arguments.where().name(), NfsStatus.EXIST);
                AccessControl.requireSearch(call.caller(), directory.attributes());
                FileObject existing = tree.childOrNull(directory, name);
                if (existing != null && locked != null && existing.node().id().equals(locked.file())) {
                    call.willChangeIfReadable(existing); // it may be of a server that was killed before it forced it
                    call.willChange(directory);
                    return resizeOrTell(existing, locked);
                }
                if (existing != null) {
                    return takeExisting(existing);
                }
                if (arguments.attributes().size().orElse(0) != 0) {
                    return createToResize(directory, name);
                }
                writeNew(call, createFile(directory, name, arguments.attributes()), slot);
                return null;
            });
        }

        private void resize(Resize resize) throws IOException {
            try {
                AttributeChanges.resize(resize.toResize(), resize.changes().size().getAsLong());
            } catch (IOException | RuntimeException e) {
                call.locked(tree.exclusiveNames(), () -> {
                    findAgain();
                    throw e;
                });
            }
        }

        private Resize resizeOrTell(FileObject file, Resize locked) throws IOException {
            changes.requireAllowed(locked.caller(), file, locked.changes());
            if (locked.toResize() == null) {
                OpenFile toResize = changes.openToResize(locked.caller(), file, locked.changes());
                if (toResize != null) {
                    return new Resize(locked.file(), locked.caller(), locked.changes(), locked.isNew(), toResize);
                }
            }
            changes.apply(locked.caller(), file, locked.changes());
            writeNew(call, file, slot);
            return null;
        }

        private Resize createToResize(FileObject directory, String name) throws IOException {
            Sattr attributes = arguments.attributes();
            long size = attributes.size().getAsLong();
            changes.requireAllowedSize(size);
            FileObject file = createFile(directory, name, attributes.withSize(0));
            Sattr resize = Sattr.NONE.withMode(file.attributes().mode()).withSize(size)
                    .withTimes(attributes.accessTime(), attributes.modifyTime());
            return new Resize(file.node().id(), creator(call.caller(), file), resize, true, null);
        }

        /** Of the attributes, which are those of a new file, only the size is set. */
        private Resize takeExisting(FileObject existing) throws IOException {
            Fattr attributes = existing.attributes();
            boolean isMeant = switch (arguments.mode()) {
                case UNCHECKED -> true;
                case GUARDED -> false;
                case EXCLUSIVE -> verifierTimes(arguments.verifier()).equals(
                        new VerifierTimes(attributes.accessTime().seconds(), attributes.modifyTime().seconds()));
            };
            AccessControl.require(isMeant && attributes.type() == FileType.REGULAR, NfsStatus.EXIST);
            OptionalLong size = arguments.attributes().size(); // with a verifier there is none
            Sattr resize = size.isPresent() ? Sattr.NONE.withSize(size.getAsLong()) : Sattr.NONE;
            return new Resize(existing.node().id(), call.caller(), resize, false, null);
        }

        private FileObject createFile(FileObject directory, String name, Sattr attributes) throws IOException {
            AccessControl.requireAdd(call.caller(), directory.attributes());
            Path path = LocalNames.child(directory.path(), name);
            names.requireRoom(NameQuota.NAME_BYTES);
            FileChannel channel = openFiles.create(path, PosixMode.attributes(path, OWNER_ONLY));
            names.add(NameQuota.NAME_BYTES);
            openFiles.adopt(tree.child(directory, name), channel);
            if (arguments.mode() != CreateMode.EXCLUSIVE) {
                return finish(call, directory, name, withMode(attributes, DEFAULT_MODE));
            }
            VerifierTimes times = verifierTimes(arguments.verifier());
            return finish(call, directory, name, Sattr.NONE.withMode(EXCLUSIVE_MODE)
                    .withTimes(TimeChange.to(new NfsTime(times.access(), 0)), TimeChange.to(new NfsTime(times.modify(), 0))));
        }
    }

    /**
     * A file that is there, and is taken.
     *
     * @param file     whose lock of the contents that takes
     * @param caller   who asked for it
     * @param changes  the size, if it is to be set, and what setting it would change of a new file
     * @param isNew    whether it is to be taken away again if that fails
     * @param toResize the file, opened, where its size has to be set first, else {@code null}
     */
    private record Resize(FileId file, Credentials caller, Sattr changes, boolean isNew, OpenFile toResize) {
        private boolean setsSize() {
            return changes.size().isPresent();
        }
    }

    /**
     * The seconds of the two times that keep the verifier of an exclusive CREATE, so that it is known again when the call
     * is repeated, even after a restart (RFC 1813, section 3.3.8). The client sets proper times next.
     */
    private record VerifierTimes(int access, int modify) {
    }

    /** The highest bits are left out, since some file systems cannot keep times after 2038. */
    private static VerifierTimes verifierTimes(long verifier) {
        return new VerifierTimes((int) (verifier >>> Integer.SIZE) & Integer.MAX_VALUE, (int) verifier & Integer.MAX_VALUE);
    }

    void makeDirectory(NfsCall call) throws IOException {
        MakeDirectoryArguments arguments = MakeDirectoryArguments.read(call.arguments());
        AttributeSlot slot = call.changes();
        FileObject directory = slot.fillToChange(arguments.where().directory(), export);
        String name = requireNewName(call.caller(), directory, arguments.where());
        names.requireRoom(NameQuota.NAME_BYTES);
        Path path = LocalNames.child(directory.path(), name);
        Files.createDirectory(path, PosixMode.attributes(path, OWNER_ONLY_DIRECTORY));
        names.add(NameQuota.NAME_BYTES);
        Sattr attributes = withMode(arguments.attributes(), DEFAULT_DIRECTORY_MODE);
        int inherited = directory.attributes().mode() & AccessControl.SET_GROUP_ID;
        Sattr inheriting = attributes.withMode(attributes.mode().getAsInt() | inherited);
        writeNew(call, finish(call, directory, name, inheriting), slot);
    }

    /** The target is kept as it is, up to doubled and trailing slashes; the server never follows it. */
    void makeSymbolicLink(NfsCall call) throws IOException {
        SymbolicLinkArguments arguments = SymbolicLinkArguments.read(call.arguments());
        AttributeSlot slot = call.changes();
        FileObject directory = slot.fillToChange(arguments.where().directory(), export);
        String name = requireNewName(call.caller(), directory, arguments.where());
        AccessControl.require(!arguments.target().isEmpty(), NfsStatus.INVAL);
        // more than READLINK has room for in the reply
        AccessControl.require(NameText.encode(arguments.target()).length <= Nfs.MAX_STRING_BYTES, NfsStatus.NAMETOOLONG);
        Path path = LocalNames.child(directory.path(), name);
        Path target = LocalNames.path(path, arguments.target());
        names.requireRoom(NameQuota.bytesOfLink(target));
        Files.createSymbolicLink(path, target);
        names.add(NameQuota.bytesOfLink(target));
        writeNew(call, finish(call, directory, name, Sattr.NONE), slot);
    }

    /** Java can create no special files; RFC 1813, section 3.3.11, has {@code NFS3ERR_NOTSUPP} for such servers. */
    void makeNode(NfsCall call) throws IOException {
        MakeNodeArguments arguments = MakeNodeArguments.read(call.arguments());
        AttributeSlot slot = call.changes();
        FileObject directory = slot.fillToChange(arguments.where().directory(), export);
        requireNewName(call.caller(), directory, arguments.where());
        throw new NfsException(switch (arguments.type()) {
            case REGULAR, DIRECTORY, SYMBOLIC_LINK -> NfsStatus.BADTYPE;
            case BLOCK_DEVICE, CHARACTER_DEVICE, SOCKET, FIFO -> NfsStatus.NOTSUPP;
        });
    }

    private String requireNewName(Credentials caller, FileObject directory, DirectoryOperationArguments where)
            throws IOException {
        String name = FileNames.requireOrdinary(where.name(), NfsStatus.EXIST);
        AccessControl.requireSearch(caller, directory.attributes());
        AccessControl.require(tree.childOrNull(directory, name) == null, NfsStatus.EXIST);
        AccessControl.requireAdd(caller, directory.attributes());
        return name;
    }

    private static Sattr withMode(Sattr attributes, int otherwise) {
        return attributes.withMode(attributes.mode().orElse(otherwise));
    }

    /** Gives a new file its owner and attributes, or takes it away again if the caller may not have them. */
    private FileObject finish(NfsCall call, FileObject directory, String name, Sattr attributes) throws IOException {
        Credentials caller = call.caller();
        FileObject file = tree.child(directory, name);
        try {
            call.willChange(file);
            call.willChange(directory);
            giveToCaller(caller, directory, file);
            FileObject owned = tree.child(directory, name);
            Sattr allowed = AccessControl.owns(caller, owned.attributes()) ? attributes : harmless(attributes, owned);
            changes.requireAllowed(creator(caller, owned), owned, allowed);
            changes.apply(creator(caller, owned), owned, allowed);
        } catch (IOException | RuntimeException e) {
            takeAway(directory, name, file);
            throw e;
        }
        tree.changed(directory);
        return tree.child(directory, name);
    }

    private void takeAway(FileObject directory, String name, FileObject file) throws IOException {
        long nameBytes = names.bytesOf(file);
        Files.delete(file.path());
        names.remove(nameBytes);
        tree.removed(directory, name, file);
        openFiles.evict(file.node().id());
    }

    /** As far as this process may: where it is not root, files belong to its own user. */
    private void giveToCaller(Credentials caller, FileObject directory, FileObject file) throws IOException {
        boolean groupOfDirectory = (directory.attributes().mode() & AccessControl.SET_GROUP_ID) != 0;
        int groupId = groupOfDirectory ? directory.attributes().groupId() : caller.groupId();
        Fattr now = file.attributes();
        try {
            if (now.userId() != caller.userId() || now.groupId() != groupId) {
                tree.store().setOwner(file.path(), OptionalInt.of(caller.userId()), OptionalInt.of(groupId));
            }
        } catch (IOException e) {
            NfsStatus status = NfsErrors.statusOf(e);
            if (status == NfsStatus.DQUOT || status == NfsStatus.NOSPC) {
                throw e; // what is not the caller's because there is no room would be out of the caller's reach
            }
            // Said once in the documentation of NfsService, and shown to the client by the attributes in the reply.
        }
    }

    /** What belongs to the user of this process stays with it, and never runs as that user or its group. */
    private static Sattr harmless(Sattr attributes, FileObject file) throws NfsException {
        Fattr now = file.attributes();
        AccessControl.require(attributes.userId().orElse(now.userId()) == now.userId()
                && attributes.groupId().orElse(now.groupId()) == now.groupId(), NfsStatus.PERM);
        int setId = now.isDirectory() ? AccessControl.SET_USER_ID : AccessControl.SET_USER_ID | AccessControl.SET_GROUP_ID;
        return attributes.mode().isEmpty() ? attributes : attributes.withMode(attributes.mode().getAsInt() & ~setId);
    }

    /**
     * Who created a file decides about its first attributes even where it belongs to the user of this process, and is in the
     * group that a directory has inherited with its bit.
     */
    private static Credentials creator(Credentials caller, FileObject file) {
        Fattr now = file.attributes();
        boolean hasInherited = !caller.isRoot() && now.isDirectory() && (now.mode() & AccessControl.SET_GROUP_ID) != 0;
        if (AccessControl.owns(caller, now) && !hasInherited) {
            return caller;
        }
        List<Integer> groupIds = new ArrayList<>(caller.groupIds());
        if (hasInherited) {
            groupIds.add(now.groupId());
        }
        return new Credentials(now.userId(), caller.groupId(), groupIds);
    }

    private void writeNew(NfsCall call, FileObject file, AttributeSlot directory) throws IOException {
        WireForm.writeOptional(file.node().handle(), call.out());
        WireForm.writeOptional(tree.attributesNow(file.node()), call.out());
        directory.write();
    }
}
