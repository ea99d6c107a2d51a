#include "connections.h"
#include "devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The open devices, few, in no order. librdmacm closes a device that was removed from the machine when its last identifier
 * is destroyed, although other objects of it may live. So each device here is pinned: rdma_get_devices counts as a user of
 * all devices that there are.
 */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct device *devices;

static struct device *find_device(const struct ibv_context *context)
{
    struct device *device = devices;
    while (device != NULL && device->context != context) {
        device = device->next;
    }
    return device;
}

static bool pin(struct device *device)
{
    device->pinned = rdma_get_devices(NULL);
    if (device->pinned == NULL) {
        return false;
    }
    for (struct ibv_context **one = device->pinned; *one != NULL; one++) {
        if (*one == device->context) {
            return true;
        }
    }
    rdma_free_devices(device->pinned);
    errno = ENODEV;
    return false;
}

/* Opens what librdmacm has opened already. Returns NULL and sets errno on failure. */
static struct device *open_device(struct ibv_context *context)
{
    struct device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return NULL;
    }
    device->context = context;
    if (!pin(device)) {
        free(device);
        return NULL;
    }
    int error = ibv_query_device_ex(context, NULL, &device->attributes);
    if (error == 0 && !set_non_blocking(context->async_fd)) {
        error = errno;
    }
    device->entry = error == 0 ? handle_reserve(KIND_CONTEXT) : NULL;
    if (device->entry == NULL) {
        error = error == 0 ? errno : error;
        rdma_free_devices(device->pinned);
        free(device);
        errno = error;
        return NULL;
    }
    device->entry->device = device;
    handle_publish(device->entry, context);
    device->next = devices;
    devices = device;
    return device;
}

DISNI(jlong, getContext)(JNIEnv *env, UNUSED jobject self, jlong id)
{
    static const char verb[] = "getContext";
    jlong handle = -1;
    struct entry *identifier = identifier_enter_or_throw(env, id, false, verb);
    if (identifier == NULL) {
        return handle;
    }
    struct ibv_context *context = cm_id(identifier)->verbs;
    /* DiSNI asks while there may be no device yet, and takes a negative number for an answer. */
    if (context != NULL) {
        pthread_mutex_lock(&devices_lock);
        struct device *device = find_device(context);
        if (device == NULL) {
            device = open_device(context);
        }
        if (device == NULL) {
            throw_error(env, verb, errno);
        } else {
            handle = handle_of(device->entry);
        }
        pthread_mutex_unlock(&devices_lock);
    }
    identifier_leave(identifier);
    return handle;
}

/*
 * librdmacm keeps devices that nobody uses; when it looks which there are, it closes those that have left the machine, or wait to leave. If it finds none at all,
 * it gives up before that: then the device is closed when there is one again, or when the process ends.
 */
static void let_go_of_removed_devices(void)
{
    struct ibv_context **present = rdma_get_devices(NULL);
    if (present != NULL) {
        rdma_free_devices(present);
    }
}

EXTENSION(void, closeContext)(JNIEnv *env, UNUSED jclass class, jlong context)
{
    pthread_mutex_lock(&devices_lock);
    struct entry *entry = begin_destroy_or_throw(env, context, KIND_CONTEXT, "closeContext");
    if (entry != NULL) {
        struct device *device = entry->device;
        struct device **link = &devices;
        while (*link != device) {
            link = &(*link)->next;
        }
        *link = device->next;
        rdma_free_devices(device->pinned);
        free(device);
        handle_end_destroy(entry, true);
        let_go_of_removed_devices();
    }
    pthread_mutex_unlock(&devices_lock);
}

EXTENSION(jstring, deviceName)(JNIEnv *env, UNUSED jclass class, jlong context)
{
    struct entry *entry = acquire_or_throw(env, context, KIND_CONTEXT, "ibv_get_device_name");
    if (entry == NULL) {
        return NULL;
    }
    jstring name = (*env)->NewStringUTF(env, ibv_get_device_name(entry->device->context->device));
    handle_release(entry);
    return name;
}

