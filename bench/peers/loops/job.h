/* The jobs of bench/src/peers/loops for programs in C and C++: how they read their arguments, make their data, and
 * compute the checksum. A program includes this file once, defines the loops, and calls `run_program`.
 *
 *   PROGRAM SCHEDULE handoff GAP_NS MEETS THREADS
 *   PROGRAM SCHEDULE work|heat|life ROWS COLUMNS BLOCK_ROWS BLOCK_COLUMNS COSTLY_ROWS TIMES STEPS REPEATS THREADS
 *
 * It prints the seconds and the checksum. */
#pragma once

#include "kernels.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct job {
    long rows, columns, block_rows, block_columns;
    /* The first rows are computed several times: an imbalance. */
    long costly, times;
    long steps, across;
    /* Of a grid: the cells of a row with its borders, and the first cell inside. */
    long stride;
    const uint8_t *from;
    uint8_t *to;
};

/* The bytes of a row's border, left and right. */
enum { PAD = 64 };

static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline long times(const struct job *job, long row) { return row < job->costly ? job->times : 1; }

/* The bodies: what a loop does with the number of an iteration. */

static inline void work_at(const struct job *job, long at) {
    for (long left = times(job, at); left > 0; left--) {
        loop_work(job->to, (uint64_t)at, (uint64_t)job->steps);
    }
}

static inline void heat_at(const struct job *job, long row) {
    const double *from = (const double *)job->from + row * job->stride;
    heat_row(from - job->stride, from, from + job->stride, (double *)job->to + row * job->stride, job->columns);
}

static inline long least(long a, long b) { return a < b ? a : b; }

static inline void life_at(const struct job *job, long at) {
    const long row = at / job->across * job->block_rows, column = at % job->across * job->block_columns;
    const long rows = least(job->block_rows, job->rows - row), columns = least(job->block_columns, job->columns - column);
    const long start = row * job->stride + column;
    for (long left = times(job, row); left > 0; left--) {
        life_block(job->from + start, job->to + start, job->stride, rows, columns);
    }
}

/* Iterations of the loop of the hand-off that have begun, and whether and until when they wait for each other. */
struct meeting {
    long threads, meets, expected;
    long begun __attribute__((aligned(128)));
};

static inline void meet_at(struct meeting *meeting) {
    if (meeting->meets) {
        __atomic_fetch_add(&meeting->begun, 1, __ATOMIC_RELAXED);
        const double until = now() + 100e-6;
        while (__atomic_load_n(&meeting->begun, __ATOMIC_RELAXED) < meeting->expected && now() < until) {
        }
    }
}

/* A loop over `count` iterations, which the program defines for each of its schedules. */
struct loops {
    const char *schedule;
    void (*work)(const struct job *, long count);
    void (*heat)(const struct job *, long count);
    void (*life)(const struct job *, long count);
    void (*meet)(struct meeting *, long count);
};

static inline uint64_t mix(uint64_t i) {
    uint64_t z = i + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t fold(uint64_t h, uint64_t x) { return h * 0x9E3779B97F4A7C15u + x; }

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, long count) {
    qsort(times, (size_t)count, sizeof *times, compare);
    return times[count / 2];
}

static void one_meeting(const struct loops *loops, struct meeting *meeting) {
    meeting->expected = meeting->begun + meeting->threads;
    loops->meet(meeting, meeting->threads);
}

/* See bench/src/figures/loops/handoff.rs. */
static double handoff(const struct loops *loops, double gap, long meets, long threads) {
    enum { BATCHES = 200, BATCH = 100, SPACED = 1000 };
    static double times[SPACED];
    struct meeting meeting = {threads, meets, 0, 0};
    for (const double until = now() + 5e-3; now() < until;) {
        one_meeting(loops, &meeting);
    }
    if (gap == 0.0) {
        for (long batch = 0; batch < BATCHES; batch++) {
            const double start = now();
            for (long i = 0; i < BATCH; i++) {
                one_meeting(loops, &meeting);
            }
            times[batch] = (now() - start) / BATCH;
        }
        return median(times, BATCHES);
    }
    for (long i = 0; i < SPACED; i++) {
        for (const double until = now() + gap; now() < until;) {
        }
        const double start = now();
        one_meeting(loops, &meeting);
        times[i] = now() - start;
    }
    return median(times, SPACED);
}

/* A grid with a border of dead or cold cells. */
static uint8_t *grid(const struct job *job, long size) {
    const size_t bytes = (size_t)((job->rows + 2) * job->stride * size);
    uint8_t *cells = (uint8_t *)aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(cells, 0, bytes);
    return cells;
}

