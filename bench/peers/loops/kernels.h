/* The bodies of the loops that the figures `loop.*` execute. All contestants call these functions, which are compiled
 * with the same flags into the benchmark (build.rs) and into the peers' programs (build.sh). */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the result of this many dependent steps on `number` to its byte of `results`. */
void loop_work(uint8_t *results, uint64_t number, uint64_t steps);

/* One step of heat diffusion for a row; the cells left and right of it are read too. */
void heat_row(const double *above, const double *row, const double *below, double *to, long columns);

/* One step of Conway's game of life, a byte for each cell, for the block that begins at `from` in one grid and at `to` in
 * the other; the cells around it are read too. `columns` is a multiple of 16. */
void life_block(const uint8_t *from, uint8_t *to, long stride, long rows, long columns);

#ifdef __cplusplus
}
#endif
