package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.OptionalInt;

/** A store that does what another one does, for tests to override what they want to be different. */
abstract class DelegatingStore implements AttributeStore {

    private final AttributeStore real;

    DelegatingStore(AttributeStore real) {
        this.real = real;
    }

    @Override
    public FileStatus read(Path path) throws IOException {
        return real.read(path);
    }

    @Override
    public void setMode(Path path, int mode) throws IOException {
        real.setMode(path, mode);
    }

    @Override
    public void setOwner(Path path, OptionalInt userId, OptionalInt groupId) throws IOException {
        real.setOwner(path, userId, groupId);
    }

    @Override
    public void setTimes(Path path, FileTime accessTime, FileTime modifyTime) throws IOException {
        real.setTimes(path, accessTime, modifyTime);
    }

    @Override
    public boolean keepsChangeTime() {
        return real.keepsChangeTime();
    }

    @Override
    public boolean knowsParents() {
        return real.knowsParents();
    }

    @Override
    public long maxFileBytes() {
        return real.maxFileBytes();
    }
}
