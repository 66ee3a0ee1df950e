// time_delay_equaliser.str with CHANNELS = 4, BLOCK = 64, TAPS = 33: fractional delays by overlap-save.
//
// A vector holds one number of each of the 4 channels in each of 4 blocks, with separate real and imaginary parts, so
// the channels are never deinterleaved, and all factors except the response are the same in all lanes. Two stages of a
// transform at a time are computed in registers. The inverse transform addresses its items in bit-reversed order, so
// the last stage of the forward transform, the response and the first two stages of the inverse are one step. Of the
// last stage only the valid half is computed. The division by 128 is exact as a multiplication. Shuffles are written
// with GCC's vectors, since the compiler finds none in a loop over channels.
//
// Work per complex number: 14 butterflies of 4 multiplications and 6 additions each, and 2 responses; 8 bytes read
// (twice, the second time from the first-level cache), 8 written. With one vector of 16 additions per cycle the 86
// additions take 5.4 cycles per number.
#include "butterfly.h"

enum { CHANNELS = 4, BLOCK = 64, TAPS = 33, SIZE = 2 * BLOCK, BLOCKS = 4, ITEM = 2 * CHANNELS };

// The factors of the forward and inverse stages of m, at m / 2 and up; the response by frequency, for each channel of
// each block.
static c1 forward_w[SIZE], inverse_w[SIZE];
static c16 response[SIZE];
static uint8_t reversed[SIZE];