/* In the order of the DEVICE constants of NativeExtensions. */
static jlongArray attributes_array(JNIEnv *env, const struct device *device, const struct ibv_port_attr *port)
{
    const struct ibv_device_attr *attributes = &device->attributes.orig_attr;
    const jlong values[] = {
        device->context->device->transport_type == IBV_TRANSPORT_IWARP,
        port->link_layer,
        (jlong) ((uint64_t) attributes->device_cap_flags | device->attributes.device_cap_flags_ex),
        attributes->max_qp_wr,
        attributes->max_sge,
        attributes->max_sge_rd,
        attributes->max_qp_rd_atom,
        attributes->max_qp_init_rd_atom,
        attributes->max_mr_size > INT64_MAX ? INT64_MAX : (jlong) attributes->max_mr_size,
        attributes->max_mr,
        attributes->max_mw,
        attributes->max_qp,
        attributes->max_cq,
        attributes->max_cqe,
        port->max_msg_sz,
        device->context->num_comp_vectors,
    };
    const jsize count = sizeof values / sizeof values[0];
    jlongArray array = (*env)->NewLongArray(env, count);
    if (array != NULL) {
        (*env)->SetLongArrayRegion(env, array, 0, count, values);
    }
    return array;
}

EXTENSION(jlongArray, deviceAttributes)(JNIEnv *env, UNUSED jclass class, jlong context, jint port_number)
{
    static const char verb[] = "ibv_query_port";
    jlongArray array = NULL;
    struct ibv_port_attr port;
    if (port_number < 1 || port_number > UINT8_MAX) {
        throw_error(env, verb, EINVAL);
        return NULL;
    }
    struct entry *entry = acquire_or_throw(env, context, KIND_CONTEXT, verb);
    if (entry == NULL) {
        return NULL;
    }
    int error = ibv_query_port(entry->object, (uint8_t) port_number, &port);
    if (error != 0) {
        throw_error(env, verb, error);
    } else {
        array = attributes_array(env, entry->device, &port);
    }
    handle_release(entry);
    return array;
}

/* The handle of what an asynchronous event is about, or 0: each object was created with its handle as its context. */
static jlong subject_of(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        return (jlong) event->element.cq->cq_context;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        return (jlong) event->element.qp->qp_context;
    default:
        return 0;
    }
}

EXTENSION(jlongArray, nextAsyncEvent)(JNIEnv *env, UNUSED jclass class, jlong context)
{
    static const char verb[] = "ibv_get_async_event";
    struct ibv_async_event event;
    jlongArray array = NULL;
    struct entry *entry = acquire_or_throw(env, context, KIND_CONTEXT, verb);
    if (entry == NULL) {
        return NULL;
    }
    if (ibv_get_async_event(entry->object, &event) == 0) {
        const jlong values[] = {event.event_type, subject_of(&event)};
        ibv_ack_async_event(&event);
        array = (*env)->NewLongArray(env, 2);
        if (array != NULL) {
            (*env)->SetLongArrayRegion(env, array, 0, 2, values);
        }
    } else if (errno != EAGAIN) {
        throw_error(env, verb, errno);
    }
    handle_release(entry);
    return array;
}

/* What a number of a device is read with. */
typedef jint context_getter(const struct device *device);

static jint read_context(JNIEnv *env, jlong context, context_getter *getter, const char *verb)
{
    struct entry *entry = acquire_or_throw(env, context, KIND_CONTEXT, verb);
    if (entry == NULL) {
        return -1;
    }
    jint value = getter(entry->device);
    handle_release(entry);
    return value;
}

static jint command_descriptor(const struct device *device)
{
    return device->context->cmd_fd;
}

static jint completion_vectors(const struct device *device)
{
    return device->context->num_comp_vectors;
}

static jint on_demand_paging(const struct device *device)
{
    const struct ibv_odp_caps *odp = &device->attributes.odp_caps;
    return odp->general_caps & IBV_ODP_SUPPORT ? (jint) odp->per_transport_caps.rc_odp_caps : -1;
}

DISNI(jint, getContextFd)(JNIEnv *env, UNUSED jobject self, jlong context)
{
    return read_context(env, context, command_descriptor, "getContextFd");
}

DISNI(jint, getContextNumCompVectors)(JNIEnv *env, UNUSED jobject self, jlong context)
{
    return read_context(env, context, completion_vectors, "getContextNumCompVectors");
}

DISNI(jint, queryOdpSupport)(UNUSED JNIEnv *env, UNUSED jobject self, jlong context)
{
    struct entry *entry = handle_acquire(context, KIND_CONTEXT);
    if (entry == NULL) {
        return -EBADF;
    }
    jint capabilities = on_demand_paging(entry->device);
    handle_release(entry);
    return capabilities;
}
