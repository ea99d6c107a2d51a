package org.nettyrdma.example.nfs.v41;

/** Numbers of NFS version 4.1 (RFC 8881; their values are in RFC 5662). */
final class Nfs41 {

    static final int PROGRAM = 100003;
    static final int VERSION = 4;
    static final int MINOR_VERSION = 1;
    static final int COMPOUND = 1;

    static final int OP_CLOSE = 4;
    static final int OP_DELEGRETURN = 8;
    static final int OP_GETFH = 10;
    static final int OP_OPEN = 18;
    static final int OP_PUTFH = 22;
    static final int OP_PUTROOTFH = 24;
    static final int OP_EXCHANGE_ID = 42;
    static final int OP_CREATE_SESSION = 43;
    static final int OP_DESTROY_SESSION = 44;
    static final int OP_SEQUENCE = 53;
    static final int OP_DESTROY_CLIENTID = 57;
    static final int OP_RECLAIM_COMPLETE = 58;

    static final int CB_NULL = 0;
    static final int CB_COMPOUND = 1;
    static final int OP_CB_GETATTR = 3;
    static final int OP_CB_RECALL = 4;
    static final int OP_CB_SEQUENCE = 11;
    static final int OP_CB_NOTIFY_DEVICEID = 14;
    static final int OP_CB_ILLEGAL = 10044;

    static final int NFS4_OK = 0;
    static final int NFS4ERR_NOTSUPP = 10004;
    static final int NFS4ERR_MINOR_VERS_MISMATCH = 10021;
    static final int NFS4ERR_OP_ILLEGAL = 10044;
    static final int NFS4ERR_BADSESSION = 10052;
    static final int NFS4ERR_BADSLOT = 10053;
    static final int NFS4ERR_SEQ_MISORDERED = 10063;
    static final int NFS4ERR_SEQUENCE_POS = 10064;
    static final int NFS4ERR_RETRY_UNCACHED_REP = 10068;
    static final int NFS4ERR_OP_NOT_IN_SESSION = 10071;

    static final int EXCHGID4_FLAG_USE_NON_PNFS = 0x0001_0000;
    static final int SP4_NONE = 0;
    static final int CREATE_SESSION4_FLAG_CONN_BACK_CHAN = 2;
    static final int OPEN4_SHARE_ACCESS_READ = 1;
    static final int OPEN4_SHARE_ACCESS_WANT_READ_DELEG = 0x0100;
    static final int OPEN4_SHARE_DENY_NONE = 0;
    static final int OPEN4_NOCREATE = 0;
    static final int CLAIM_NULL = 0;
    static final int OPEN_DELEGATE_READ = 1;

    static final int SESSION_ID_BYTES = 16;
    static final int MAX_TAG_BYTES = 1024;
    static final int MAX_FILE_HANDLE_BYTES = 128;

    private Nfs41() {
    }
}
