package org.nettyrdma.example.nfs.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.netty.buffer.Unpooled;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ProtocolCodesTest {

    @ParameterizedTest
    @EnumSource(NfsStatus.class)
    void shouldFindEveryStatusByItsCode(NfsStatus status) {
        assertEquals(status, NfsStatus.of(status.code()));
    }

    @ParameterizedTest
    @EnumSource(MountStatus.class)
    void shouldFindEveryMountStatusByItsCode(MountStatus status) {
        assertEquals(status, MountStatus.of(status.code()));
    }

    @Test
    void shouldSurviveUnknownStatus() {
        assertEquals(NfsStatus.UNKNOWN, NfsStatus.of(3));
        assertEquals(NfsStatus.UNKNOWN, NfsStatus.of(Integer.MIN_VALUE));
        assertEquals(MountStatus.UNKNOWN, MountStatus.of(70));
    }

    @ParameterizedTest
    @EnumSource(NfsProcedure.class)
    void shouldFindEveryProcedureByItsNumber(NfsProcedure procedure) {
        assertEquals(procedure, NfsProcedure.of(procedure.number()));
    }

    @ParameterizedTest
    @EnumSource(FileType.class)
    void shouldFindEveryFileTypeByItsCode(FileType type) {
        assertEquals(type, FileType.read(Unpooled.buffer().writeInt(type.code())));
    }

    @Test
    void shouldKnowNoOtherProcedures() {
        assertNull(NfsProcedure.of(22));
        assertNull(NfsProcedure.of(-1));
        assertNull(MountProcedure.of(6));
    }

    /** Some numbers of RFC 1813, so that not all tests rely on the same table. */
    @ParameterizedTest
    @CsvSource({"GETATTR,1", "LOOKUP,3", "READ,6", "WRITE,7", "MKNOD,11", "RENAME,14", "READDIRPLUS,17", "COMMIT,21"})
    void shouldNumberProceduresAsTheSpecificationDoes(NfsProcedure procedure, int number) {
        assertEquals(number, procedure.number());
    }

    @ParameterizedTest
    @CsvSource({"PERM,1", "NOENT,2", "ACCES,13", "EXIST,17", "NOTDIR,20", "INVAL,22", "ROFS,30", "NAMETOOLONG,63",
        "NOTEMPTY,66", "STALE,70", "BADHANDLE,10001", "BAD_COOKIE,10003", "TOOSMALL,10005", "JUKEBOX,10008"})
    void shouldCodeStatusAsTheSpecificationDoes(NfsStatus status, int code) {
        assertEquals(code, status.code());
    }

    @Test
    void shouldCarryTimesUpTo2106() {
        Instant late = Instant.parse("2106-02-07T06:28:15.000000001Z");
        assertEquals(new NfsTime(-1, 1), NfsTime.of(FileTime.from(late)));
        assertEquals(late, new NfsTime(-1, 1).toFileTime().toInstant());
        assertEquals(new NfsTime(-1, 999_999_999), NfsTime.of(FileTime.from(late.plusSeconds(1))));
        assertEquals(new NfsTime(0, 0), NfsTime.of(FileTime.from(Instant.EPOCH.minusNanos(1))));
    }
}
