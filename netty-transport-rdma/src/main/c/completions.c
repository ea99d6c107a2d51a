/* Completion channels and completion queues. */
#include "devices.h"

#include <errno.h>
#include <string.h>

DISNI(jlong, createCompChannel)(JNIEnv *env, UNUSED jobject self, jlong context)
{
    static const char verb[] = "ibv_create_comp_channel";
    struct entry *parent = acquire_or_throw(env, context, KIND_CONTEXT, verb);
    if (parent == NULL) {
        return -1;
    }
    struct entry *entry = handle_reserve(KIND_COMPLETION_CHANNEL);
    struct ibv_comp_channel *channel = entry == NULL ? NULL : ibv_create_comp_channel(parent->object);
    if (channel == NULL || !set_non_blocking(channel->fd)) {
        throw_error(env, verb, errno);
        if (channel != NULL) {
            ibv_destroy_comp_channel(channel);
        }
        if (entry != NULL) {
            handle_discard(entry);
        }
        handle_release(parent);
        return -1;
    }
    atomic_store(&entry->parents[0], parent);
    return handle_publish(entry, channel);
}

DISNI(jint, destroyCompChannel)(UNUSED JNIEnv *env, UNUSED jobject self, jlong channel)
{
    struct entry *entry = handle_begin_destroy(channel, KIND_COMPLETION_CHANNEL);
    if (entry == NULL) {
        return -errno;
    }
    int error = ibv_destroy_comp_channel(entry->object);
    handle_end_destroy(entry, error == 0);
    return -error;
}

static struct ibv_cq *create_queue(struct entry *entry, struct entry *context, struct entry *channel, jint depth, jint vector)
{
    struct ibv_cq *queue = ibv_create_cq(context->object, depth, (void *) handle_of(entry), channel->object, vector);
    if (queue != NULL) {
        atomic_store(&entry->completion_queue.unacknowledged, 0);
        atomic_store(&entry->parents[0], context);
        atomic_store(&entry->parents[1], channel);
    }
    return queue;
}

DISNI(jlong, createCQ)(JNIEnv *env, UNUSED jobject self, jlong context, jlong channel, jint depth, jint vector)
{
    static const char verb[] = "ibv_create_cq";
    struct entry *device = acquire_or_throw(env, context, KIND_CONTEXT, verb);
    struct entry *events = device == NULL ? NULL : acquire_or_throw(env, channel, KIND_COMPLETION_CHANNEL, verb);
    struct entry *entry = NULL;
    struct ibv_cq *queue = NULL;
    int error = EINVAL;
    /* A channel of another device would confuse libibverbs. */
    if (events != NULL && atomic_load(&events->parents[0]) == device && depth >= 1 && vector >= 0) {
        entry = handle_reserve(KIND_COMPLETION_QUEUE);
        queue = entry == NULL ? NULL : create_queue(entry, device, events, depth, vector);
        error = errno;
    }
    if (queue != NULL) {
        return handle_publish(entry, queue);
    }
    throw_error(env, verb, error);
    if (entry != NULL) {
        handle_discard(entry);
    }
    if (events != NULL) {
        handle_release(events);
    }
    if (device != NULL) {
        handle_release(device);
    }
    return -1;
}

DISNI(jint, destroyCQ)(UNUSED JNIEnv *env, UNUSED jobject self, jlong queue)
{
    struct entry *entry = handle_begin_destroy(queue, KIND_COMPLETION_QUEUE);
    if (entry == NULL) {
        return -errno;
    }
    /* libibverbs would wait for ever for an event that was taken and not acknowledged. */
    ibv_ack_cq_events(entry->object, atomic_exchange(&entry->completion_queue.unacknowledged, 0));
    int error = ibv_destroy_cq(entry->object);
    handle_end_destroy(entry, error == 0);
    return -error;
}

DISNI(jint, reqNotifyCQ)(JNIEnv *env, UNUSED jobject self, jlong queue, jint solicited_only)
{
    static const char verb[] = "ibv_req_notify_cq";
    struct entry *entry = acquire_or_throw(env, queue, KIND_COMPLETION_QUEUE, verb);
    if (entry == NULL) {
        return -1;
    }
    int error = ibv_req_notify_cq(entry->object, solicited_only != 0);
    handle_release(entry);
    if (error != 0) {
        throw_error(env, verb, error < 0 ? -error : error);
        return -1;
    }
    return 0;
}

