// Prints how many cycles the processor's counter, which perftest reads, counts in a microsecond.
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

enum { READINGS = 100 };

struct reading {
    double nanos;
    double cycles;
};

static double now_nanos(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

// The counter between two looks at the clock: those that are closest together have not been disturbed.
static struct reading read_both(void)
{
    struct reading best;
    double best_gap_nanos = -1;
    for (int i = 0; i < READINGS; i++) {
        double before = now_nanos();
        double cycles = (double) __rdtsc();
        double gap_nanos = now_nanos() - before;
        if (best_gap_nanos < 0 || gap_nanos < best_gap_nanos) {
            best_gap_nanos = gap_nanos;
            best = (struct reading) { .nanos = before + gap_nanos / 2, .cycles = cycles };
        }
    }
    return best;
}

int main(void)
{
    struct reading begin = read_both();
    nanosleep(&(struct timespec) { .tv_nsec = 200000000 }, NULL);
    struct reading end = read_both();
    printf("%.3f\n", (end.cycles - begin.cycles) / (end.nanos - begin.nanos) * 1000);
    return 0;
}
