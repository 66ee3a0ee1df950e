// fft.str with SIZE = 64: Fourier transforms of blocks of 64 complex numbers, decimation in time.
//
// Four blocks at a time; a vector holds four numbers of each block, with separate real and imaginary parts. There is no
// bit-reversal step: the first four stages combine whole vectors in the order of the input (stage m combines numbers
// at a distance of 64/m), then 4 by 4 numbers are transposed within each block, and the last two stages combine vectors
// again and leave the result in order. Two stages at a time are computed in registers. Shuffles are written with GCC's
// vectors, since the compiler finds none of this in the plain loops.
//
// Work per complex number: 3 butterflies of 4 multiplications and 6 additions each (fewer in the first stages): 18
// additions; 8 bytes read, 8 written. With one vector of 16 additions per cycle: 1.1 cycles per number, and 0.6 for
// shuffles that do not overlap with the additions.
#include "butterfly.h"

enum { SIZE = 64, BLOCKS = 4 };

static c1 w2, w4[2], w8[4], w16[8];
// The factors of the last two stages, by vector; lanes are the two lowest bits of the frequency.
static c16 w32[4], w64[8];

__attribute__((constructor)) static void prepare(void)
{
    factors(&w2, 2, -1);
    factors(w4, 4, -1);
    factors(w8, 8, -1);
    factors(w16, 16, -1);
    c1 w[SIZE / 2];
    for (int last = 0; last < 2; last++) {
        factors(w, last ? 64 : 32, -1);
        for (int v = 0; v < (last ? 8 : 4); v++)
            for (int lane = 0; lane < 16; lane++) {
                c16 *to = (last ? w64 : w32) + v;
                to->re[lane] = w[4 * v + lane % 4].re;
                to->im[lane] = w[4 * v + lane % 4].im;
            }
    }
}

INLINE void wide_butterfly(c16 *even, c16 *odd, const c16 *w)
{
    const c16 e = *even, o = times(w->re, w->im, *odd);
    *even = (c16){e.re + o.re, e.im + o.im};
    *odd = (c16){e.re - o.re, e.im - o.im};
}

// Stages 2 and 4; loads the input.
INLINE void first(const float *const in[BLOCKS], c16 *x)
{
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) {
        c16 a = gather(in, 8 * v), b = gather(in, 8 * (v + 4)), c = gather(in, 8 * (v + 8)),
            d = gather(in, 8 * (v + 12));
        butterfly1(&a, &c, w2.im);
        butterfly1(&b, &d, w2.im);
        butterfly1(&a, &b, w4[0].im);
        butterfly(&c, &d, w4[1]);
        x[v] = a, x[v + 4] = b, x[v + 8] = c, x[v + 12] = d;
    }
}

// Stages 8 and 16. The index of a vector has two bits of the frequency, in reverse order.
INLINE void second(c16 *x)
{
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) {
        const int i = v / 2 + 2 * (v % 2);
        c16 a = x[4 * v], b = x[4 * v + 1], c = x[4 * v + 2], d = x[4 * v + 3];
        butterfly(&a, &c, w8[i]);
        butterfly(&b, &d, w8[i]);
        butterfly(&a, &b, w16[i]);
        butterfly(&c, &d, w16[i + 4]);
        x[4 * v] = a, x[4 * v + 1] = b, x[4 * v + 2] = c, x[4 * v + 3] = d;
    }
}

// Transposes 4 by 4 numbers within each block.
INLINE void transpose4(f16 *a, f16 *b, f16 *c, f16 *d)
{
    const i16 low = {0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29}, high = low + 2;
    const i16 left = {0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29}, right = left + 2;
    const f16 ab = __builtin_shuffle(*a, *b, low), cd = __builtin_shuffle(*c, *d, low);
    const f16 ab2 = __builtin_shuffle(*a, *b, high), cd2 = __builtin_shuffle(*c, *d, high);
    *a = __builtin_shuffle(ab, cd, left), *b = __builtin_shuffle(ab, cd, right);
    *c = __builtin_shuffle(ab2, cd2, left), *d = __builtin_shuffle(ab2, cd2, right);
}

// Stages 32 and 64; stores the output.
INLINE void third(const c16 *x, float *const out[BLOCKS])
{
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) {
        const int i = v / 2 + 2 * (v % 2);
        c16 a = x[v], b = x[v + 8], c = x[v + 4], d = x[v + 12];
        transpose4(&a.re, &b.re, &c.re, &d.re);
        transpose4(&a.im, &b.im, &c.im, &d.im);
        wide_butterfly(&a, &c, w32 + i);
        wide_butterfly(&b, &d, w32 + i);
        wide_butterfly(&a, &b, w64 + i);
        wide_butterfly(&c, &d, w64 + i + 4);
        scatter(out, 8 * i, a);
        scatter(out, 8 * (i + 4), c);
        scatter(out, 8 * (i + 8), b);
        scatter(out, 8 * (i + 12), d);
    }
}

static void blocks(const float *in, float *out)
{
    const float *const from[BLOCKS] = {in, in + 2 * SIZE, in + 4 * SIZE, in + 6 * SIZE};
    float *const to[BLOCKS] = {out, out + 2 * SIZE, out + 4 * SIZE, out + 6 * SIZE};
    c16 x[16];
    first(from, x);
    second(x);
    third(x, to);
}

long fft(const float *in, float *out, long items)
{
    enum { ALL = BLOCKS * SIZE };
    const long count = items / SIZE * SIZE;
    long done = 0;
    for (; done + ALL <= count; done += ALL)
        blocks(in + 2 * done, out + 2 * done);
    if (done < count) {
        float rest[2 * ALL] = {0};
        memcpy(rest, in + 2 * done, 2 * (count - done) * sizeof *rest);
        blocks(rest, rest);
        memcpy(out + 2 * done, rest, 2 * (count - done) * sizeof *rest);
    }
    return count;
}
