/* Programs of DANBI in the natural forms of oneTBB, in a library that the benchmark loads (bench/src/peers/danbi.rs), with
 * inputs in the benchmark's memory. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* A pipeline of three filters on `threads` threads: a serial one that counts from 0 to `count` - 1, a parallel one that calls
 * `stage`, and a serial one in order that calls `last`. Returns after all calls. */
void danbi_pipeline(long threads, long count, void (*stage)(void *context, long at), void (*last)(void *context, long at),
                    void *context);

/* Sorts `count` keys on `threads` threads: pieces of `piece` keys at most are sorted, and merged with divide and conquer.
 * `room` has places for as many keys. */
void danbi_merge_sort(long threads, long piece, unsigned *keys, unsigned *room, long count);

#ifdef __cplusplus
}
#endif
