#include "handles.h"

#include <errno.h>
#include <stdlib.h>

/*
 * state:  generation (31 bits) | kind (8 bits) | users (25 bits)
 * handle: 0 (1 bit) | generation (31 bits) | kind (8 bits) | index (24 bits)
 *
 * A generation is never 0, so no handle is 0 or negative: DiSNI takes these for failures.
 */
enum {
    INDEX_BITS = 24,
    USER_BITS = 25,
    KIND_BITS = 8,
    CHUNK_ENTRIES = 1024,
    MAX_CHUNKS = (1 << INDEX_BITS) / CHUNK_ENTRIES,
};

static const uint64_t GENERATION_MASK = 0x7fffffff;
static const uint64_t USER_MASK = (1u << USER_BITS) - 1;
static const uint32_t NO_INDEX = UINT32_MAX;

/* A chunk is never freed or moved: a handle can be looked up at any time, whatever has become of its object. */
static struct entry *_Atomic chunks[MAX_CHUNKS];
static _Atomic uint32_t chunk_count;
static _Atomic jint live_count;

/* Both guarded by table_lock. The entry that was freed last is used last, so that generations are used up evenly. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t first_free = UINT32_MAX;
static uint32_t last_free = UINT32_MAX;

static uint64_t make_state(uint64_t generation, enum kind kind, uint64_t users)
{
    return generation << (KIND_BITS + USER_BITS) | (uint64_t) kind << USER_BITS | users;
}

static uint64_t generation_of(uint64_t state)
{
    return state >> (KIND_BITS + USER_BITS);
}

static enum kind kind_of(uint64_t state)
{
    return (enum kind) (state >> USER_BITS & ((1 << KIND_BITS) - 1));
}

static struct entry *entry_at(uint32_t index)
{
    return &atomic_load(&chunks[index / CHUNK_ENTRIES])[index % CHUNK_ENTRIES];
}

/* Whether the state is that of the living object which the handle names. */
static bool is_living(uint64_t state, jlong handle, enum kind kind)
{
    return kind_of(state) == kind && generation_of(state) == (uint64_t) handle >> 32;
}

/* Returns the entry that a handle may name, or NULL if there cannot be one. */
static struct entry *look_up(jlong handle, enum kind kind)
{
    uint64_t bits = (uint64_t) handle;
    uint32_t index = (uint32_t) (bits & ((1u << INDEX_BITS) - 1));
    if (handle <= 0 || (bits >> INDEX_BITS & ((1 << KIND_BITS) - 1)) != kind) {
        return NULL;
    }
    return index / CHUNK_ENTRIES < atomic_load(&chunk_count) ? entry_at(index) : NULL;
}

static void append_free(struct entry *entry)
{
    entry->next_free = NO_INDEX;
    if (first_free == NO_INDEX) {
        first_free = entry->index;
    } else {
        entry_at(last_free)->next_free = entry->index;
    }
    last_free = entry->index;
}

static bool add_chunk(void)
{
    uint32_t number = atomic_load(&chunk_count);
    if (number == MAX_CHUNKS) {
        errno = ENFILE;
        return false;
    }
    struct entry *chunk = calloc(CHUNK_ENTRIES, sizeof *chunk);
    if (chunk == NULL) {
        errno = ENOMEM;
        return false;
    }
    atomic_store(&chunks[number], chunk);
    atomic_store(&chunk_count, number + 1);
    for (uint32_t i = 0; i < CHUNK_ENTRIES; i++) {
        chunk[i].index = number * CHUNK_ENTRIES + i;
        atomic_store(&chunk[i].state, make_state(1, KIND_NONE, 0));
        pthread_mutex_init(&chunk[i].lock, NULL);
        append_free(&chunk[i]);
    }
    return true;
}

struct entry *handle_reserve(enum kind kind)
{
    struct entry *entry = NULL;
    pthread_mutex_lock(&table_lock);
    if (first_free != NO_INDEX || add_chunk()) {
        entry = entry_at(first_free);
        first_free = entry->next_free;
        entry->kind = kind;
    }
    pthread_mutex_unlock(&table_lock);
    return entry;
}

jlong handle_of(const struct entry *entry)
{
    uint64_t generation = generation_of(atomic_load(&entry->state));
    return (jlong) (generation << 32 | (uint64_t) entry->kind << INDEX_BITS | entry->index);
}

jlong handle_publish(struct entry *entry, void *object)
{
    entry->object = object;
    atomic_fetch_add(&live_count, 1);
    atomic_store(&entry->state, make_state(generation_of(atomic_load(&entry->state)), entry->kind, 0));
    return handle_of(entry);
}

/* Puts an entry without object back into the table, in its next generation. */
static void recycle(struct entry *entry)
{
    uint64_t generation = (generation_of(atomic_load(&entry->state)) + 1) & GENERATION_MASK;
    for (int i = 0; i < MAX_PARENTS; i++) {
        atomic_store(&entry->parents[i], NULL);
    }
    entry->object = NULL;
    pthread_mutex_lock(&table_lock);
    atomic_store(&entry->state, make_state(generation == 0 ? 1 : generation, KIND_NONE, 0));
    append_free(entry);
    pthread_mutex_unlock(&table_lock);
}

void handle_discard(struct entry *entry)
{
    recycle(entry);
}

struct entry *handle_acquire(jlong handle, enum kind kind)
{
    struct entry *entry = look_up(handle, kind);
    if (entry == NULL) {
        return NULL;
    }
    uint64_t state = atomic_load(&entry->state);
    do {
        if (!is_living(state, handle, kind) || (state & USER_MASK) == USER_MASK) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&entry->state, &state, state + 1));
    return entry;
}

void handle_retain(struct entry *entry)
{
    atomic_fetch_add(&entry->state, 1);
}

void handle_release(struct entry *entry)
{
    atomic_fetch_sub(&entry->state, 1);
}

struct entry *handle_begin_destroy(jlong handle, enum kind kind)
{
    struct entry *entry = look_up(handle, kind);
    if (entry == NULL) {
        errno = EBADF;
        return NULL;
    }
    uint64_t state = atomic_load(&entry->state);
    do {
        if (!is_living(state, handle, kind)) {
            errno = EBADF;
            return NULL;
        }
        if ((state & USER_MASK) != 0) {
            errno = EBUSY;
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&entry->state, &state, make_state(generation_of(state), KIND_NONE, 0)));
    return entry;
}

void handle_end_destroy(struct entry *entry, bool destroyed)
{
    if (!destroyed) {
        atomic_store(&entry->state, make_state(generation_of(atomic_load(&entry->state)), entry->kind, 0));
        return;
    }
    for (int i = 0; i < MAX_PARENTS; i++) {
        struct entry *parent = atomic_load(&entry->parents[i]);
        if (parent != NULL) {
            handle_release(parent);
        }
    }
    atomic_fetch_sub(&live_count, 1);
    recycle(entry);
}

bool handle_read_region(jlong handle, struct region *region)
{
    struct entry *entry = look_up(handle, KIND_MEMORY_REGION);
    if (entry == NULL || !is_living(atomic_load(&entry->state), handle, KIND_MEMORY_REGION)) {
        return false;
    }
    region->address = atomic_load(&entry->region.address);
    region->length = atomic_load(&entry->region.length);
    region->local_key = atomic_load(&entry->region.local_key);
    /* The three belong together only if the entry did not change hands while they were read. */
    return is_living(atomic_load(&entry->state), handle, KIND_MEMORY_REGION);
}

jint handle_count(void)
{
    return atomic_load(&live_count);
}
