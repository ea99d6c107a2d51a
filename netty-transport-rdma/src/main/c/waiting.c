/* How an event loop sleeps until a device, a connection or another thread has something for it. */
#include "connections.h"
#include "devices.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SOURCES = 31 };

static const jlong NANOS_PER_SECOND = 1000000000;

/* The object of a wake-up is its descriptor, which is no address. */
static int wakeup_descriptor(const struct entry *wakeup)
{
    return (int) (intptr_t) wakeup->object;
}

EXTENSION(jlong, createWakeup)(JNIEnv *env, UNUSED jclass class)
{
    struct entry *entry = handle_reserve(KIND_WAKEUP);
    int descriptor = entry == NULL ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) {
        throw_error(env, "eventfd", errno);
        if (entry != NULL) {
            handle_discard(entry);
        }
        return 0;
    }
    return handle_publish(entry, (void *) (intptr_t) descriptor);
}

EXTENSION(void, wakeup)(JNIEnv *env, UNUSED jclass class, jlong wakeup)
{
    static const char verb[] = "eventfd_write";
    struct entry *entry = acquire_or_throw(env, wakeup, KIND_WAKEUP, verb);
    if (entry == NULL) {
        return;
    }
    /* EAGAIN: there are so many wake-ups already that one more cannot be counted. */
    if (eventfd_write(wakeup_descriptor(entry), 1) != 0 && errno != EAGAIN) {
        throw_error(env, verb, errno);
    }
    handle_release(entry);
}

EXTENSION(void, destroyWakeup)(JNIEnv *env, UNUSED jclass class, jlong wakeup)
{
    struct entry *entry = begin_destroy_or_throw(env, wakeup, KIND_WAKEUP, "close");
    if (entry != NULL) {
        close(wakeup_descriptor(entry));
        handle_end_destroy(entry, true);
    }
}

/* Uses an object that can be waited for. Returns NULL if it is not one. */
static struct entry *acquire_source(jlong handle, int *descriptor)
{
    struct entry *entry;
    if ((entry = handle_acquire(handle, KIND_WAKEUP)) != NULL) {
        *descriptor = wakeup_descriptor(entry);
    } else if ((entry = handle_acquire(handle, KIND_COMPLETION_CHANNEL)) != NULL) {
        *descriptor = ((const struct ibv_comp_channel *) entry->object)->fd;
    } else if ((entry = handle_acquire(handle, KIND_EVENT_CHANNEL)) != NULL) {
        *descriptor = ((const struct rdma_event_channel *) entry->object)->fd;
    } else if ((entry = handle_acquire(handle, KIND_CONTEXT)) != NULL) {
        *descriptor = async_descriptor(entry);
    }
    return entry;
}

/* Sleeps, and uses up the wake-ups that ended the sleep. Returns the ready sources, or a negative errno. */
static jint sleep_on(struct entry **entries, struct pollfd *sources, int count, jlong timeout_nanos)
{
    struct timespec timeout = {.tv_sec = timeout_nanos / NANOS_PER_SECOND, .tv_nsec = timeout_nanos % NANOS_PER_SECOND};
    eventfd_t ignored;
    jint ready = 0;
    if (ppoll(sources, (nfds_t) count, timeout_nanos < 0 ? NULL : &timeout, NULL) < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    for (int i = 0; i < count; i++) {
        if (sources[i].revents != 0) {
            ready |= 1 << i;
            if (entries[i]->kind == KIND_WAKEUP) {
                eventfd_read(sources[i].fd, &ignored);
            }
        }
    }
    return ready;
}

EXTENSION(jint, await)(JNIEnv *env, UNUSED jclass class, jlongArray handles, jint count, jlong timeout_nanos)
{
    static const char verb[] = "ppoll";
    jlong values[MAX_SOURCES];
    struct entry *entries[MAX_SOURCES];
    struct pollfd sources[MAX_SOURCES];
    jint result = 0;
    int acquired = 0;
    if (handles == NULL || count < 1 || count > MAX_SOURCES || count > (*env)->GetArrayLength(env, handles)) {
        throw_error(env, verb, EINVAL);
        return 0;
    }
    (*env)->GetLongArrayRegion(env, handles, 0, count, values);
    while (acquired < count && (entries[acquired] = acquire_source(values[acquired], &sources[acquired].fd)) != NULL) {
        sources[acquired].events = POLLIN;
        sources[acquired].revents = 0;
        acquired++;
    }
    result = acquired == count ? sleep_on(entries, sources, count, timeout_nanos) : -EBADF;
    while (acquired > 0) {
        handle_release(entries[--acquired]);
    }
    if (result < 0) {
        throw_error(env, verb, -result);
        return 0;
    }
    return result;
}
