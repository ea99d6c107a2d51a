/* Our own way to post: from a buffer whose capacity is known, with memory named by handles. */
#include "work_requests.h"

#include "org_nettyrdma_verbs_disni_NativeExtensions.h"

#include <errno.h>
#include <string.h>

#define LAYOUT(name) org_nettyrdma_verbs_disni_NativeExtensions_##name

struct send_header {
    uint64_t id;
    int32_t opcode;
    uint32_t flags;
    uint32_t elements;
    uint32_t key;
    uint64_t remote_address;
    uint32_t access;
    uint32_t immediate; /* in network order */
};

struct receive_header {
    uint64_t id;
    uint32_t elements;
    uint32_t unused;
};

struct element {
    jlong region;
    uint32_t offset;
    uint32_t length;
};

/* The work requests in a buffer of Java's, and the next byte to read. */
struct cursor {
    uint8_t *base;
    size_t offset;
    size_t capacity;
};

/* Copies what Java wrote, once: it could change between check and use. Returns false if it is not all in the buffer. */
static bool take(struct cursor *cursor, void *to, size_t bytes)
{
    if (bytes > cursor->capacity - cursor->offset) {
        return false;
    }
    memcpy(to, cursor->base + cursor->offset, bytes);
    cursor->offset += bytes;
    return true;
}

static int take_element(struct cursor *cursor, struct ibv_sge *sge)
{
    struct element element;
    struct region region;
    if (!take(cursor, &element, sizeof element)) {
        return EINVAL;
    }
    if (!handle_read_region(element.region, &region)) {
        return EBADF;
    }
    if (element.offset > region.length || element.length > region.length - element.offset) {
        return ERANGE;
    }
    sge->addr = region.address + element.offset;
    sge->length = element.length;
    sge->lkey = region.local_key;
    return 0;
}

static int take_elements(struct cursor *cursor, struct ibv_sge *sges, int count)
{
    int error = 0;
    for (int i = 0; i < count && error == 0; i++) {
        error = take_element(cursor, &sges[i]);
    }
    return error;
}

/* Reads everything but binds. On failure the batch is without the request. */
static int read_send(struct cursor *cursor, const struct send_header *header, const struct queue_limits *limits, struct batch *batch)
{
    struct ibv_send_wr *request = add_send(batch, (int) header->elements);
    request->wr_id = header->id;
    request->opcode = (enum ibv_wr_opcode) header->opcode;
    request->send_flags = header->flags;
    int error = take_elements(cursor, request->sg_list, request->num_sge);
    switch (request->opcode) {
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        request->imm_data = header->immediate;
        request->wr.rdma.remote_addr = header->remote_address;
        request->wr.rdma.rkey = header->key;
        break;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
        request->wr.rdma.remote_addr = header->remote_address;
        request->wr.rdma.rkey = header->key;
        break;
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
        request->invalidate_rkey = header->key;
        break;
    case IBV_WR_SEND:
        break;
    default:
        error = EINVAL;
    }
    if (error == 0) {
        error = check_send(limits, request);
    }
    if (error != 0) {
        batch->requests--;
        batch->elements -= request->num_sge;
    }
    return error;
}

/* Posts a bind, alone and at once: the driver needs to know the window's key of now, and the next bind the one of then. */
static int post_bind(struct cursor *cursor, const struct send_header *header, struct entry *queue_pair, struct batch *batch,
                     uint32_t *new_key)
{
    struct element element;
    struct region region;
    if (header->elements != 1 || !take(cursor, &element, sizeof element) || (header->flags & IBV_SEND_INLINE) != 0
            || (header->access & ~(uint32_t) (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)) != 0) {
        return EINVAL;
    }
    struct entry *memory = handle_acquire(element.region, KIND_MEMORY_REGION);
    struct entry *window = handle_acquire((jlong) header->remote_address, KIND_MEMORY_WINDOW);
    int error = memory == NULL || window == NULL || !handle_read_region(element.region, &region) ? EBADF : 0;
    if (error == 0 && (element.offset > region.length || element.length > region.length - element.offset)) {
        error = ERANGE;
    }
    if (error == 0) {
        struct ibv_mw *mw = window->object;
        struct ibv_send_wr *request = add_send(batch, 0);
        request->wr_id = header->id;
        request->opcode = IBV_WR_BIND_MW;
        request->send_flags = header->flags;
        request->bind_mw.mw = mw;
        request->bind_mw.rkey = ibv_inc_rkey(mw->rkey);
        request->bind_mw.bind_info.mr = memory->object;
        request->bind_mw.bind_info.addr = region.address + element.offset;
        request->bind_mw.bind_info.length = element.length;
        request->bind_mw.bind_info.mw_access_flags = header->access;
        *new_key = request->bind_mw.rkey;
        error = check_send(&queue_pair->queue_pair, request);
        if (error == 0) {
            error = post_sends(queue_pair, batch);
        }
        if (error == 0) {
            mw->rkey = *new_key;
        }
        batch->requests = 0;
    }
    if (window != NULL) {
        handle_release(window);
    }
    if (memory != NULL) {
        handle_release(memory);
    }
    return error;
}

