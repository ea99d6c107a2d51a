/* Devices: opened by librdmacm, shared by all identifiers that use them. */
#ifndef NETTY_RDMA_DEVICES_H
#define NETTY_RDMA_DEVICES_H

#include "support.h"

#include <infiniband/verbs.h>

/* What is remembered of an open device. */
struct device {
    struct ibv_context *context;
    struct ibv_context **pinned; /* librdmacm keeps every device of this list open */
    struct entry *entry;
    struct ibv_device_attr_ex attributes;
    struct device *next;
};

/* The descriptor that has the asynchronous events of a device. */
static inline int async_descriptor(const struct entry *context)
{
    return ((const struct ibv_context *) context->object)->async_fd;
}

#endif