DISNI(jint, getCqEvent)(JNIEnv *env, UNUSED jobject self, jlong channel, jint timeout_millis)
{
    static const char verb[] = "ibv_get_cq_event";
    struct ibv_cq *queue;
    void *context;
    struct entry *entry = acquire_or_throw(env, channel, KIND_COMPLETION_CHANNEL, verb);
    if (entry == NULL) {
        return -1;
    }
    int result = wait_readable(((struct ibv_comp_channel *) entry->object)->fd, timeout_millis);
    if (result > 0) {
        result = ibv_get_cq_event(entry->object, &queue, &context) == 0 ? 0 : -errno;
    } else if (result == 0) {
        result = -EAGAIN;
    }
    if (result == 0) {
        struct entry *source = handle_acquire((jlong) context, KIND_COMPLETION_QUEUE);
        if (source == NULL) {
            /* It is being destroyed, which waits for this. */
            ibv_ack_cq_events(queue, 1);
        } else {
            atomic_fetch_add(&source->completion_queue.unacknowledged, 1);
            handle_release(source);
        }
    } else if (result != -EAGAIN) {
        throw_error(env, verb, -result);
    }
    handle_release(entry);
    return result;
}

DISNI(jint, ackCqEvent)(UNUSED JNIEnv *env, UNUSED jobject self, jlong queue, jint events)
{
    struct entry *entry = handle_acquire(queue, KIND_COMPLETION_QUEUE);
    if (entry == NULL) {
        return -EBADF;
    }
    /* libibverbs counts without looking, and would wait for ever if there were more acknowledgements than events. */
    uint32_t unacknowledged = atomic_load(&entry->completion_queue.unacknowledged);
    int error = EINVAL;
    while (events >= 0 && (uint32_t) events <= unacknowledged && error != 0) {
        if (atomic_compare_exchange_weak(&entry->completion_queue.unacknowledged, &unacknowledged, unacknowledged - (uint32_t) events)) {
            ibv_ack_cq_events(entry->object, (unsigned int) events);
            error = 0;
        }
    }
    handle_release(entry);
    return -error;
}

EXTENSION(jint, drainCompletionEvents)(JNIEnv *env, UNUSED jclass class, jlong channel)
{
    static const char verb[] = "ibv_get_cq_event";
    struct ibv_cq *queue;
    void *context;
    jint events = 0;
    struct entry *entry = acquire_or_throw(env, channel, KIND_COMPLETION_CHANNEL, verb);
    if (entry == NULL) {
        return 0;
    }
    while (ibv_get_cq_event(entry->object, &queue, &context) == 0) {
        ibv_ack_cq_events(queue, 1);
        events++;
    }
    if (errno != EAGAIN) {
        throw_error(env, verb, errno);
    }
    handle_release(entry);
    return events;
}

/*
 * The rxe driver of the kernel gives its own flag for an invalidation to user space, 1 << 2, where libibverbs documents 1 << 3
 * and has something else, which queue pairs like ours never see, at 1 << 2.
 */
static void correct_flags(struct ibv_wc *completions, int count)
{
    for (int i = 0; i < count; i++) {
        if (completions[i].status == IBV_WC_SUCCESS && completions[i].opcode == IBV_WC_RECV
                && (completions[i].wc_flags & IBV_WC_IP_CSUM_OK) != 0) {
            completions[i].wc_flags ^= IBV_WC_IP_CSUM_OK | IBV_WC_WITH_INV;
        }
    }
}

static bool is_rxe(const struct entry *completion_queue)
{
    static const uint32_t rxe_vendor = 0xffffff;
    return atomic_load(&completion_queue->parents[0])->device->attributes.orig_attr.vendor_id == rxe_vendor;
}

/* Both ways to poll: DiSNI and we read struct ibv_wc as it is. */
static jint poll_into(JNIEnv *env, jlong queue, jint max, struct ibv_wc *completions)
{
    static const char verb[] = "ibv_poll_cq";
    struct entry *entry = acquire_or_throw(env, queue, KIND_COMPLETION_QUEUE, verb);
    if (entry == NULL) {
        return -1;
    }
    int count = ibv_poll_cq(entry->object, max, completions);
    if (count > 0 && is_rxe(entry)) {
        correct_flags(completions, count);
    }
    handle_release(entry);
    if (count < 0) {
        throw_error(env, verb, EIO);
    }
    return count;
}

DISNI(jint, pollCQ)(JNIEnv *env, UNUSED jobject self, jlong queue, jint max, jlong completions)
{
    if (completions == 0 || max < 0) {
        throw_error(env, "ibv_poll_cq", completions == 0 ? EFAULT : EINVAL);
        return -1;
    }
    return poll_into(env, queue, max, pointer(completions));
}

EXTENSION(jint, pollCompletionQueue)(JNIEnv *env, UNUSED jclass class, jlong queue, jobject buffer, jint max)
{
    static const char verb[] = "ibv_poll_cq";
    size_t capacity;
    uint8_t *completions = buffer_or_throw(env, buffer, sizeof(struct ibv_wc), verb, &capacity);
    if (completions == NULL) {
        return -1;
    }
    if (max < 0) {
        throw_error(env, verb, EINVAL);
        return -1;
    }
    size_t room = capacity / sizeof(struct ibv_wc);
    return poll_into(env, queue, (size_t) max < room ? max : (jint) room, (struct ibv_wc *) completions);
}
