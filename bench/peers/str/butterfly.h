// Complex numbers in vectors, with separate real and imaginary parts, and the butterflies of fourier.str on them.
#ifndef BUTTERFLY_H
#define BUTTERFLY_H

#include "common.h"

typedef struct { f16 re, im; } c16;
typedef struct { float re, im; } c1;

// (a + bi)(c + di) is (ac - bd) + (ad + bc)i.
INLINE c16 times(f16 a, f16 b, c16 x) { return (c16){a * x.re - b * x.im, a * x.im + b * x.re}; }

INLINE f16 all(float x) { return x - (f16){0}; }

// Replaces two items of a stage by their sum and difference, the second one multiplied by w.
INLINE void butterfly(c16 *even, c16 *odd, c1 w)
{
    const c16 e = *even, o = times(all(w.re), all(w.im), *odd);
    *even = (c16){e.re + o.re, e.im + o.im};
    *odd = (c16){e.re - o.re, e.im - o.im};
}

// A butterfly with w = 1. The imaginary part of w is 0 with a sign, which affects the signs of zeros in the result.
INLINE void butterfly1(c16 *even, c16 *odd, float zero)
{
    const c16 e = *even, o = {odd->re - zero * odd->im, odd->im + zero * odd->re};
    *even = (c16){e.re + o.re, e.im + o.im};
    *odd = (c16){e.re - o.re, e.im - o.im};
}

// The factors of the stage with blocks of m.
INLINE void factors(c1 *w, int m, int sign)
{
    for (int i = 0; i < m / 2; i++)
        w[i] = (c1){cos1(2 * PI * i / m), sign * sin1(2 * PI * i / m)};
}

// Loads four complex numbers of each of four blocks into 16 lanes, block by block.
INLINE c16 gather(const float *const from[4], long at)
{
    const f8 first = load8(from[0] + at), second = load8(from[1] + at);
    const f8 third = load8(from[2] + at), fourth = load8(from[3] + at);
    const f16 a = __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const f16 b = __builtin_shufflevector(third, fourth, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return (c16){
        __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31),
    };
}

// The inverse of gather.
INLINE void scatter(float *const to[4], long at, c16 x)
{
    const f16 a = __builtin_shufflevector(x.re, x.im, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const f16 b = __builtin_shufflevector(x.re, x.im, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    store8(to[0] + at, __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7));
    store8(to[1] + at, __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15));
    store8(to[2] + at, __builtin_shufflevector(b, b, 0, 1, 2, 3, 4, 5, 6, 7));
    store8(to[3] + at, __builtin_shufflevector(b, b, 8, 9, 10, 11, 12, 13, 14, 15));
}

#endif