static c1 product(c1 x, c1 y) { return (c1){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

// The frequency response of a delay.
static void respond(int channel, float delay)
{
    float h[TAPS];
    for (int i = 0; i < TAPS; i++) {
        const float t = i - TAPS / 2 - delay;
        const float window = 0.54f + 0.46f * cos1(2 * PI * t / (TAPS + 1));
        h[i] = fabsf(t) < 0.0001f ? 1.0f : window * sin1(PI * t) / (PI * t);
    }
    for (int f = 0; f < SIZE; f++) {
        c1 sum = {0, 0};
        for (int i = 0; i < TAPS; i++) {
            const float angle = PI * ((f * i) % SIZE) / BLOCK;
            const c1 sine = product((c1){sin1(angle), 0}, (c1){0, 1});
            const c1 term = product((c1){h[i], 0}, (c1){cos1(angle) - sine.re, 0 - sine.im});
            sum = (c1){sum.re + term.re, sum.im + term.im};
        }
        for (int block = 0; block < BLOCKS; block++) {
            response[f].re[4 * block + channel] = sum.re;
            response[f].im[4 * block + channel] = sum.im;
        }
    }
}

__attribute__((constructor)) static void prepare(void)
{
    for (int m = 2; m <= SIZE; m *= 2) {
        factors(forward_w + m / 2, m, -1);
        factors(inverse_w + m / 2, m, 1);
    }
    for (int i = 0; i < SIZE; i++)
        for (int bit = 1; bit < SIZE; bit *= 2)
            reversed[i] = 2 * reversed[i] + (i & bit ? 1 : 0);
    for (int channel = 0; channel < CHANNELS; channel++)
        respond(channel, 0.3f * channel);
}

// Stages m and 2m of four items.
INLINE void two_stages(c16 *a, c16 *b, c16 *c, c16 *d, const c1 *w, int m, int i)
{
    butterfly(a, b, w[m / 2 + i]);
    butterfly(c, d, w[m / 2 + i]);
    butterfly(a, c, w[m + i]);
    butterfly(b, d, w[m + m / 2 + i]);
}

// Forward stages 2 and 4; loads the input.
INLINE void first(const float *const in[BLOCKS], c16 *x)
{
    for (int n = 0; n < SIZE / 4; n++) {
        const int p = reversed[n];
        c16 a = gather(in, ITEM * n), b = gather(in, ITEM * (n + 64)), c = gather(in, ITEM * (n + 32)),
            d = gather(in, ITEM * (n + 96));
        butterfly1(&a, &b, forward_w[1].im);
        butterfly1(&c, &d, forward_w[1].im);
        butterfly1(&a, &c, forward_w[2].im);
        butterfly(&b, &d, forward_w[3]);
        x[p] = a, x[p + 1] = b, x[p + 2] = c, x[p + 3] = d;
    }
}

// Forward stages m and 2m.
INLINE void forward(c16 *x, const int m)
{
    for (int i = 0; i < m / 2; i++)
        for (c16 *y = x + i; y < x + SIZE; y += 2 * m)
            two_stages(y, y + m / 2, y + m, y + m + m / 2, forward_w, m, i);
}

INLINE c16 responded(c16 x, int f)
{
    const f16 re = response[f].re, im = response[f].im;
    return (c16){x.re * re - x.im * im, x.re * im + x.im * re};
}

// The last forward stage, the response, and inverse stages 2 and 4.
INLINE void middle(c16 *x, const char *next_in, const char *next_out)
{
    for (int f = 0; f < 32; f++) {
        // Prefetches the next input and output, which are too many streams for the hardware prefetcher.
        for (int line = 0; line < 4; line++) {
            __builtin_prefetch(next_in + 64 * (4 * f + line), 0);
            __builtin_prefetch(next_out + 64 * (4 * f + line), 1);
        }
        c16 a = x[f], b = x[f + 64], c = x[f + 32], d = x[f + 96];
        butterfly(&a, &b, forward_w[64 + f]);
        butterfly(&c, &d, forward_w[96 + f]);
        a = responded(a, f), b = responded(b, f + 64), c = responded(c, f + 32), d = responded(d, f + 96);
        butterfly1(&a, &b, inverse_w[1].im);
        butterfly1(&c, &d, inverse_w[1].im);
        butterfly1(&a, &c, inverse_w[2].im);
        butterfly(&b, &d, inverse_w[3]);
        x[f] = a, x[f + 64] = b, x[f + 32] = c, x[f + 96] = d;
    }
}

// Inverse stages m and 2m: the item with index p is at the position with the bits of p reversed.
INLINE void backward(c16 *x, const int m)
{
    for (int i = 0; i < m / 2; i++) {
        c16 *const y = x + reversed[i];
        const int half = SIZE / m;
        for (int at = 0; at < SIZE / (2 * m); at++)
            two_stages(y + at, y + at + half, y + at + half / 2, y + at + half + half / 2, inverse_w, m, i);
    }
}

// The valid half of the last stage; stores the output.
INLINE void last(const c16 *x, float *const out[BLOCKS])
{
    for (int i = 0; i < BLOCK; i++) {
        const int at = reversed[i];
        const c1 w = inverse_w[64 + i];
        const c16 e = x[at], o = times(all(w.re), all(w.im), x[at + 1]);
        scatter(out, ITEM * i, (c16){(e.re - o.re) * (1.0f / SIZE), (e.im - o.im) * (1.0f / SIZE)});
    }
}

static void blocks(const float *const in[BLOCKS], float *const out[BLOCKS])
{
    c16 x[SIZE];
    first(in, x);
    forward(x, 8);
    forward(x, 32);
    middle(x, (const char *)in[BLOCKS - 1] + SIZE * ITEM * sizeof **in, (const char *)out[0]);
    backward(x, 8);
    backward(x, 32);
    last(x, out);
}

long time_delay_equaliser(const float *in, float *out, long items)
{
    enum { ALL = BLOCK * ITEM };
    static const float silence[2 * ALL];
    float before[2 * ALL] = {0}, unwanted[ALL];
    const long count = items / CHANNELS / BLOCK;
    if (count > 0)
        memcpy(before + ALL, in, ALL * sizeof *in);
    for (long block = 0; block < count; block += BLOCKS) {
        const float *from[BLOCKS];
        float *to[BLOCKS];
        for (int k = 0; k < BLOCKS; k++) {
            const int inside = block + k < count;
            from[k] = block + k == 0 ? before : inside ? in + ALL * (block + k - 1) : silence;
            to[k] = inside ? out + ALL * (block + k) : unwanted;
        }
        blocks(from, to);
    }
    return count * BLOCK * CHANNELS;
}
