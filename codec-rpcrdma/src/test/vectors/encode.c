/*
 * Encodes messages of RPC-over-RDMA version 2 with the XDR routines that rpcgen makes of the .x files. Reads one message per
 * line, in words as check.py writes them, and prints its name and its bytes in hexadecimal digits.
 */
#include "rpcrdma_v2.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *word(void) {
    const char *next = strtok(NULL, " \n");
    if (next == NULL) {
        errx(1, "a word is missing");
    }
    return next;
}

static unsigned long long number(void) {
    char *end;
    unsigned long long value = strtoull(word(), &end, 0);
    if (*end != '\0') {
        errx(1, "not a number: ...%s", end);
    }
    return value;
}

static void *allocate(size_t size) {
    void *memory = calloc(1, size == 0 ? 1 : size);
    if (memory == NULL) {
        err(1, NULL);
    }
    return memory;
}

static struct rpcrdma2_segment segment(void) {
    struct rpcrdma2_segment result;
    result.rdma_handle = number();
    result.rdma_length = number();
    result.rdma_offset = number();
    return result;
}

static struct rpcrdma2_write_chunk write_chunk(void) {
    struct rpcrdma2_write_chunk chunk;
    chunk.rdma_target.rdma_target_len = number();
    chunk.rdma_target.rdma_target_val = allocate(chunk.rdma_target.rdma_target_len * sizeof(struct rpcrdma2_segment));
    for (u_int i = 0; i < chunk.rdma_target.rdma_target_len; i++) {
        chunk.rdma_target.rdma_target_val[i] = segment();
    }
    return chunk;
}

static struct rpcrdma2_chunk_lists chunk_lists(void) {
    struct rpcrdma2_chunk_lists lists = {0};
    lists.rdma_inv_handle = number();
    struct rpcrdma2_read_list **read = &lists.rdma_reads;
    for (unsigned long long left = number(); left > 0; left--) {
        *read = allocate(sizeof(struct rpcrdma2_read_list));
        (*read)->rdma_entry.rdma_position = number();
        (*read)->rdma_entry.rdma_target = segment();
        read = &(*read)->rdma_next;
    }
    struct rpcrdma2_write_list **write = &lists.rdma_writes;
    for (unsigned long long left = number(); left > 0; left--) {
        *write = allocate(sizeof(struct rpcrdma2_write_list));
        (*write)->rdma_entry = write_chunk();
        write = &(*write)->rdma_next;
    }
    if (number() != 0) {
        lists.rdma_reply = allocate(sizeof(struct rpcrdma2_write_chunk));
        *lists.rdma_reply = write_chunk();
    }
    return lists;
}

static bool_t encode_error(XDR *xdrs) {
    struct rpcrdma2_error error = {0};
    error.rdma_err = number();
    switch (error.rdma_err) {
        case RDMA2_ERR_VERS:
            error.rpcrdma2_error_u.rdma_vrange.rdma_vers_low = number();
            error.rpcrdma2_error_u.rdma_vrange.rdma_vers_high = number();
            break;
        case RDMA2_ERR_READ_CHUNKS:
        case RDMA2_ERR_WRITE_CHUNKS:
            error.rpcrdma2_error_u.rdma_max_chunks = number();
            break;
        case RDMA2_ERR_SEGMENTS:
            error.rpcrdma2_error_u.rdma_max_segments = number();
            break;
        case RDMA2_ERR_WRITE_RESOURCE:
            error.rpcrdma2_error_u.rdma_writeres.rdma_chunk_index = number();
            error.rpcrdma2_error_u.rdma_writeres.rdma_length_needed = number();
            break;
        case RDMA2_ERR_REPLY_RESOURCE:
            error.rpcrdma2_error_u.rdma_length_needed = number();
            break;
        default:
            break;
    }
    return xdr_rpcrdma2_error(xdrs, &error);
}

/* The value of a property, encoded by the routine of its own type. */
static void encode_value(struct rpcrdma2_propval *property, unsigned long long value) {
    XDR xdrs;
    property->rdma_data.rdma_data_val = allocate(BYTES_PER_XDR_UNIT);
    xdrmem_create(&xdrs, property->rdma_data.rdma_data_val, BYTES_PER_XDR_UNIT, XDR_ENCODE);
    bool_t done = FALSE;
    if (property->rdma_which == RDMA2_PROPID_RBSIZ) {
        rpcrdma2_prop_rbsiz size = value;
        done = xdr_rpcrdma2_prop_rbsiz(&xdrs, &size);
    } else if (property->rdma_which == RDMA2_PROPID_BRS) {
        rpcrdma2_prop_brs support = value;
        done = xdr_rpcrdma2_prop_brs(&xdrs, &support);
    }
    if (!done) {
        errx(1, "cannot encode property %u", property->rdma_which);
    }
    property->rdma_data.rdma_data_len = xdr_getpos(&xdrs);
}

