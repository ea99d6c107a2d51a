/* Taking connection events. Each is acknowledged at once: what Java needs of it is copied, so nothing can wait for it. */
#include "connections.h"

#include <errno.h>
#include <string.h>

enum { RNR_TIMER_640_MICROS = 12 }; /* InfiniBand, volume 1, table 45 */

/* Makes the identifier of a connection request known. Returns 0, with errno set, if that fails. */
static jlong adopt_identifier(struct entry *channel, struct rdma_cm_id *id)
{
    struct entry *entry = handle_reserve(KIND_IDENTIFIER);
    if (entry == NULL) {
        return 0;
    }
    handle_retain(channel);
    id->context = (void *) handle_of(entry);
    atomic_store(&entry->identifier.queue_pair, 0);
    entry->identifier.send_elements = 0;
    entry->identifier.receive_elements = 0;
    atomic_store(&entry->parents[0], channel);
    return handle_publish(entry, id);
}

static void copy_event(const struct rdma_cm_event *event, struct event_record *record)
{
    const struct rdma_conn_param *parameters = &event->param.conn;
    memset(record, 0, sizeof *record);
    record->type = (int32_t) event->event;
    record->status = event->status;
    record->id = (jlong) event->id->context;
    record->listen_id = event->listen_id == NULL ? 0 : (jlong) event->listen_id->context;
    record->responder_resources = parameters->responder_resources;
    record->initiator_depth = parameters->initiator_depth;
    if (parameters->private_data != NULL) {
        record->private_data_length = parameters->private_data_len;
        memcpy(record->private_data, parameters->private_data, parameters->private_data_len);
    }
}

/* The kernel's connection manager sets 655 ms, the longest there is, for a peer whose message found no receive to try again. */
static void shorten_wait_for_receive(struct rdma_cm_id *id)
{
    struct ibv_qp_attr attributes = {.min_rnr_timer = RNR_TIMER_640_MICROS};
    if (id->qp != NULL && id->verbs->device->transport_type != IBV_TRANSPORT_IWARP) {
        ibv_modify_qp(id->qp, &attributes, IBV_QP_MIN_RNR_TIMER); /* a device that refuses keeps the long time */
    }
}

int take_event(struct entry *channel, struct event_record *record)
{
    struct rdma_cm_event *event;
    struct rdma_cm_id *orphan = NULL;
    int error = 0;

    pthread_mutex_lock(&channel->lock);
    if (rdma_get_cm_event(channel->object, &event) != 0) {
        error = errno;
    } else {
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && adopt_identifier(channel, event->id) == 0) {
            error = errno;
            orphan = event->id;
        } else {
            copy_event(event, record);
            if (event->event == RDMA_CM_EVENT_ESTABLISHED) {
                shorten_wait_for_receive(event->id);
            }
        }
        rdma_ack_cm_event(event);
        if (orphan != NULL) {
            /* The peer is refused: there is no handle left. Its request counts as an event of the listener, so ack first. */
            rdma_destroy_id(orphan);
        }
    }
    if (error == 0) {
        *channel->last_event = *record;
    }
    pthread_mutex_unlock(&channel->lock);
    return -error;
}

DISNI(jint, getCmEvent)(UNUSED JNIEnv *env, UNUSED jobject self, jlong channel, jlong listen_id, jlong client_id, jint timeout_millis)
{
    struct event_record record;
    if (listen_id == 0 || client_id == 0) {
        return -EFAULT;
    }
    struct entry *entry = handle_acquire(channel, KIND_EVENT_CHANNEL);
    if (entry == NULL) {
        return -EBADF;
    }
    int result = wait_readable(((struct rdma_event_channel *) entry->object)->fd, timeout_millis);
    if (result > 0) {
        result = take_event(entry, &record);
        if (result == 0) {
            /* DiSNI looks both up in a map, where -1 is nothing. */
            jlong listener = record.listen_id == 0 ? -1 : record.listen_id;
            memcpy(pointer(listen_id), &listener, sizeof listener);
            memcpy(pointer(client_id), &record.id, sizeof record.id);
            result = record.type;
        }
    } else if (result == 0) {
        result = -EAGAIN;
    }
    handle_release(entry);
    return result;
}

/* The events are acknowledged already. */
DISNI(jint, ackCmEvent)(UNUSED JNIEnv *env, UNUSED jobject self, UNUSED jint event)
{
    return 0;
}

EXTENSION(jboolean, nextConnectionEvent)(JNIEnv *env, UNUSED jclass class, jlong channel, jobject buffer)
{
    static const char verb[] = "rdma_get_cm_event";
    struct event_record record;
    uint8_t *target = buffer_or_throw(env, buffer, sizeof record, verb, NULL);
    struct entry *entry = target == NULL ? NULL : acquire_or_throw(env, channel, KIND_EVENT_CHANNEL, verb);
    if (entry == NULL) {
        return JNI_FALSE;
    }
    int result = take_event(entry, &record);
    handle_release(entry);
    if (result == 0) {
        memcpy(target, &record, sizeof record);
    } else if (result != -EAGAIN) {
        throw_error(env, verb, -result);
    }
    return result == 0;
}

EXTENSION(jboolean, lastConnectionEvent)(JNIEnv *env, UNUSED jclass class, jlong channel, jobject buffer)
{
    static const char verb[] = "lastConnectionEvent";
    struct event_record record;
    uint8_t *target = buffer_or_throw(env, buffer, sizeof record, verb, NULL);
    struct entry *entry = target == NULL ? NULL : acquire_or_throw(env, channel, KIND_EVENT_CHANNEL, verb);
    if (entry == NULL) {
        return JNI_FALSE;
    }
    pthread_mutex_lock(&entry->lock);
    record = *entry->last_event;
    pthread_mutex_unlock(&entry->lock);
    handle_release(entry);
    if (record.type < 0) {
        return JNI_FALSE;
    }
    memcpy(target, &record, sizeof record);
    return JNI_TRUE;
}
