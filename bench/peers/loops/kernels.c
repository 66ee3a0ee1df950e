/* See kernels.h. What bounds the speed: the latency of the multiplication in loop_work, memory in heat_row, and in
 * life_block the three unaligned loads for each vector of each row. */
#include "kernels.h"

#include <string.h>

void loop_work(uint8_t *results, uint64_t number, uint64_t steps) {
    uint64_t x = number;
    for (uint64_t left = steps; left != 0; left--) {
        x = (x * 6364136223846793005u) ^ 1442695040888963407u;
    }
    results[number] += (uint8_t)(x >> 56);
}

void heat_row(const double *above, const double *row, const double *below, double *restrict to, long columns) {
    for (long c = 0; c < columns; c++) {
        to[c] = row[c] + 0.1 * (above[c] + below[c] + row[c - 1] + row[c + 1] - 4.0 * row[c]);
    }
}

/* A strip of a block, as wide as the vector V. Each row's sum of three neighbours is computed once for the strip. */
#define STRIP(V, NAME, BYTES)                                                                                          \
    typedef uint8_t V __attribute__((vector_size(BYTES)));                                                             \
    static inline V NAME##_load(const uint8_t *from) {                                                                 \
        V cells;                                                                                                       \
        memcpy(&cells, from, BYTES);                                                                                   \
        return cells;                                                                                                  \
    }                                                                                                                  \
    static inline V NAME##_three(const uint8_t *from) {                                                                \
        return NAME##_load(from - 1) + NAME##_load(from) + NAME##_load(from + 1);                                      \
    }                                                                                                                  \
    static inline void NAME(const uint8_t *from, uint8_t *to, long stride, long rows) {                                \
        V above = NAME##_three(from - stride), here = NAME##_three(from);                                              \
        for (long r = 0; r < rows; r++, from += stride, to += stride) {                                                \
            V below = NAME##_three(from + stride), cell = NAME##_load(from);                                           \
            /* A cell lives with three live neighbours, or with two if it lives already. */                            \
            V lives = (V)(((above + here + below - cell) | cell) == 3) & 1;                                            \
            memcpy(to, &lives, BYTES);                                                                                 \
            above = here;                                                                                              \
            here = below;                                                                                              \
        }                                                                                                              \
    }

STRIP(wide, wide_strip, 64)
STRIP(narrow, narrow_strip, 16)

void life_block(const uint8_t *from, uint8_t *to, long stride, long rows, long columns) {
    long c = 0;
    for (; c + 64 <= columns; c += 64) {
        wide_strip(from + c, to + c, stride, rows);
    }
    for (; c + 16 <= columns; c += 16) {
        narrow_strip(from + c, to + c, stride, rows);
    }
}