static double life(const struct loops *loops, struct job *job, long repeats, uint64_t *checksum) {
    job->stride = job->columns + 2 * PAD;
    job->across = (job->columns + job->block_columns - 1) / job->block_columns;
    const long first = job->stride + PAD, down = (job->rows + job->block_rows - 1) / job->block_rows;
    uint8_t *cells[2] = {grid(job, 1), grid(job, 1)};
    for (long r = 0; r < job->rows; r++) {
        for (long c = 0; c < job->columns; c++) {
            const uint64_t at = (uint64_t)(r * job->columns + c);
            cells[0][first + r * job->stride + c] = mix(at / 64) >> at % 64 & 1;
        }
    }
    const double start = now();
    for (long i = 0; i < repeats; i++) {
        job->from = cells[i % 2] + first, job->to = cells[1 - i % 2] + first;
        loops->life(job, down * job->across);
    }
    const double seconds = now() - start;
    for (long r = 0; r < job->rows; r++) {
        for (long c = 0; c < job->columns; c++) {
            *checksum = fold(*checksum, cells[repeats % 2][first + r * job->stride + c]);
        }
    }
    return seconds;
}

static double heat(const struct loops *loops, struct job *job, long repeats, uint64_t *checksum) {
    job->stride = job->columns + 2 * PAD / (long)sizeof(double);
    const long first = job->stride + PAD / (long)sizeof(double);
    double *cells[2] = {(double *)grid(job, sizeof(double)), (double *)grid(job, sizeof(double))};
    for (long r = 0; r < job->rows; r++) {
        for (long c = 0; c < job->columns; c++) {
            cells[0][first + r * job->stride + c] = (double)(mix((uint64_t)(r * job->columns + c)) & 0xFFFF);
        }
    }
    const double start = now();
    for (long i = 0; i < repeats; i++) {
        job->from = (uint8_t *)(cells[i % 2] + first), job->to = (uint8_t *)(cells[1 - i % 2] + first);
        loops->heat(job, job->rows);
    }
    const double seconds = now() - start;
    for (long r = 0; r < job->rows; r++) {
        for (long c = 0; c < job->columns; c++) {
            uint64_t bits;
            memcpy(&bits, &cells[repeats % 2][first + r * job->stride + c], sizeof bits);
            *checksum = fold(*checksum, bits);
        }
    }
    return seconds;
}

static double work(const struct loops *loops, struct job *job, long repeats, uint64_t *checksum) {
    job->to = (uint8_t *)malloc((size_t)job->rows);
    memset(job->to, 0, (size_t)job->rows);
    const double start = now();
    for (long i = 0; i < repeats; i++) {
        loops->work(job, job->rows);
    }
    const double seconds = now() - start;
    for (long r = 0; r < job->rows; r++) {
        *checksum = fold(*checksum, job->to[r]);
    }
    return seconds;
}

/* Executes the job of the arguments behind the schedule, of which there are `count`. */
static int run_program(const struct loops *loops, int count, char **arguments) {
    uint64_t checksum = 0;
    double seconds = 0;
    long numbers[9] = {0};
    for (int i = 1; i < count && i <= 9; i++) {
        numbers[i - 1] = atol(arguments[i]);
    }
    const char *what = count > 0 ? arguments[0] : "";
    struct job job = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], 1, 0, NULL, NULL};
    struct meeting start = {numbers[count > 2 ? count - 2 : 0], 0, 0, 0};
    loops->meet(&start, start.threads); /* starts the threads */
    if (strcmp(what, "handoff") == 0 && count == 4) {
        seconds = handoff(loops, 1e-9 * (double)numbers[0], numbers[1], numbers[2]);
    } else if (strcmp(what, "work") == 0 && count == 10) {
        seconds = work(loops, &job, numbers[7], &checksum);
    } else if (strcmp(what, "heat") == 0 && count == 10) {
        seconds = heat(loops, &job, numbers[7], &checksum);
    } else if (strcmp(what, "life") == 0 && count == 10) {
        seconds = life(loops, &job, numbers[7], &checksum);
    } else {
        fprintf(stderr, "error: expected SCHEDULE handoff GAP_NS MEETS THREADS, or SCHEDULE work|heat|life ROWS COLUMNS"
                        " BLOCK_ROWS BLOCK_COLUMNS COSTLY_ROWS TIMES STEPS REPEATS THREADS\n");
        return 2;
    }
    printf("%.12f %llu\n", seconds, (unsigned long long)checksum);
    return 0;
}
