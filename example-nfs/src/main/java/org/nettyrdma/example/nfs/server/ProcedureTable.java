package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;

/** Which code executes which procedure, and under which lock. */
final class ProcedureTable {

    /** How a procedure takes the name lock, see the description of the package. */
    enum Names {
        /** Not at all, or by itself. */
        UNLOCKED,
        /** With others that only use names. */
        SHARED,
        /** Alone, because it changes names or attributes. */
        EXCLUSIVE
    }

    /**
     * One procedure.
     *
     * @param names      how it takes the name lock
     * @param repeatable whether the same call may be executed twice, and late, with the same effect and answer
     * @param code       what executes it
     */
    record Entry(Names names, boolean repeatable, Procedure code) {
    }

    private final Map<NfsProcedure, Entry> entries = new EnumMap<>(NfsProcedure.class);
    private final FileTree tree;
    private final OpenFiles openFiles;
    private final boolean forces;

    ProcedureTable(FileTree tree, Export export, OpenFiles openFiles, NfsServiceOptions options, WriteVerifier verifier) {
        this.tree = tree;
        this.openFiles = openFiles;
        forces = !options.async() && tree.store() instanceof UnixAttributes; // elsewhere Java opens no directories
        AttributeChanges changes = new AttributeChanges(tree, export, openFiles);
        FileLocks contents = new FileLocks();
        AttributeProcedures attributes = new AttributeProcedures(tree, export, openFiles, contents, changes);
        LookupProcedures lookups = new LookupProcedures(tree);
        ReadWriteProcedures data = new ReadWriteProcedures(tree, export, openFiles, contents, changes, options, verifier);
        NameQuota names = new NameQuota(options.maxNameBytes());
        CreateProcedures creation = new CreateProcedures(tree, export, openFiles, contents, names, changes);
        RemoveProcedures removal = new RemoveProcedures(tree, export, openFiles, names);
        RenameProcedures renaming = new RenameProcedures(tree, export, openFiles, names);
        DirectoryProcedures directories = new DirectoryProcedures(tree, FileSystemProcedures.MAX_DIRECTORY_BYTES,
                new DirectoryListings(tree, DirectoryListings.MAX_LISTING_BYTES, System::nanoTime));
        FileSystemProcedures fileSystem = new FileSystemProcedures(tree, names, options);

        put(NfsProcedure.GETATTR, Names.SHARED, true, attributes::getAttributes);
        put(NfsProcedure.SETATTR, Names.UNLOCKED, false, attributes::setAttributes);
        put(NfsProcedure.LOOKUP, Names.SHARED, true, lookups::lookup);
        put(NfsProcedure.ACCESS, Names.SHARED, true, attributes::access);
        put(NfsProcedure.READLINK, Names.SHARED, true, lookups::readLink);
        put(NfsProcedure.READ, Names.UNLOCKED, true, data::read);
        put(NfsProcedure.WRITE, Names.UNLOCKED, false, data::write); // a late one would undo others
        put(NfsProcedure.CREATE, Names.UNLOCKED, false, creation::create);
        put(NfsProcedure.MKDIR, Names.EXCLUSIVE, false, creation::makeDirectory);
        put(NfsProcedure.SYMLINK, Names.EXCLUSIVE, false, creation::makeSymbolicLink);
        put(NfsProcedure.MKNOD, Names.EXCLUSIVE, false, creation::makeNode);
        put(NfsProcedure.REMOVE, Names.UNLOCKED, false, removal::removeFile);
        put(NfsProcedure.RMDIR, Names.EXCLUSIVE, false, removal::removeDirectory);
        put(NfsProcedure.RENAME, Names.UNLOCKED, false, renaming::rename);
        put(NfsProcedure.LINK, Names.UNLOCKED, false, renaming::link);
        put(NfsProcedure.READDIR, Names.UNLOCKED, true, directories::readDirectory);
        put(NfsProcedure.READDIRPLUS, Names.UNLOCKED, true, directories::readDirectoryPlus);
        put(NfsProcedure.FSSTAT, Names.SHARED, true, fileSystem::status);
        put(NfsProcedure.FSINFO, Names.SHARED, true, fileSystem::information);
        put(NfsProcedure.PATHCONF, Names.SHARED, true, fileSystem::pathConfiguration);
        put(NfsProcedure.COMMIT, Names.UNLOCKED, true, data::commit);
    }

    private void put(NfsProcedure procedure, Names names, boolean repeatable, Procedure code) {
        entries.put(procedure, new Entry(names, repeatable, closingFiles(searching(forcing(locked(names, code))))));
    }

    /**
     * Outside of the locks, since closing files may take long. A call that found no descriptor is begun again at once: told to
     * come again, Linux waits 5 s, and where few descriptors are left, every few calls find none.
     */
    private Procedure closingFiles(Procedure code) {
        return call -> {
            try {
                code.call(call);
            } catch (IOException e) {
                if (!NfsErrors.isOutOfDescriptors(e)) {
                    throw e;
                }
                openFiles.makeRoom(e);
                call.begin();
                code.call(call);
            } finally {
                openFiles.closeEvicted();
            }
        };
    }

    /** Outside of the locks, too, since a search takes long. Where another one is needed then, the client comes again. */
    private Procedure searching(Procedure code) {
        return call -> {
            try {
                code.call(call);
            } catch (UnknownFileException e) {
                tree.search(e.id());
                call.begin();
                code.call(call);
            }
        };
    }

    /** Outside of the locks, too: what a call has changed is on the disk before its reply, and disks take long. */
    private Procedure forcing(Procedure code) {
        return forces ? call -> call.forcing(openFiles, () -> code.call(call)) : code;
    }

    private Procedure locked(Names names, Procedure code) {
        return switch (names) {
            case UNLOCKED -> code;
            case SHARED -> call -> call.locked(tree.sharedNames(), () -> code.call(call));
            case EXCLUSIVE -> call -> call.locked(tree.exclusiveNames(), () -> code.call(call));
        };
    }

    /** The entry of a procedure other than NULL. */
    Entry get(NfsProcedure procedure) {
        return entries.get(procedure);
    }
}
