/* Work requests on their way from Java's memory to the device: checked, copied, and posted several at a time. */
#ifndef NETTY_RDMA_WORK_REQUESTS_H
#define NETTY_RDMA_WORK_REQUESTS_H

#include "support.h"

#include <infiniband/verbs.h>

enum {
    BATCH_REQUESTS = 16,
    BATCH_ELEMENTS = 64,
    MAX_REQUEST_ELEMENTS = 32, /* one request always fits into an empty batch */
};

/* Only the counters start at zero, by batch_start: an initializer would clear three kilobytes for each message. */
struct batch {
    int requests;
    int elements;
    int posted; /* in all batches so far */
    union {
        struct ibv_send_wr sends[BATCH_REQUESTS];
        struct ibv_recv_wr receives[BATCH_REQUESTS];
    };
    struct ibv_sge sges[BATCH_ELEMENTS];
};

static inline void batch_start(struct batch *batch)
{
    batch->requests = 0;
    batch->elements = 0;
    batch->posted = 0;
}

/* Posts what a batch holds and empties it. Returns 0, or an errno if the device refused a request. */
int post_sends(struct entry *queue_pair, struct batch *batch);
int post_receives(struct entry *queue_pair, struct batch *batch);

/* Whether a batch must be posted before a request with so many elements can be added. */
static inline bool is_full(const struct batch *batch, int elements)
{
    return batch->requests == BATCH_REQUESTS || batch->elements + elements > BATCH_ELEMENTS;
}

/* Adds a request, empty but for its scatter/gather list, whose elements are to be filled in by the caller. */
struct ibv_send_wr *add_send(struct batch *batch, int elements);
struct ibv_recv_wr *add_receive(struct batch *batch, int elements);

/*
 * Checks a request of the send side, filled in but not posted, against what the queue pair was granted. Drivers trust their
 * callers with this: they would copy inline data beyond the end of the queue. Returns 0 or an errno.
 */
int check_send(const struct queue_limits *limits, const struct ibv_send_wr *request);

/* Likewise for a receive, by the number of its elements. */
int check_receive(const struct queue_limits *limits, int64_t elements);

#endif
