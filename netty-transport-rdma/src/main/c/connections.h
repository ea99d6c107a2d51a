/* rdma_cm: event channels, identifiers and their events. */
#ifndef NETTY_RDMA_CONNECTIONS_H
#define NETTY_RDMA_CONNECTIONS_H

#include "support.h"

#include <rdma/rdma_cma.h>

/* What Java sees of an event; EVENT_* in NativeExtensions are its offsets. */
struct event_record {
    int32_t type;
    int32_t status;
    jlong id;
    jlong listen_id;
    int32_t responder_resources;
    int32_t initiator_depth;
    int32_t private_data_length;
    int32_t unused;
    uint8_t private_data[256];
};

/*
 * Uses an identifier, alone: events of its channel are not taken meanwhile. librdmacm changes an identifier and its queue
 * pair when it takes an event, and does not guard that against calls of other threads. Returns NULL if there is no such
 * identifier.
 */
struct entry *identifier_enter(jlong id);

void identifier_leave(struct entry *identifier);

/* Like identifier_enter, but throws if there is none, or if it must be and is not bound to a device. */
struct entry *identifier_enter_or_throw(JNIEnv *env, jlong id, bool bound, const char *verb);

/* Locks the channel of an identifier that the caller keeps from being destroyed. */
struct entry *lock_channel_of(struct entry *identifier);

/* Takes and acknowledges the next event of a channel. Returns 0, or a negative errno: -EAGAIN if there is none. */
int take_event(struct entry *channel, struct event_record *record);

static inline struct rdma_cm_id *cm_id(const struct entry *identifier)
{
    return identifier->object;
}

#endif
