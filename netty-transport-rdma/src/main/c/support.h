/* What all files share: the names of the native methods, arguments and errors. */
#ifndef NETTY_RDMA_SUPPORT_H
#define NETTY_RDMA_SUPPORT_H

#include "handles.h"

#include <stddef.h>

/* A native method of DiSNI's class NativeDispatcher, whose methods all begin with an underscore. */
#define DISNI(type, name) JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* A native method of our class NativeExtensions. */
#define EXTENSION(type, name) JNIEXPORT type JNICALL Java_org_nettyrdma_verbs_disni_NativeExtensions_##name

#define UNUSED __attribute__((unused))

/* Throws an IOException that names the verb, the text of the error and its number. */
void throw_error(JNIEnv *env, const char *verb, int error);

/* Like handle_acquire, but throws if there is no such object. */
struct entry *acquire_or_throw(JNIEnv *env, jlong handle, enum kind kind, const char *verb);

/* Like handle_begin_destroy, but throws if that fails. */
struct entry *begin_destroy_or_throw(JNIEnv *env, jlong handle, enum kind kind, const char *verb);

/* An address that DiSNI passes in a long. */
static inline void *pointer(jlong address)
{
    return (void *) (uintptr_t) address;
}

/* The first byte of a direct buffer that has at least so many bytes; NULL, with an exception thrown, if it is not one. */
uint8_t *buffer_or_throw(JNIEnv *env, jobject buffer, size_t min_bytes, const char *verb, size_t *capacity);

/* Makes a descriptor return instead of waiting. Returns false and sets errno on failure. */
bool set_non_blocking(int descriptor);

/* Waits for a descriptor to become readable: 1 if it is, 0 when the time is over, a negative errno on failure. */
int wait_readable(int descriptor, int timeout_millis);

#endif
