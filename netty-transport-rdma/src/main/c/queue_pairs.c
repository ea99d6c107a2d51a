/* Queue pairs: created for, and destroyed through, the identifier of a connection. */
#include "connections.h"
#include "devices.h"

#include <errno.h>
#include <string.h>

enum {
    DEFAULT_ELEMENTS = 4, /* what upstream's library asks for */
    MAX_ELEMENTS = 32,    /* see work_requests.c */
};

static uint32_t lower_of(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* Asks for less and less inline data until the device is content: it does not say how much it can take. */
static int create_for(struct rdma_cm_id *id, struct ibv_pd *domain, const struct ibv_qp_init_attr *wanted,
                      struct ibv_qp_init_attr *granted)
{
    uint32_t inline_bytes = wanted->cap.max_inline_data;
    for (;;) {
        *granted = *wanted;
        granted->cap.max_inline_data = inline_bytes;
        if (rdma_create_qp(id, domain, granted) == 0) {
            return 0;
        }
        if (inline_bytes == 0) {
            return errno;
        }
        inline_bytes /= 2;
    }
}

/* The device may grant more than was asked for; what was not asked for is not used. */
static void remember_limits(struct queue_limits *limits, const struct ibv_qp_cap *wanted, const struct ibv_qp_cap *granted,
                            const struct ibv_device_attr *device)
{
    limits->send_depth = granted->max_send_wr;
    limits->receive_depth = granted->max_recv_wr;
    limits->send_elements = lower_of(wanted->max_send_sge, granted->max_send_sge);
    limits->receive_elements = lower_of(wanted->max_recv_sge, granted->max_recv_sge);
    limits->read_elements = lower_of(limits->send_elements, device->max_sge_rd > 0 ? (uint32_t) device->max_sge_rd : 1);
    limits->inline_bytes = lower_of(wanted->max_inline_data, granted->max_inline_data);
}

/* Acquires the parents of a queue pair, in the order in which the entry keeps them. */
static bool acquire_parents(struct entry *parents[MAX_PARENTS], jlong id, jlong domain, jlong send_queue, jlong receive_queue)
{
    const jlong handles[MAX_PARENTS] = {id, domain, send_queue, receive_queue};
    const enum kind kinds[MAX_PARENTS] = {KIND_IDENTIFIER, KIND_PROTECTION_DOMAIN, KIND_COMPLETION_QUEUE, KIND_COMPLETION_QUEUE};
    for (int i = 0; i < MAX_PARENTS; i++) {
        parents[i] = handle_acquire(handles[i], kinds[i]);
        if (parents[i] == NULL) {
            while (i-- > 0) {
                handle_release(parents[i]);
            }
            return false;
        }
    }
    return true;
}

/* Creates the queue pair with the channel of its identifier locked. Returns 0 or an errno. */
static int create_locked(struct entry *entry, struct entry *parents[MAX_PARENTS], struct ibv_qp_init_attr *wanted)
{
    struct entry *identifier = parents[0];
    struct entry *device = atomic_load(&parents[1]->parents[0]);
    const struct ibv_device_attr *attributes = &device->device->attributes.orig_attr;
    struct ibv_qp_init_attr granted;

    if (cm_id(identifier)->qp != NULL) {
        return EEXIST;
    }
    if (cm_id(identifier)->verbs != device->object || atomic_load(&parents[2]->parents[0]) != device
            || atomic_load(&parents[3]->parents[0]) != device) {
        return EXDEV;
    }
    uint32_t send_elements = identifier->identifier.send_elements;
    uint32_t receive_elements = identifier->identifier.receive_elements;
    wanted->cap.max_send_sge = lower_of(send_elements == 0 ? DEFAULT_ELEMENTS : send_elements, (uint32_t) attributes->max_sge);
    wanted->cap.max_recv_sge = lower_of(receive_elements == 0 ? DEFAULT_ELEMENTS : receive_elements, (uint32_t) attributes->max_sge);
    int error = create_for(cm_id(identifier), parents[1]->object, wanted, &granted);
    if (error == 0) {
        remember_limits(&entry->queue_pair, &wanted->cap, &granted.cap, attributes);
        for (int i = 0; i < MAX_PARENTS; i++) {
            atomic_store(&entry->parents[i], parents[i]);
        }
        handle_publish(entry, cm_id(identifier)->qp);
        atomic_store(&identifier->identifier.queue_pair, handle_of(entry));
    }
    return error;
}

DISNI(jlong, createQP)(JNIEnv *env, UNUSED jobject self, jlong id, jlong domain, jlong send_queue, jlong receive_queue, jint type,
                       jint send_depth, jint receive_depth, jint inline_bytes)
{
    static const char verb[] = "rdma_create_qp";
    struct entry *parents[MAX_PARENTS];
    if (type != IBV_QPT_RC || send_depth < 1 || receive_depth < 1 || inline_bytes < 0) {
        throw_error(env, verb, EINVAL);
        return -1;
    }
    if (!acquire_parents(parents, id, domain, send_queue, receive_queue)) {
        throw_error(env, verb, EBADF);
        return -1;
    }
    struct entry *entry = handle_reserve(KIND_QUEUE_PAIR);
    int error = errno;
    if (entry != NULL) {
        struct ibv_qp_init_attr wanted = {
            .qp_context = (void *) handle_of(entry),
            .send_cq = parents[2]->object,
            .recv_cq = parents[3]->object,
            .cap = {
                .max_send_wr = (uint32_t) send_depth,
                .max_recv_wr = (uint32_t) receive_depth,
                .max_inline_data = (uint32_t) inline_bytes,
            },
            .qp_type = IBV_QPT_RC,
        };
        struct entry *channel = lock_channel_of(parents[0]);
        error = create_locked(entry, parents, &wanted);
        pthread_mutex_unlock(&channel->lock);
        if (error == 0) {
            return handle_of(entry);
        }
        handle_discard(entry);
    }
    for (int i = 0; i < MAX_PARENTS; i++) {
        handle_release(parents[i]);
    }
    throw_error(env, verb, error);
    return -1;
}

/* Destroys the queue pair of an identifier whose channel is locked, if there is one. Returns 0 or an errno. */
static int destroy_queue_pair(struct entry *identifier)
{
    jlong queue_pair = atomic_load(&identifier->identifier.queue_pair);
    if (queue_pair == 0) {
        return EBADF;
    }
    struct entry *entry = handle_begin_destroy(queue_pair, KIND_QUEUE_PAIR);
    if (entry == NULL) {
        return errno;
    }
    /* rdma_destroy_qp would do no more, as the completion queues are ours, but hide a failure. */
    int error = ibv_destroy_qp(entry->object);
    if (error == 0) {
        cm_id(identifier)->qp = NULL;
        atomic_store(&identifier->identifier.queue_pair, 0);
    }
    handle_end_destroy(entry, error == 0);
    return error;
}

DISNI(jint, destroyQP)(UNUSED JNIEnv *env, UNUSED jobject self, jlong id)
{
    struct entry *identifier = identifier_enter(id);
    if (identifier == NULL) {
        return -EBADF;
    }
    int error = destroy_queue_pair(identifier);
    identifier_leave(identifier);
    return -error;
}

JNIEXPORT jint JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1destroyCmId(JNIEnv *env, jobject self, jlong id);

DISNI(jint, destroyEp)(JNIEnv *env, jobject self, jlong id)
{
    struct entry *identifier = identifier_enter(id);
    if (identifier == NULL) {
        return -EBADF;
    }
    int error = atomic_load(&identifier->identifier.queue_pair) == 0 ? 0 : destroy_queue_pair(identifier);
    identifier_leave(identifier);
    return error == 0 ? Java_com_ibm_disni_verbs_impl_NativeDispatcher__1destroyCmId(env, self, id) : -error;
}

/* DiSNI passes no attributes, so there is nothing that this could set. */
DISNI(jint, modifyQP)(JNIEnv *env, UNUSED jobject self, jlong queue_pair, UNUSED jlong attributes)
{
    static const char verb[] = "ibv_modify_qp";
    struct entry *entry = acquire_or_throw(env, queue_pair, KIND_QUEUE_PAIR, verb);
    if (entry != NULL) {
        handle_release(entry);
        throw_error(env, verb, EINVAL);
    }
    return -1;
}

DISNI(jint, getQpNum)(JNIEnv *env, UNUSED jobject self, jlong queue_pair)
{
    struct entry *entry = acquire_or_throw(env, queue_pair, KIND_QUEUE_PAIR, "getQpNum");
    if (entry == NULL) {
        return -1;
    }
    jint number = (jint) ((const struct ibv_qp *) entry->object)->qp_num;
    handle_release(entry);
    return number;
}

EXTENSION(void, setElementLimits)(JNIEnv *env, UNUSED jclass class, jlong id, jint send_elements, jint receive_elements)
{
    static const char verb[] = "setElementLimits";
    if (send_elements < 1 || receive_elements < 1) {
        throw_error(env, verb, EINVAL);
        return;
    }
    struct entry *identifier = identifier_enter_or_throw(env, id, false, verb);
    if (identifier == NULL) {
        return;
    }
    identifier->identifier.send_elements = lower_of((uint32_t) send_elements, MAX_ELEMENTS);
    identifier->identifier.receive_elements = lower_of((uint32_t) receive_elements, MAX_ELEMENTS);
    identifier_leave(identifier);
}

EXTENSION(jintArray, queuePairLimits)(JNIEnv *env, UNUSED jclass class, jlong queue_pair)
{
    struct entry *entry = acquire_or_throw(env, queue_pair, KIND_QUEUE_PAIR, "queuePairLimits");
    if (entry == NULL) {
        return NULL;
    }
    const struct queue_limits *limits = &entry->queue_pair;
    const jint values[] = {
        (jint) limits->send_depth,
        (jint) limits->receive_depth,
        (jint) limits->send_elements,
        (jint) limits->receive_elements,
        (jint) limits->inline_bytes,
    };
    const jsize count = sizeof values / sizeof values[0];
    jintArray array = (*env)->NewIntArray(env, count);
    if (array != NULL) {
        (*env)->SetIntArrayRegion(env, array, 0, count, values);
    }
    handle_release(entry);
    return array;
}

EXTENSION(void, moveToError)(JNIEnv *env, UNUSED jclass class, jlong queue_pair)
{
    static const char verb[] = "ibv_modify_qp";
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_ERR};
    struct entry *entry = acquire_or_throw(env, queue_pair, KIND_QUEUE_PAIR, verb);
    if (entry == NULL) {
        return;
    }
    struct entry *channel = lock_channel_of(atomic_load(&entry->parents[0]));
    int error = ibv_modify_qp(entry->object, &attributes, IBV_QP_STATE);
    pthread_mutex_unlock(&channel->lock);
    handle_release(entry);
    if (error != 0) {
        throw_error(env, verb, error < 0 ? -error : error);
    }
}
