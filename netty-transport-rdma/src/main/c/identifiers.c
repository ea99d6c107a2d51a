/* The life of event channels and identifiers. */
#include "connections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry *lock_channel_of(struct entry *identifier)
{
    for (;;) {
        struct entry *channel = atomic_load(&identifier->parents[0]);
        pthread_mutex_lock(&channel->lock);
        /* A migration that was under way has ended now. */
        if (channel == atomic_load(&identifier->parents[0])) {
            return channel;
        }
        pthread_mutex_unlock(&channel->lock);
    }
}

struct entry *identifier_enter(jlong id)
{
    struct entry *identifier = handle_acquire(id, KIND_IDENTIFIER);
    if (identifier != NULL) {
        lock_channel_of(identifier);
    }
    return identifier;
}

void identifier_leave(struct entry *identifier)
{
    pthread_mutex_unlock(&atomic_load(&identifier->parents[0])->lock);
    handle_release(identifier);
}

struct entry *identifier_enter_or_throw(JNIEnv *env, jlong id, bool bound, const char *verb)
{
    struct entry *identifier = identifier_enter(id);
    if (identifier == NULL) {
        throw_error(env, verb, EBADF);
        return NULL;
    }
    /* librdmacm looks into the device without asking whether there is one yet. */
    if (bound && cm_id(identifier)->verbs == NULL) {
        identifier_leave(identifier);
        throw_error(env, verb, ENODEV);
        return NULL;
    }
    return identifier;
}

DISNI(jlong, createEventChannel)(JNIEnv *env, UNUSED jobject self)
{
    struct rdma_event_channel *channel = NULL;
    struct entry *entry = handle_reserve(KIND_EVENT_CHANNEL);
    struct event_record *record = entry == NULL ? NULL : calloc(1, sizeof *record);
    if (record == NULL || (channel = rdma_create_event_channel()) == NULL || !set_non_blocking(channel->fd)) {
        throw_error(env, "rdma_create_event_channel", errno);
        if (channel != NULL) {
            rdma_destroy_event_channel(channel);
        }
        free(record);
        if (entry != NULL) {
            handle_discard(entry);
        }
        return -1;
    }
    record->type = -1;
    entry->last_event = record;
    return handle_publish(entry, channel);
}

DISNI(jint, destroyEventChannel)(UNUSED JNIEnv *env, UNUSED jobject self, jlong channel)
{
    struct entry *entry = handle_begin_destroy(channel, KIND_EVENT_CHANNEL);
    if (entry == NULL) {
        return -errno;
    }
    rdma_destroy_event_channel(entry->object);
    free(entry->last_event);
    handle_end_destroy(entry, true);
    return 0;
}

DISNI(jlong, createId)(JNIEnv *env, UNUSED jobject self, jlong channel, jshort port_space)
{
    static const char verb[] = "rdma_create_id";
    struct rdma_cm_id *id;
    if (port_space != RDMA_PS_TCP) {
        throw_error(env, verb, EPROTONOSUPPORT);
        return -1;
    }
    struct entry *parent = acquire_or_throw(env, channel, KIND_EVENT_CHANNEL, verb);
    if (parent == NULL) {
        return -1;
    }
    struct entry *entry = handle_reserve(KIND_IDENTIFIER);
    if (entry == NULL || rdma_create_id(parent->object, &id, (void *) handle_of(entry), RDMA_PS_TCP) != 0) {
        throw_error(env, verb, errno);
        if (entry != NULL) {
            handle_discard(entry);
        }
        handle_release(parent);
        return -1;
    }
    atomic_store(&entry->identifier.queue_pair, 0);
    entry->identifier.send_elements = 0;
    entry->identifier.receive_elements = 0;
    atomic_store(&entry->parents[0], parent);
    return handle_publish(entry, id);
}

DISNI(jint, destroyCmId)(UNUSED JNIEnv *env, UNUSED jobject self, jlong id)
{
    /* Its queue pair is a user, so that it cannot be left behind. */
    struct entry *entry = handle_begin_destroy(id, KIND_IDENTIFIER);
    if (entry == NULL) {
        return -errno;
    }
    struct entry *channel = lock_channel_of(entry);
    int error = rdma_destroy_id(entry->object) == 0 ? 0 : errno;
    pthread_mutex_unlock(&channel->lock);
    handle_end_destroy(entry, error == 0);
    return -error;
}

EXTENSION(void, migrate)(JNIEnv *env, UNUSED jclass class, jlong id, jlong channel)
{
    static const char verb[] = "rdma_migrate_id";
    struct entry *target = acquire_or_throw(env, channel, KIND_EVENT_CHANNEL, verb);
    if (target == NULL) {
        return;
    }
    struct entry *identifier = identifier_enter_or_throw(env, id, false, verb);
    if (identifier == NULL) {
        handle_release(target);
        return;
    }
    struct entry *source = atomic_load(&identifier->parents[0]);
    struct entry *unused = source;
    if (source == target || rdma_migrate_id(identifier->object, target->object) != 0) {
        if (source != target) {
            throw_error(env, verb, errno);
        }
        unused = target;
    } else {
        atomic_store(&identifier->parents[0], target);
    }
    pthread_mutex_unlock(&source->lock);
    handle_release(unused);
    handle_release(identifier);
}
