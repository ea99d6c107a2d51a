/*
 * Handles: what Java holds in place of an address.
 *
 * A handle names an entry of a table that only grows, and the generation in which the entry held the object. So a handle
 * that is stale, made up, or of another kind is told from a valid one without touching anything but the table.
 *
 * An entry counts its users: the calls that are using the object now, and the objects that were created from it, its
 * children. Only an object without users can be destroyed; so an object outlives its children, and nothing is pulled away
 * under a call of another thread.
 */
#ifndef NETTY_RDMA_HANDLES_H
#define NETTY_RDMA_HANDLES_H

#include <jni.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum kind {
    KIND_NONE, /* nothing, or an object that is being created or destroyed */
    KIND_EVENT_CHANNEL,
    KIND_IDENTIFIER,
    KIND_CONTEXT,
    KIND_PROTECTION_DOMAIN,
    KIND_COMPLETION_CHANNEL,
    KIND_COMPLETION_QUEUE,
    KIND_QUEUE_PAIR,
    KIND_MEMORY_REGION,
    KIND_MEMORY_WINDOW,
    KIND_WAKEUP,
};

enum { MAX_PARENTS = 4 };

/* A registered piece of memory. */
struct region {
    uint64_t address;
    uint32_t length;
    uint32_t local_key;
};

/* What a device granted to a queue pair. */
struct queue_limits {
    uint32_t send_depth;
    uint32_t receive_depth;
    uint32_t send_elements;
    uint32_t receive_elements;
    uint32_t read_elements;
    uint32_t inline_bytes;
};

struct entry {
    _Atomic uint64_t state;
    uint32_t index;
    enum kind kind;                              /* of the object, also while it is being created or destroyed */
    void *object;                                /* what the library below knows it by */
    struct entry *_Atomic parents[MAX_PARENTS];  /* what it was created from; each has this as a user */
    pthread_mutex_t lock;                        /* of an event channel: held in every call that concerns its identifiers */
    union {
        struct event_record *last_event; /* of an event channel */
        struct {
            _Atomic jlong queue_pair; /* 0 if there is none */
            uint32_t send_elements;   /* for the next queue pair */
            uint32_t receive_elements;
        } identifier;
        struct device *device; /* of a context */
        struct {
            _Atomic uint32_t unacknowledged; /* events that were taken but not acknowledged */
        } completion_queue;
        struct queue_limits queue_pair;
        struct {
            _Atomic uint64_t address;
            _Atomic uint32_t length;
            _Atomic uint32_t local_key;
        } region;
    };
    uint32_t next_free;
};

/* Takes an entry for an object that is about to be created. Returns NULL and sets errno if there is none. */
struct entry *handle_reserve(enum kind kind);

/* The handle by which Java will know, or knows, the object of an entry. */
jlong handle_of(const struct entry *entry);

/* Makes the object of a reserved entry known to Java. Parents were acquired by the caller and belong to the entry now. */
jlong handle_publish(struct entry *entry, void *object);

/* Gives a reserved entry back; its object was not created. */
void handle_discard(struct entry *entry);

/* Uses an object until handle_release. Returns NULL if the handle does not name a living object of this kind. */
struct entry *handle_acquire(jlong handle, enum kind kind);

/* One more user for an entry that has a user already, or is kept alive by a lock of the caller. */
void handle_retain(struct entry *entry);

void handle_release(struct entry *entry);

/*
 * Starts to destroy an object: from now on its handle is refused. Returns NULL and sets errno to EBADF if there is no such
 * object, or EBUSY if it has users.
 */
struct entry *handle_begin_destroy(jlong handle, enum kind kind);

/* Ends what handle_begin_destroy started: either the object is gone and its parents lose a user, or it is as before. */
void handle_end_destroy(struct entry *entry, bool destroyed);

/* Copies what is known of a memory region, without becoming a user. Returns false if there is no such region. */
bool handle_read_region(jlong handle, struct region *region);

/* How many objects Java knows. */
jint handle_count(void);

#endif
