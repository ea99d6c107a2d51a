/* Connecting, and the addresses of both sides. */
#include "connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

enum {
    MAX_PRIVATE_DATA = 255,
    IPV4_BYTES = 2 + 4,
    IPV6_BYTES = 2 + 16 + 4,
};

/* Reads an address in the form of SocketAddresses.java; false, with an exception thrown, if it is not one. */
static bool read_address(JNIEnv *env, jbyteArray encoded, struct sockaddr_storage *address, const char *verb)
{
    uint8_t bytes[IPV6_BYTES];
    jsize length = encoded == NULL ? 0 : (*env)->GetArrayLength(env, encoded);
    memset(address, 0, sizeof *address);
    if (length != IPV4_BYTES && length != IPV6_BYTES) {
        throw_error(env, verb, EAFNOSUPPORT);
        return false;
    }
    (*env)->GetByteArrayRegion(env, encoded, 0, length, (jbyte *) bytes);
    if (length == IPV4_BYTES) {
        struct sockaddr_in *in = (struct sockaddr_in *) address;
        in->sin_family = AF_INET;
        memcpy(&in->sin_port, bytes, 2);
        memcpy(&in->sin_addr, bytes + 2, 4);
    } else {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) address;
        in6->sin6_family = AF_INET6;
        memcpy(&in6->sin6_port, bytes, 2);
        memcpy(&in6->sin6_addr, bytes + 2, 16);
        memcpy(&in6->sin6_scope_id, bytes + 18, 4);
        in6->sin6_scope_id = ntohl(in6->sin6_scope_id);
    }
    return true;
}

static jbyteArray write_address(JNIEnv *env, const struct sockaddr *address, const char *verb)
{
    uint8_t bytes[IPV6_BYTES];
    jsize length;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *) address;
        length = IPV4_BYTES;
        memcpy(bytes, &in->sin_port, 2);
        memcpy(bytes + 2, &in->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) address;
        uint32_t scope = htonl(in6->sin6_scope_id);
        length = IPV6_BYTES;
        memcpy(bytes, &in6->sin6_port, 2);
        memcpy(bytes + 2, &in6->sin6_addr, 16);
        memcpy(bytes + 18, &scope, 4);
    } else {
        throw_error(env, verb, EADDRNOTAVAIL);
        return NULL;
    }
    jbyteArray encoded = (*env)->NewByteArray(env, length);
    if (encoded != NULL) {
        (*env)->SetByteArrayRegion(env, encoded, 0, length, (const jbyte *) bytes);
    }
    return encoded;
}

static void bind_to(JNIEnv *env, jlong id, struct sockaddr *address)
{
    static const char verb[] = "rdma_bind_addr";
    struct entry *identifier = identifier_enter_or_throw(env, id, false, verb);
    if (identifier == NULL) {
        return;
    }
    if (rdma_bind_addr(identifier->object, address) != 0) {
        throw_error(env, verb, errno);
    }
    identifier_leave(identifier);
}

DISNI(void, bindAddr)(JNIEnv *env, UNUSED jobject self, jlong id, jlong address)
{
    struct sockaddr_in in;
    if (address == 0) {
        throw_error(env, "rdma_bind_addr", EFAULT);
        return;
    }
    /* DiSNI knows no other family, and passes no more bytes than this. */
    memcpy(&in, pointer(address), sizeof in);
    in.sin_family = AF_INET;
    bind_to(env, id, (struct sockaddr *) &in);
}

EXTENSION(void, bindAddress)(JNIEnv *env, UNUSED jclass class, jlong id, jbyteArray encoded)
{
    struct sockaddr_storage address;
    if (read_address(env, encoded, &address, "rdma_bind_addr")) {
        bind_to(env, id, (struct sockaddr *) &address);
    }
}

DISNI(void, listen)(JNIEnv *env, UNUSED jobject self, jlong id, jint backlog)
{
    static const char verb[] = "rdma_listen";
    struct entry *identifier = identifier_enter_or_throw(env, id, false, verb);
    if (identifier == NULL) {
        return;
    }
    if (rdma_listen(identifier->object, backlog) != 0) {
        throw_error(env, verb, errno);
    }
    identifier_leave(identifier);
}

static void resolve(JNIEnv *env, jlong id, struct sockaddr *source, struct sockaddr *destination, jint timeout_millis)
{
    static const char verb[] = "rdma_resolve_addr";
    struct entry *identifier = identifier_enter_or_throw(env, id, false, verb);
    if (identifier == NULL) {
        return;
    }
    if (rdma_resolve_addr(identifier->object, source, destination, timeout_millis) != 0) {
        throw_error(env, verb, errno);
    }
    identifier_leave(identifier);
}

