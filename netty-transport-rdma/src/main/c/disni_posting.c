/*
 * DiSNI's way to post: lists of struct ibv_send_wr and struct ibv_recv_wr that its Java side writes into memory of its own,
 * with addresses in them. The requests are copied and checked; the addresses have to be believed.
 */
#include "work_requests.h"

#include <errno.h>
#include <string.h>

/* What DiSNI fills in; the rest of the structure it leaves undefined. */
static const size_t SEND_BYTES = offsetof(struct ibv_send_wr, wr.rdma.rkey) + sizeof(uint32_t);
static const size_t RECEIVE_BYTES = offsetof(struct ibv_recv_wr, num_sge) + sizeof(int);

/* Binds are not among them: they would hold addresses of structures of libibverbs. */
static bool is_known(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_READ:
    case IBV_WR_LOCAL_INV:
    case IBV_WR_SEND_WITH_INV:
        return true;
    default:
        return false;
    }
}

static int copy_send(struct entry *queue_pair, const struct ibv_send_wr *source, struct batch *batch)
{
    if (source->num_sge < 0 || source->num_sge > MAX_REQUEST_ELEMENTS || !is_known(source->opcode)) {
        return EINVAL;
    }
    if (source->num_sge > 0 && source->sg_list == NULL) {
        return EFAULT;
    }
    int error = is_full(batch, source->num_sge) ? post_sends(queue_pair, batch) : 0;
    if (error != 0) {
        return error;
    }
    struct ibv_send_wr *request = add_send(batch, source->num_sge);
    if (source->num_sge > 0) {
        memcpy(request->sg_list, source->sg_list, (size_t) source->num_sge * sizeof *request->sg_list);
    }
    request->wr_id = source->wr_id;
    request->opcode = source->opcode;
    request->send_flags = source->send_flags;
    request->imm_data = source->imm_data; /* or the key to invalidate, in the same place */
    request->wr.rdma.remote_addr = source->wr.rdma.remote_addr;
    request->wr.rdma.rkey = source->wr.rdma.rkey;
    error = check_send(&queue_pair->queue_pair, request);
    if (error != 0) {
        batch->requests--;
        batch->elements -= request->num_sge;
    }
    return error;
}

DISNI(void, postSend)(JNIEnv *env, UNUSED jobject self, jlong handle, jlong list)
{
    static const char verb[] = "ibv_post_send";
    struct batch batch;
    struct ibv_send_wr source = {.next = pointer(list)};
    struct entry *queue_pair = acquire_or_throw(env, handle, KIND_QUEUE_PAIR, verb);
    if (queue_pair == NULL) {
        return;
    }
    batch_start(&batch);
    int error = list == 0 ? EFAULT : 0;
    /* A list longer than the queue cannot fit; one that ends nowhere must end here. */
    for (uint32_t i = 0; source.next != NULL && error == 0; i++) {
        memcpy(&source, source.next, SEND_BYTES);
        error = i < queue_pair->queue_pair.send_depth ? copy_send(queue_pair, &source, &batch) : ENOMEM;
    }
    int last_error = post_sends(queue_pair, &batch);
    handle_release(queue_pair);
    if (error != 0 || last_error != 0) {
        throw_error(env, verb, error != 0 ? error : last_error);
    }
}

static int copy_receive(struct entry *queue_pair, const struct ibv_recv_wr *source, struct batch *batch)
{
    int error = check_receive(&queue_pair->queue_pair, source->num_sge);
    if (error == 0 && source->num_sge > 0 && source->sg_list == NULL) {
        error = EFAULT;
    }
    if (error == 0 && is_full(batch, source->num_sge)) {
        error = post_receives(queue_pair, batch);
    }
    if (error == 0) {
        struct ibv_recv_wr *request = add_receive(batch, source->num_sge);
        request->wr_id = source->wr_id;
        if (source->num_sge > 0) {
            memcpy(request->sg_list, source->sg_list, (size_t) source->num_sge * sizeof *request->sg_list);
        }
    }
    return error;
}

DISNI(void, postRecv)(JNIEnv *env, UNUSED jobject self, jlong handle, jlong list)
{
    static const char verb[] = "ibv_post_recv";
    struct batch batch;
    struct ibv_recv_wr source = {.next = pointer(list)};
    struct entry *queue_pair = acquire_or_throw(env, handle, KIND_QUEUE_PAIR, verb);
    if (queue_pair == NULL) {
        return;
    }
    batch_start(&batch);
    int error = list == 0 ? EFAULT : 0;
    for (uint32_t i = 0; source.next != NULL && error == 0; i++) {
        memcpy(&source, source.next, RECEIVE_BYTES);
        error = i < queue_pair->queue_pair.receive_depth ? copy_receive(queue_pair, &source, &batch) : ENOMEM;
    }
    int last_error = post_receives(queue_pair, &batch);
    handle_release(queue_pair);
    if (error != 0 || last_error != 0) {
        throw_error(env, verb, error != 0 ? error : last_error);
    }
}