static rpcrdma2_propset properties(void) {
    rpcrdma2_propset set;
    set.rpcrdma2_propset_len = number();
    set.rpcrdma2_propset_val = allocate(set.rpcrdma2_propset_len * sizeof(rpcrdma2_propval));
    for (u_int i = 0; i < set.rpcrdma2_propset_len; i++) {
        set.rpcrdma2_propset_val[i].rdma_which = number();
        encode_value(&set.rpcrdma2_propset_val[i], number());
    }
    return set;
}

static bool_t encode_properties(XDR *xdrs) {
    struct rpcrdma2_connprop message;
    message.rdma_props = properties();
    return xdr_rpcrdma2_connprop(xdrs, &message);
}

/* A subset of at most 256 positions, without words of zero at its end. */
static rpcrdma2_propsubset subset(void) {
    rpcrdma2_propsubset result = {0};
    result.rpcrdma2_propsubset_val = allocate(8 * sizeof(uint32));
    for (unsigned long long left = number(); left > 0; left--) {
        u_int position = number();
        u_int index = position / 32;
        if (index >= 8) {
            errx(1, "position %u is too high", position);
        }
        result.rpcrdma2_propsubset_val[index] |= 1u << position % 32;
        if (result.rpcrdma2_propsubset_len <= index) {
            result.rpcrdma2_propsubset_len = index + 1;
        }
    }
    return result;
}

static bool_t encode_request(XDR *xdrs) {
    struct rpcrdma2_reqprop message;
    message.rdma_want = properties();
    return xdr_rpcrdma2_reqprop(xdrs, &message);
}

static bool_t encode_response(XDR *xdrs) {
    struct rpcrdma2_respprop message;
    message.rdma_done = subset();
    message.rdma_rej = subset();
    message.rdma_pend = subset();
    return xdr_rpcrdma2_respprop(xdrs, &message);
}

static bool_t encode_update(XDR *xdrs) {
    struct rpcrdma2_updprop message;
    message.rdma_now.rdma_which = number();
    encode_value(&message.rdma_now, number());
    message.rdma_pendclr = number();
    return xdr_rpcrdma2_updprop(xdrs, &message);
}

static bool_t encode_message(XDR *xdrs, const char *type) {
    struct rpcrdma2_hdr_prefix prefix;
    prefix.rdma_start.rdma_htype = strcmp(type, "RDMA2_MSG") == 0 ? RDMA2_MSG
            : strcmp(type, "RDMA2_NOMSG") == 0 ? RDMA2_NOMSG
            : strcmp(type, "RDMA2_ERROR") == 0 ? RDMA2_ERROR
            : strcmp(type, "RDMA2_REQPROP") == 0 ? RDMA2_REQPROP
            : strcmp(type, "RDMA2_RESPPROP") == 0 ? RDMA2_RESPPROP
            : strcmp(type, "RDMA2_UPDPROP") == 0 ? RDMA2_UPDPROP : RDMA2_CONNPROP;
    prefix.rdma_start.rdma_xid = number();
    prefix.rdma_start.rdma_vers = number();
    prefix.rdma_start.rdma_credit = number();
    prefix.rdma_flags = number();
    if (!xdr_rpcrdma2_hdr_prefix(xdrs, &prefix)) {
        return FALSE;
    }
    switch (prefix.rdma_start.rdma_htype) {
        case RDMA2_MSG: {
            struct rpcrdma2_msg message;
            message.rdma_chunks = chunk_lists();
            message.rdma_rpc_first_word = number();
            return xdr_rpcrdma2_msg(xdrs, &message);
        }
        case RDMA2_NOMSG: {
            struct rpcrdma2_nomsg message;
            message.rdma_chunks = chunk_lists();
            return xdr_rpcrdma2_nomsg(xdrs, &message);
        }
        case RDMA2_ERROR:
            return encode_error(xdrs);
        case RDMA2_REQPROP:
            return encode_request(xdrs);
        case RDMA2_RESPPROP:
            return encode_response(xdrs);
        case RDMA2_UPDPROP:
            return encode_update(xdrs);
        default:
            return encode_properties(xdrs);
    }
}

int main(void) {
    static char line[65536];
    static char bytes[65536];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *name = strtok(line, " \n");
        const char *type = word();
        XDR xdrs;
        xdrmem_create(&xdrs, bytes, sizeof bytes, XDR_ENCODE);
        if (!encode_message(&xdrs, type)) {
            errx(1, "%s: cannot be encoded", name);
        }
        printf("%s ", name);
        for (u_int i = 0; i < xdr_getpos(&xdrs); i++) {
            printf("%02x", (unsigned char) bytes[i]);
        }
        printf("\n");
    }
    return 0;
}