DISNI(void, resolveAddr)(JNIEnv *env, UNUSED jobject self, jlong id, jlong source, jlong destination, jint timeout_millis)
{
    struct sockaddr_in from;
    struct sockaddr_in to;
    if (destination == 0) {
        throw_error(env, "rdma_resolve_addr", EFAULT);
        return;
    }
    if (source != 0) {
        memcpy(&from, pointer(source), sizeof from);
        from.sin_family = AF_INET;
    }
    memcpy(&to, pointer(destination), sizeof to);
    to.sin_family = AF_INET;
    resolve(env, id, source == 0 ? NULL : (struct sockaddr *) &from, (struct sockaddr *) &to, timeout_millis);
}

EXTENSION(void, resolveAddress)(JNIEnv *env, UNUSED jclass class, jlong id, jbyteArray source, jbyteArray destination,
                                jint timeout_millis)
{
    struct sockaddr_storage from;
    struct sockaddr_storage to;
    if (read_address(env, destination, &to, "rdma_resolve_addr")
            && (source == NULL || read_address(env, source, &from, "rdma_resolve_addr"))) {
        resolve(env, id, source == NULL ? NULL : (struct sockaddr *) &from, (struct sockaddr *) &to, timeout_millis);
    }
}

DISNI(void, resolveRoute)(JNIEnv *env, UNUSED jobject self, jlong id, jint timeout_millis)
{
    static const char verb[] = "rdma_resolve_route";
    struct entry *identifier = identifier_enter_or_throw(env, id, true, verb);
    if (identifier == NULL) {
        return;
    }
    if (rdma_resolve_route(identifier->object, timeout_millis) != 0) {
        throw_error(env, verb, errno);
    }
    identifier_leave(identifier);
}

typedef int connect_verb(struct rdma_cm_id *id, struct rdma_conn_param *parameters);

/* The two verbs that begin and complete a connection differ in nothing but the verb. */
static void connect_with(JNIEnv *env, jlong id, struct rdma_conn_param *parameters, connect_verb *function, const char *verb)
{
    struct entry *identifier = identifier_enter_or_throw(env, id, true, verb);
    if (identifier == NULL) {
        return;
    }
    if (function(identifier->object, parameters) != 0) {
        throw_error(env, verb, errno);
    }
    identifier_leave(identifier);
}

/* Reads private data, null for none; false, with an exception thrown, if it is too long for any transport. */
static bool read_private_data(JNIEnv *env, jbyteArray from, uint8_t *to, uint8_t *length, const char *verb)
{
    jsize bytes = from == NULL ? 0 : (*env)->GetArrayLength(env, from);
    if (bytes > MAX_PRIVATE_DATA) {
        throw_error(env, verb, EMSGSIZE);
        return false;
    }
    if (bytes > 0) {
        (*env)->GetByteArrayRegion(env, from, 0, bytes, (jbyte *) to);
    }
    *length = (uint8_t) bytes;
    return true;
}

static bool in_range(jint value, jint maximum)
{
    return value >= 0 && value <= maximum;
}

/* Connects or accepts with what Java's connect and accept take. */
static void connect_or_accept(JNIEnv *env, jlong id, jbyteArray private_data, const jint numbers[4], connect_verb *function,
                              const char *verb)
{
    uint8_t data[MAX_PRIVATE_DATA];
    struct rdma_conn_param parameters = {.private_data = data};
    if (!in_range(numbers[0], UINT8_MAX) || !in_range(numbers[1], UINT8_MAX) || !in_range(numbers[2], 7) || !in_range(numbers[3], 7)) {
        throw_error(env, verb, EINVAL);
        return;
    }
    parameters.responder_resources = (uint8_t) numbers[0];
    parameters.initiator_depth = (uint8_t) numbers[1];
    parameters.retry_count = (uint8_t) numbers[2];
    parameters.rnr_retry_count = (uint8_t) numbers[3];
    if (read_private_data(env, private_data, data, &parameters.private_data_len, verb)) {
        connect_with(env, id, &parameters, function, verb);
    }
}

EXTENSION(void, connect)(JNIEnv *env, UNUSED jclass class, jlong id, jbyteArray private_data, jint responder_resources,
                         jint initiator_depth, jint retry_count, jint rnr_retry_count)
{
    const jint numbers[] = {responder_resources, initiator_depth, retry_count, rnr_retry_count};
    connect_or_accept(env, id, private_data, numbers, rdma_connect, "rdma_connect");
}

EXTENSION(void, accept)(JNIEnv *env, UNUSED jclass class, jlong id, jbyteArray private_data, jint responder_resources,
                        jint initiator_depth, jint retry_count, jint rnr_retry_count)
{
    const jint numbers[] = {responder_resources, initiator_depth, retry_count, rnr_retry_count};
    connect_or_accept(env, id, private_data, numbers, rdma_accept, "rdma_accept");
}

