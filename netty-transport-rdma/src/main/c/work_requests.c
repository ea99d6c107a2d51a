#include "work_requests.h"

#include <errno.h>
#include <string.h>

static const unsigned int KNOWN_FLAGS = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

/* Some drivers return errors as negative numbers. */
static int positive(int error)
{
    return error < 0 ? -error : error;
}

/*
 * Empties the batch after posting, where the library said which request it refused first. If it names none although it failed,
 * all requests are in the queue, and only the device could not be told: a lost connection is about to flush them.
 */
static int finish(struct batch *batch, int result, int refused)
{
    bool all = result == 0 || refused < 0 || refused >= batch->requests;
    batch->posted += all ? batch->requests : refused;
    batch->requests = 0;
    batch->elements = 0;
    return all ? 0 : positive(result);
}

int post_sends(struct entry *queue_pair, struct batch *batch)
{
    struct ibv_send_wr *refused = batch->sends;
    if (batch->requests == 0) {
        return 0;
    }
    for (int i = 1; i < batch->requests; i++) {
        batch->sends[i - 1].next = &batch->sends[i];
    }
    int result = ibv_post_send(queue_pair->object, batch->sends, &refused);
    return finish(batch, result, refused == NULL ? -1 : (int) (refused - batch->sends));
}

int post_receives(struct entry *queue_pair, struct batch *batch)
{
    struct ibv_recv_wr *refused = batch->receives;
    if (batch->requests == 0) {
        return 0;
    }
    for (int i = 1; i < batch->requests; i++) {
        batch->receives[i - 1].next = &batch->receives[i];
    }
    int result = ibv_post_recv(queue_pair->object, batch->receives, &refused);
    return finish(batch, result, refused == NULL ? -1 : (int) (refused - batch->receives));
}

static struct ibv_sge *take_sges(struct batch *batch, int elements)
{
    struct ibv_sge *sges = &batch->sges[batch->elements];
    batch->elements += elements;
    return sges;
}

struct ibv_send_wr *add_send(struct batch *batch, int elements)
{
    struct ibv_send_wr *request = &batch->sends[batch->requests++];
    memset(request, 0, sizeof *request);
    request->sg_list = take_sges(batch, elements);
    request->num_sge = elements;
    return request;
}

struct ibv_recv_wr *add_receive(struct batch *batch, int elements)
{
    struct ibv_recv_wr *request = &batch->receives[batch->requests++];
    memset(request, 0, sizeof *request);
    request->sg_list = take_sges(batch, elements);
    request->num_sge = elements;
    return request;
}

static uint32_t max_elements(const struct queue_limits *limits, enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_SEND_WITH_INV:
        return limits->send_elements;
    case IBV_WR_RDMA_READ:
        return limits->read_elements;
    default:
        return 0;
    }
}

static bool can_be_inline(enum ibv_wr_opcode opcode)
{
    return opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_LOCAL_INV && opcode != IBV_WR_BIND_MW;
}

int check_send(const struct queue_limits *limits, const struct ibv_send_wr *request)
{
    uint64_t bytes = 0;
    bool is_inline = (request->send_flags & IBV_SEND_INLINE) != 0;
    if ((request->send_flags & ~KNOWN_FLAGS) != 0 || (is_inline && !can_be_inline(request->opcode))
            || (uint32_t) request->num_sge > max_elements(limits, request->opcode)) {
        return EINVAL;
    }
    for (int i = 0; i < request->num_sge; i++) {
        bytes += request->sg_list[i].length;
    }
    return bytes > (is_inline ? limits->inline_bytes : INT32_MAX) ? EMSGSIZE : 0;
}

int check_receive(const struct queue_limits *limits, int64_t elements)
{
    return elements < 0 || elements > limits->receive_elements ? EINVAL : 0;
}
