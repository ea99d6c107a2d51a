/* What Java asks before it uses the library: its version, and the sizes of the structures that DiSNI writes and reads. */
#include "connections.h"

#include "org_nettyrdma_verbs_disni_NativeExtensions.h"

#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>

/* The version that DiSNI 2.1 requires of its library. */
enum { DISNI_VERSION = 32 };

/* These moved from libdl to libc in glibc 2.34; by their first version they are found in either. */
#if defined(__x86_64__)
#define FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_GLIBC "GLIBC_2.17"
#endif
__asm__(".symver dladdr,dladdr@" FIRST_GLIBC);
__asm__(".symver dlclose,dlclose@" FIRST_GLIBC);
__asm__(".symver dlopen,dlopen@" FIRST_GLIBC);
__asm__(".symver dlsym,dlsym@" FIRST_GLIBC);

#define LAYOUT(name) org_nettyrdma_verbs_disni_NativeExtensions_##name

DISNI(jint, getVersion)(UNUSED JNIEnv *env, UNUSED jobject self)
{
    return DISNI_VERSION;
}

EXTENSION(jint, abiVersion)(UNUSED JNIEnv *env, UNUSED jclass class)
{
    return LAYOUT(ABI_VERSION);
}

/*
 * DiSNI calls System.loadLibrary("disni"). Where the process shows this function to all, Java takes the library of that name for a part of the
 * program and looks for no file: JNI specification, "Support for Statically Linked Libraries". It is shown by offerToDisni alone; a library that
 * is loaded from a file is not searched for it.
 */
JNIEXPORT jint JNICALL JNI_OnLoad_disni(UNUSED JavaVM *vm, UNUSED void *reserved)
{
    return JNI_VERSION_1_8;
}

EXTENSION(jboolean, offerToDisni)(JNIEnv *env, UNUSED jclass class)
{
    void *own = (void *) (uintptr_t) &JNI_OnLoad_disni;
    /* Finds what all see first, and this library's own last. */
    if (dlsym(RTLD_DEFAULT, "JNI_OnLoad_disni") != own) {
        return JNI_FALSE;
    }
    Dl_info info;
    void *library = dladdr(own, &info) == 0 ? NULL : dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (library == NULL) {
        throw_error(env, "dlopen", ELIBACC);
        return JNI_FALSE;
    }
    /* What all see they see until the virtual machine lets go of the library. */
    dlclose(library);
    return JNI_TRUE;
}

EXTENSION(jint, liveHandles)(UNUSED JNIEnv *env, UNUSED jclass class)
{
    return handle_count();
}

DISNI(jint, getSockAddrInSize)(UNUSED JNIEnv *env, UNUSED jobject self)
{
    return sizeof(struct sockaddr_in);
}

DISNI(jint, getIbvRecvWRSize)(UNUSED JNIEnv *env, UNUSED jobject self)
{
    return sizeof(struct ibv_recv_wr);
}

DISNI(jint, getIbvSendWRSize)(UNUSED JNIEnv *env, UNUSED jobject self)
{
    return sizeof(struct ibv_send_wr);
}

DISNI(jint, getIbvSgeSize)(UNUSED JNIEnv *env, UNUSED jobject self)
{
    return sizeof(struct ibv_sge);
}

DISNI(jint, getIbvWCSize)(UNUSED JNIEnv *env, UNUSED jobject self)
{
    return sizeof(struct ibv_wc);
}

DISNI(jint, getRemoteAddressOffset)(UNUSED JNIEnv *env, UNUSED jobject self)
{
    return offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

DISNI(jint, getRKeyOffset)(UNUSED JNIEnv *env, UNUSED jobject self)
{
    return offsetof(struct ibv_send_wr, wr.rdma.rkey);
}

_Static_assert(offsetof(struct event_record, type) == LAYOUT(EVENT_TYPE), "layout");
_Static_assert(offsetof(struct event_record, status) == LAYOUT(EVENT_STATUS), "layout");
_Static_assert(offsetof(struct event_record, id) == LAYOUT(EVENT_ID), "layout");
_Static_assert(offsetof(struct event_record, listen_id) == LAYOUT(EVENT_LISTEN_ID), "layout");
_Static_assert(offsetof(struct event_record, responder_resources) == LAYOUT(EVENT_RESPONDER_RESOURCES), "layout");
_Static_assert(offsetof(struct event_record, initiator_depth) == LAYOUT(EVENT_INITIATOR_DEPTH), "layout");
_Static_assert(offsetof(struct event_record, private_data_length) == LAYOUT(EVENT_PRIVATE_DATA_LENGTH), "layout");
_Static_assert(offsetof(struct event_record, private_data) == LAYOUT(EVENT_PRIVATE_DATA), "layout");
_Static_assert(sizeof(struct event_record) == LAYOUT(EVENT_BYTES), "layout");
_Static_assert(offsetof(struct ibv_wc, wr_id) == LAYOUT(COMPLETION_ID), "layout");
_Static_assert(offsetof(struct ibv_wc, status) == LAYOUT(COMPLETION_STATUS), "layout");
_Static_assert(offsetof(struct ibv_wc, opcode) == LAYOUT(COMPLETION_OPCODE), "layout");
_Static_assert(offsetof(struct ibv_wc, vendor_err) == LAYOUT(COMPLETION_VENDOR_ERROR), "layout");
_Static_assert(offsetof(struct ibv_wc, byte_len) == LAYOUT(COMPLETION_LENGTH), "layout");
_Static_assert(offsetof(struct ibv_wc, invalidated_rkey) == LAYOUT(COMPLETION_INVALIDATED_KEY), "layout");
_Static_assert(offsetof(struct ibv_wc, imm_data) == LAYOUT(COMPLETION_IMMEDIATE), "layout");
_Static_assert(offsetof(struct ibv_wc, qp_num) == LAYOUT(COMPLETION_QUEUE_PAIR), "layout");
_Static_assert(offsetof(struct ibv_wc, wc_flags) == LAYOUT(COMPLETION_FLAGS), "layout");
_Static_assert(sizeof(struct ibv_wc) == LAYOUT(COMPLETION_BYTES), "layout");
_Static_assert(IBV_WC_WITH_INV == LAYOUT(WITH_INVALIDATE), "value");
_Static_assert(IBV_WC_RECV_RDMA_WITH_IMM == LAYOUT(COMPLETED_IMMEDIATE), "value");
_Static_assert(IBV_WR_RDMA_WRITE == LAYOUT(OPCODE_WRITE), "value");
_Static_assert(IBV_WR_RDMA_WRITE_WITH_IMM == LAYOUT(OPCODE_WRITE_WITH_IMMEDIATE), "value");
_Static_assert(IBV_WR_SEND == LAYOUT(OPCODE_SEND), "value");
_Static_assert(IBV_WR_RDMA_READ == LAYOUT(OPCODE_READ), "value");
_Static_assert(IBV_WR_LOCAL_INV == LAYOUT(OPCODE_LOCAL_INVALIDATE), "value");
_Static_assert(IBV_WR_BIND_MW == LAYOUT(OPCODE_BIND), "value");
_Static_assert(IBV_WR_SEND_WITH_INV == LAYOUT(OPCODE_SEND_WITH_INVALIDATE), "value");