DISNI(void, connect)(JNIEnv *env, UNUSED jobject self, jlong id, jint retry_count, jint rnr_retry_count, jlong private_data,
                     jbyte private_data_length)
{
    struct rdma_conn_param parameters = {
        .private_data = pointer(private_data),
        .private_data_len = private_data == 0 ? 0 : (uint8_t) private_data_length,
        .responder_resources = RDMA_MAX_RESP_RES,
        .initiator_depth = RDMA_MAX_INIT_DEPTH,
        .retry_count = (uint8_t) (retry_count & 7),
        .rnr_retry_count = (uint8_t) (rnr_retry_count & 7),
    };
    connect_with(env, id, &parameters, rdma_connect, "rdma_connect");
}

DISNI(void, accept)(JNIEnv *env, UNUSED jobject self, jlong id, jint retry_count, jint rnr_retry_count)
{
    struct rdma_conn_param parameters = {
        .responder_resources = RDMA_MAX_RESP_RES,
        .initiator_depth = RDMA_MAX_INIT_DEPTH,
        .retry_count = (uint8_t) (retry_count & 7),
        .rnr_retry_count = (uint8_t) (rnr_retry_count & 7),
    };
    connect_with(env, id, &parameters, rdma_accept, "rdma_accept");
}

EXTENSION(void, reject)(JNIEnv *env, UNUSED jclass class, jlong id, jbyteArray private_data)
{
    static const char verb[] = "rdma_reject";
    uint8_t data[MAX_PRIVATE_DATA];
    uint8_t length;
    if (!read_private_data(env, private_data, data, &length, verb)) {
        return;
    }
    struct entry *identifier = identifier_enter_or_throw(env, id, true, verb);
    if (identifier == NULL) {
        return;
    }
    if (rdma_reject(identifier->object, data, length) != 0) {
        throw_error(env, verb, errno);
    }
    identifier_leave(identifier);
}

DISNI(jint, disconnect)(UNUSED JNIEnv *env, UNUSED jobject self, jlong id)
{
    struct entry *identifier = identifier_enter(id);
    if (identifier == NULL) {
        return -EBADF;
    }
    int error = ENOTCONN;
    if (cm_id(identifier)->verbs != NULL) {
        error = rdma_disconnect(identifier->object) == 0 ? 0 : errno;
    }
    identifier_leave(identifier);
    return -error;
}

typedef struct sockaddr *address_getter(struct rdma_cm_id *id);

/* rdma_get_local_addr and rdma_get_peer_addr are inline functions, and an identifier always has both. */
static struct sockaddr *local(struct rdma_cm_id *id)
{
    return rdma_get_local_addr(id);
}

static struct sockaddr *peer(struct rdma_cm_id *id)
{
    return rdma_get_peer_addr(id);
}

/* DiSNI has room for an IPv4 address; what is not one it cannot be told. */
static jint copy_address(jlong id, jlong address, address_getter *getter)
{
    if (address == 0) {
        return -EFAULT;
    }
    struct entry *identifier = identifier_enter(id);
    if (identifier == NULL) {
        return -EBADF;
    }
    const struct sockaddr *found = getter(identifier->object);
    int error = found->sa_family == AF_INET ? 0 : EAFNOSUPPORT;
    if (error == 0) {
        memcpy(pointer(address), found, sizeof(struct sockaddr_in));
    }
    identifier_leave(identifier);
    return -error;
}

DISNI(jint, getSrcAddr)(UNUSED JNIEnv *env, UNUSED jobject self, jlong id, jlong address)
{
    return copy_address(id, address, local);
}

DISNI(jint, getDstAddr)(UNUSED JNIEnv *env, UNUSED jobject self, jlong id, jlong address)
{
    return copy_address(id, address, peer);
}

static jbyteArray address_of(JNIEnv *env, jlong id, address_getter *getter, const char *verb)
{
    struct entry *identifier = identifier_enter_or_throw(env, id, false, verb);
    if (identifier == NULL) {
        return NULL;
    }
    jbyteArray encoded = write_address(env, getter(identifier->object), verb);
    identifier_leave(identifier);
    return encoded;
}

EXTENSION(jbyteArray, localAddress)(JNIEnv *env, UNUSED jclass class, jlong id)
{
    return address_of(env, id, local, "rdma_get_local_addr");
}

EXTENSION(jbyteArray, remoteAddress)(JNIEnv *env, UNUSED jclass class, jlong id)
{
    return address_of(env, id, peer, "rdma_get_peer_addr");
}
