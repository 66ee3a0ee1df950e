// Common definitions of the hand-written programs: vectors, and the language's mathematical functions.
//
// The programs use GCC's vectors: the compiler also vectorises a loop over outputs inside a loop over taps, but it
// keeps the sums in memory between taps, and an expert keeps them in registers. Without AVX-512 a vector of 16 is two
// vectors of 8.
#ifndef COMMON_H
#define COMMON_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef float f4 __attribute__((vector_size(16)));
typedef float f8 __attribute__((vector_size(32)));
typedef float f16 __attribute__((vector_size(64)));
typedef int32_t i8 __attribute__((vector_size(32)));
typedef int32_t i16 __attribute__((vector_size(64)));
typedef uint32_t u16 __attribute__((vector_size(64)));

#define INLINE static inline __attribute__((always_inline))

// Values loaded before this are not kept in registers after it. Otherwise the compiler would carry windows of the input
// and of tables from one iteration of a loop to the next; there are too few registers, so it would spill the sums.
#define FORGET __asm__ volatile("" ::: "memory")

static const float PI = 3.14159274f;

// Functions computed in double precision and rounded once.
INLINE float sin1(float x) { return (float)sin((double)x); }
INLINE float cos1(float x) { return (float)cos((double)x); }
INLINE float pow1(float x, float y) { return (float)pow((double)x, (double)y); }
INLINE float sqrt1(float x) { return (float)sqrt((double)x); }
INLINE float atan21(float y, float x) { return (float)atan2((double)y, (double)x); }

INLINE f4 load4(const float *p) { f4 v; memcpy(&v, p, sizeof v); return v; }
INLINE f8 load8(const float *p) { f8 v; memcpy(&v, p, sizeof v); return v; }
INLINE f16 load16(const float *p) { f16 v; memcpy(&v, p, sizeof v); return v; }
INLINE void store4(float *p, f4 v) { memcpy(p, &v, sizeof v); }
INLINE void store8(float *p, f8 v) { memcpy(p, &v, sizeof v); }
INLINE void store16(float *p, f16 v) { memcpy(p, &v, sizeof v); }

INLINE long least(long a, long b) { return a < b ? a : b; }

// The number of windows of `taps` items that begin every `step` items.
INLINE long windows(long items, long taps, long step) { return items < taps ? 0 : (items - taps) / step + 1; }

// low_pass.str: the taps of LowPass, `stride` apart.
INLINE void low_pass(float *h, int stride, float rate, float cutoff, int taps)
{
    const float w = 2 * PI * cutoff / rate;
    for (int i = 0; i < taps; i++) {
        const float t = i - (taps - 1) / 2.0f;
        const float ideal = t == 0 ? w / PI : sin1(w * t) / (PI * t);
        h[i * stride] = ideal * (0.54f - 0.46f * cos1(2 * PI * i / (taps - 1)));
    }
}

// One of the four steps of a transposition: exchanges the items at distance `s` from the diagonal.
#define EXCHANGE(r, s, low, high)                                   \
    _Pragma("GCC unroll 16") for (int i = 0; i < 16; i++)           \
        if (!(i & s)) {                                             \
            const f16 a = r[i], b = r[i + s];                       \
            r[i] = __builtin_shuffle(a, b, (i16)low);               \
            r[i + s] = __builtin_shuffle(a, b, (i16)high);          \
        }

// Transposes 16 vectors: the first result has their first lanes, and so on.
INLINE void transpose16(f16 r[16])
{
    EXCHANGE(r, 1, ((i16){0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30}),
             ((i16){1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31}))
    EXCHANGE(r, 2, ((i16){0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29}),
             ((i16){2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31}))
    EXCHANGE(r, 4, ((i16){0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27}),
             ((i16){4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31}))
    EXCHANGE(r, 8, ((i16){0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}),
             ((i16){8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31}))
}

#endif