/* Reads one request of the send side and posts what must be posted before or with it. */
static int next_send(struct cursor *cursor, struct entry *queue_pair, struct batch *batch)
{
    struct send_header header;
    size_t start = cursor->offset;
    uint32_t key;
    if (!take(cursor, &header, sizeof header) || header.elements > MAX_REQUEST_ELEMENTS) {
        return EINVAL;
    }
    bool bind = header.opcode == IBV_WR_BIND_MW;
    int error = 0;
    if (bind || is_full(batch, (int) header.elements)) {
        error = post_sends(queue_pair, batch);
    }
    if (error == 0 && !bind) {
        return read_send(cursor, &header, &queue_pair->queue_pair, batch);
    }
    if (error == 0) {
        error = post_bind(cursor, &header, queue_pair, batch, &key);
    }
    if (error == 0) {
        memcpy(cursor->base + start + offsetof(struct send_header, key), &key, sizeof key);
    }
    return error;
}

static int next_receive(struct cursor *cursor, struct entry *queue_pair, struct batch *batch)
{
    struct receive_header header;
    if (!take(cursor, &header, sizeof header)) {
        return EINVAL;
    }
    int error = check_receive(&queue_pair->queue_pair, header.elements);
    if (error == 0 && is_full(batch, (int) header.elements)) {
        error = post_receives(queue_pair, batch);
    }
    if (error != 0) {
        return error;
    }
    struct ibv_recv_wr *request = add_receive(batch, (int) header.elements);
    request->wr_id = header.id;
    error = take_elements(cursor, request->sg_list, request->num_sge);
    if (error != 0) {
        batch->requests--;
        batch->elements -= request->num_sge;
    }
    return error;
}

typedef int reader(struct cursor *cursor, struct entry *queue_pair, struct batch *batch);
typedef int poster(struct entry *queue_pair, struct batch *batch);

/* Reads and posts work requests until one is refused: what is in the batch by then was fine and is posted. */
static jint post_all(JNIEnv *env, jlong handle, struct cursor *cursor, jint count, reader *next, poster *post, const char *verb)
{
    struct batch batch;
    struct entry *queue_pair = acquire_or_throw(env, handle, KIND_QUEUE_PAIR, verb);
    if (queue_pair == NULL) {
        return 0;
    }
    batch_start(&batch);
    int error = 0;
    for (jint i = 0; i < count && error == 0; i++) {
        error = next(cursor, queue_pair, &batch);
    }
    int last_error = post(queue_pair, &batch);
    handle_release(queue_pair);
    if (batch.posted == 0 && (error != 0 || last_error != 0)) {
        throw_error(env, verb, last_error != 0 ? last_error : error);
    }
    return batch.posted;
}

static bool start(JNIEnv *env, jobject buffer, jint offset, const char *verb, struct cursor *cursor)
{
    cursor->base = buffer_or_throw(env, buffer, 0, verb, &cursor->capacity);
    if (cursor->base == NULL) {
        return false;
    }
    if (offset < 0 || (offset & 7) != 0 || (size_t) offset > cursor->capacity) {
        throw_error(env, verb, EINVAL);
        return false;
    }
    cursor->offset = (size_t) offset;
    return true;
}

EXTENSION(jint, postSend)(JNIEnv *env, UNUSED jclass class, jlong queue_pair, jobject buffer, jint offset, jint count)
{
    struct cursor cursor;
    if (!start(env, buffer, offset, "ibv_post_send", &cursor)) {
        return 0;
    }
    return post_all(env, queue_pair, &cursor, count, next_send, post_sends, "ibv_post_send");
}

EXTENSION(jint, postReceive)(JNIEnv *env, UNUSED jclass class, jlong queue_pair, jobject buffer, jint offset, jint count)
{
    struct cursor cursor;
    if (!start(env, buffer, offset, "ibv_post_recv", &cursor)) {
        return 0;
    }
    return post_all(env, queue_pair, &cursor, count, next_receive, post_receives, "ibv_post_recv");
}

_Static_assert(offsetof(struct send_header, id) == LAYOUT(SEND_ID), "layout");
_Static_assert(offsetof(struct send_header, opcode) == LAYOUT(SEND_OPCODE), "layout");
_Static_assert(offsetof(struct send_header, flags) == LAYOUT(SEND_FLAGS), "layout");
_Static_assert(offsetof(struct send_header, elements) == LAYOUT(SEND_ELEMENTS), "layout");
_Static_assert(offsetof(struct send_header, key) == LAYOUT(SEND_KEY), "layout");
_Static_assert(offsetof(struct send_header, remote_address) == LAYOUT(SEND_REMOTE_ADDRESS), "layout");
_Static_assert(offsetof(struct send_header, access) == LAYOUT(SEND_ACCESS), "layout");
_Static_assert(offsetof(struct send_header, immediate) == LAYOUT(SEND_IMMEDIATE), "layout");
_Static_assert(sizeof(struct send_header) == LAYOUT(SEND_HEADER_BYTES), "layout");
_Static_assert(offsetof(struct receive_header, id) == LAYOUT(RECEIVE_ID), "layout");
_Static_assert(offsetof(struct receive_header, elements) == LAYOUT(RECEIVE_ELEMENTS), "layout");
_Static_assert(sizeof(struct receive_header) == LAYOUT(RECEIVE_HEADER_BYTES), "layout");
_Static_assert(offsetof(struct element, region) == LAYOUT(ELEMENT_REGION), "layout");
_Static_assert(offsetof(struct element, offset) == LAYOUT(ELEMENT_OFFSET), "layout");
_Static_assert(offsetof(struct element, length) == LAYOUT(ELEMENT_LENGTH), "layout");
_Static_assert(sizeof(struct element) == LAYOUT(ELEMENT_BYTES), "layout");
