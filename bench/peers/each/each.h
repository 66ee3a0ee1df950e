/* A loop whose iterations are calls of the benchmark, which loads a library with this function
 * (bench/src/peers/loops/library.rs). So the iterations are the benchmark's compiled functions, whatever they are
 * written in. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `body(context, at)` once for each `at` from 0 to `count` - 1 on `threads` threads, which are the same number in
 * each call, and returns after all calls. Returns 0, or 1 without a call if there is no schedule of this name. */
int each(const char *schedule, long threads, long count, void (*body)(void *context, long at), void *context);

#ifdef __cplusplus
}
#endif
