#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

void throw_error(JNIEnv *env, const char *verb, int error)
{
    char text[128];
    char message[256];
    /* An exception that is under way already says more. */
    if ((*env)->ExceptionCheck(env)) {
        return;
    }
    snprintf(message, sizeof message, "%s failed: %s (errno %d)", verb, strerror_r(error, text, sizeof text), error);
    jclass io_exception = (*env)->FindClass(env, "java/io/IOException");
    if (io_exception != NULL) {
        (*env)->ThrowNew(env, io_exception, message);
    }
}

struct entry *acquire_or_throw(JNIEnv *env, jlong handle, enum kind kind, const char *verb)
{
    struct entry *entry = handle_acquire(handle, kind);
    if (entry == NULL) {
        throw_error(env, verb, EBADF);
    }
    return entry;
}

struct entry *begin_destroy_or_throw(JNIEnv *env, jlong handle, enum kind kind, const char *verb)
{
    struct entry *entry = handle_begin_destroy(handle, kind);
    if (entry == NULL) {
        throw_error(env, verb, errno);
    }
    return entry;
}

uint8_t *buffer_or_throw(JNIEnv *env, jobject buffer, size_t min_bytes, const char *verb, size_t *capacity)
{
    uint8_t *address = buffer == NULL ? NULL : (*env)->GetDirectBufferAddress(env, buffer);
    jlong bytes = address == NULL ? -1 : (*env)->GetDirectBufferCapacity(env, buffer);
    if (bytes < 0) {
        throw_error(env, verb, EFAULT);
        return NULL;
    }
    if ((uint64_t) bytes < min_bytes || ((uintptr_t) address & 7) != 0) {
        throw_error(env, verb, EINVAL);
        return NULL;
    }
    if (capacity != NULL) {
        *capacity = (size_t) bytes;
    }
    return address;
}

bool set_non_blocking(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

int wait_readable(int descriptor, int timeout_millis)
{
    struct pollfd source = {.fd = descriptor, .events = POLLIN};
    int ready = poll(&source, 1, timeout_millis);
    if (ready < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    return ready;
}
