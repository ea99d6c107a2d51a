/* Protection domains, memory regions and memory windows. */
#include "devices.h"

#include <errno.h>
#include <string.h>

/* Addresses of a region stay what they are, so zero-based regions are not among the rights that Java can ask for. */
static const int KNOWN_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ
        | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB;

DISNI(jlong, allocPd)(JNIEnv *env, UNUSED jobject self, jlong context)
{
    static const char verb[] = "ibv_alloc_pd";
    struct entry *parent = acquire_or_throw(env, context, KIND_CONTEXT, verb);
    if (parent == NULL) {
        return -1;
    }
    struct entry *entry = handle_reserve(KIND_PROTECTION_DOMAIN);
    struct ibv_pd *domain = entry == NULL ? NULL : ibv_alloc_pd(parent->object);
    if (domain == NULL) {
        throw_error(env, verb, errno);
        if (entry != NULL) {
            handle_discard(entry);
        }
        handle_release(parent);
        return -1;
    }
    atomic_store(&entry->parents[0], parent);
    return handle_publish(entry, domain);
}

DISNI(jint, deallocPd)(UNUSED JNIEnv *env, UNUSED jobject self, jlong domain)
{
    struct entry *entry = handle_begin_destroy(domain, KIND_PROTECTION_DOMAIN);
    if (entry == NULL) {
        return -errno;
    }
    int error = ibv_dealloc_pd(entry->object);
    handle_end_destroy(entry, error == 0);
    return -error;
}

DISNI(jint, getPdHandle)(JNIEnv *env, UNUSED jobject self, jlong domain)
{
    struct entry *entry = acquire_or_throw(env, domain, KIND_PROTECTION_DOMAIN, "getPdHandle");
    if (entry == NULL) {
        return -1;
    }
    jint number = (jint) ((const struct ibv_pd *) entry->object)->handle;
    handle_release(entry);
    return number;
}

static struct ibv_mr *register_region(struct entry *entry, struct entry *domain, jlong address, jint length, jint access)
{
    struct ibv_mr *region = ibv_reg_mr(domain->object, pointer(address), (size_t) length, (unsigned int) access);
    if (region != NULL) {
        atomic_store(&entry->region.address, (uint64_t) address);
        atomic_store(&entry->region.length, (uint32_t) length);
        atomic_store(&entry->region.local_key, region->lkey);
        atomic_store(&entry->parents[0], domain);
    }
    return region;
}

DISNI(jlong, regMr)(JNIEnv *env, UNUSED jobject self, jlong domain, jlong address, jint length, jint access, jlong local_key,
                    jlong remote_key, jlong number)
{
    static const char verb[] = "ibv_reg_mr";
    if (address == 0 || local_key == 0 || remote_key == 0 || number == 0) {
        throw_error(env, verb, EFAULT);
        return -1;
    }
    if (length <= 0 || (access & ~KNOWN_ACCESS) != 0) {
        throw_error(env, verb, EINVAL);
        return -1;
    }
    struct entry *parent = acquire_or_throw(env, domain, KIND_PROTECTION_DOMAIN, verb);
    if (parent == NULL) {
        return -1;
    }
    struct entry *entry = handle_reserve(KIND_MEMORY_REGION);
    struct ibv_mr *region = entry == NULL ? NULL : register_region(entry, parent, address, length, access);
    if (region == NULL) {
        throw_error(env, verb, errno);
        if (entry != NULL) {
            handle_discard(entry);
        }
        handle_release(parent);
        return -1;
    }
    memcpy(pointer(local_key), &region->lkey, sizeof region->lkey);
    memcpy(pointer(remote_key), &region->rkey, sizeof region->rkey);
    memcpy(pointer(number), &region->handle, sizeof region->handle);
    return handle_publish(entry, region);
}

DISNI(void, deregMr)(JNIEnv *env, UNUSED jobject self, jlong region)
{
    static const char verb[] = "ibv_dereg_mr";
    struct entry *entry = begin_destroy_or_throw(env, region, KIND_MEMORY_REGION, verb);
    if (entry == NULL) {
        return;
    }
    int error = ibv_dereg_mr(entry->object);
    handle_end_destroy(entry, error == 0);
    if (error != 0) {
        throw_error(env, verb, error);
    }
}

DISNI(jint, expPrefetchMr)(JNIEnv *env, UNUSED jobject self, jlong region, jlong address, jint length)
{
    static const char verb[] = "ibv_advise_mr";
    struct entry *entry = acquire_or_throw(env, region, KIND_MEMORY_REGION, verb);
    if (entry == NULL) {
        return -1;
    }
    struct ibv_mr *mr = entry->object;
    struct ibv_sge piece = {.addr = (uint64_t) address, .length = (uint32_t) length, .lkey = mr->lkey};
    uint64_t offset = (uint64_t) address - (uintptr_t) mr->addr;
    int error = EINVAL;
    if (length >= 0 && offset <= mr->length && (uint64_t) length <= mr->length - offset) {
        error = ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &piece, 1);
    }
    handle_release(entry);
    if (error != 0) {
        throw_error(env, verb, error);
        return -1;
    }
    return 0;
}

EXTENSION(jlong, allocateMemoryWindow)(JNIEnv *env, UNUSED jclass class, jlong domain)
{
    static const char verb[] = "ibv_alloc_mw";
    struct entry *parent = acquire_or_throw(env, domain, KIND_PROTECTION_DOMAIN, verb);
    if (parent == NULL) {
        return 0;
    }
    struct entry *entry = handle_reserve(KIND_MEMORY_WINDOW);
    struct ibv_mw *window = entry == NULL ? NULL : ibv_alloc_mw(parent->object, IBV_MW_TYPE_2);
    if (window == NULL) {
        throw_error(env, verb, errno);
        if (entry != NULL) {
            handle_discard(entry);
        }
        handle_release(parent);
        return 0;
    }
    atomic_store(&entry->parents[0], parent);
    return handle_publish(entry, window);
}

EXTENSION(jint, memoryWindowKey)(JNIEnv *env, UNUSED jclass class, jlong window)
{
    struct entry *entry = acquire_or_throw(env, window, KIND_MEMORY_WINDOW, "memoryWindowKey");
    if (entry == NULL) {
        return 0;
    }
    jint key = (jint) ((const struct ibv_mw *) entry->object)->rkey;
    handle_release(entry);
    return key;
}

EXTENSION(void, deallocateMemoryWindow)(JNIEnv *env, UNUSED jclass class, jlong window)
{
    static const char verb[] = "ibv_dealloc_mw";
    struct entry *entry = begin_destroy_or_throw(env, window, KIND_MEMORY_WINDOW, verb);
    if (entry == NULL) {
        return;
    }
    int error = ibv_dealloc_mw(entry->object);
    handle_end_destroy(entry, error == 0);
    if (error != 0) {
        throw_error(env, verb, error);
    }
}
