package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

class NfsErrorsTest {

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(new NfsException(NfsStatus.JUKEBOX), NfsStatus.JUKEBOX),
                Arguments.of(new NoSuchFileException("/x"), NfsStatus.NOENT),
                Arguments.of(new FileAlreadyExistsException("/x"), NfsStatus.EXIST),
                Arguments.of(new DirectoryNotEmptyException("/x"), NfsStatus.NOTEMPTY),
                Arguments.of(new NotDirectoryException("/x"), NfsStatus.NOTDIR),
                Arguments.of(new AccessDeniedException("/x"), NfsStatus.ACCES),
                Arguments.of(new NotLinkException("/x"), NfsStatus.INVAL),
                Arguments.of(new AtomicMoveNotSupportedException("/x", "/y", "Invalid cross-device link"), NfsStatus.XDEV),
                Arguments.of(new ReadOnlyFileSystemException(), NfsStatus.ROFS),
                Arguments.of(new InvalidPathException("x", "no such character"), NfsStatus.ACCES),
                Arguments.of(new UnsupportedOperationException(), NfsStatus.NOTSUPP),
                Arguments.of(new FileSystemException("/x", null, "Read-only file system"), NfsStatus.ROFS),
                Arguments.of(new FileSystemException("/x", null, "Disk quota exceeded"), NfsStatus.DQUOT),
                Arguments.of(new FileSystemException("/x", null, "File name too long"), NfsStatus.NAMETOOLONG),
                Arguments.of(new FileSystemException("/x", null, "Too many links"), NfsStatus.MLINK),
                Arguments.of(new FileSystemException("/x", null, "Too many open files"), NfsStatus.JUKEBOX),
                Arguments.of(new FileSystemException("/x", null, "Too many open files in system"), NfsStatus.JUKEBOX),
                Arguments.of(new FileSystemException("/x", null, "Device or resource busy"), NfsStatus.ACCES),
                Arguments.of(new FileSystemException("/x", null, "Cannot allocate memory"), NfsStatus.JUKEBOX),
                Arguments.of(new FileSystemException("/x", null, "something else"), NfsStatus.IO),
                Arguments.of(new IOException("No space left on device"), NfsStatus.NOSPC),
                Arguments.of(new IOException("File too large"), NfsStatus.FBIG),
                Arguments.of(new IOException("Input/output error"), NfsStatus.IO),
                Arguments.of(new IOException(), NfsStatus.IO),
                Arguments.of(new ClosedByInterruptException(), NfsStatus.JUKEBOX),
                Arguments.of(new DirectoryIteratorException(new AccessDeniedException("/x")), NfsStatus.ACCES),
                Arguments.of(new IllegalStateException("a bug"), NfsStatus.SERVERFAULT));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldFindTheStatus(Exception failure, NfsStatus expected) {
        assertEquals(expected, NfsErrors.statusOf(failure));
    }
}
