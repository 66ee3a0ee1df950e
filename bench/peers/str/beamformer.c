// beamformer.str with CHANNELS = 12, BEAMS = 4, TAPS = 64, DECIMATION = 2, PULSE = 32.
//
// Both low-pass filters have the same taps for all channels, so a sample of all channels, 24 floats, is three vectors,
// and the input is never deinterleaved. After the sum a vector holds the four beams. For each vector of beams there is
// one with real and imaginary parts exchanged, so that a complex product is two products and a sum: its real part is
// ac + (-b)d, which equals ac - bd. The sums of several results stay in registers, as many as there is room for.
//
// Work per complex number of input: 64 + 32 multiplications and additions for the two filters of each channel, 4 for
// the beams, 11 for the pulses, and 1/12 of a square root; 8 bytes read, 0.33 written. The limit is two additions of 8
// lanes per cycle: 7 cycles per number.
#include "common.h"

enum { CHANNELS = 12, BEAMS = 4, TAPS = 64, STEP = 2, PULSE = 32, ROW = 2 * CHANNELS, BEAM_ROW = 2 * BEAMS };
// Results of the second filter per round; rows that the next round reuses.
enum { ROUND = 32, FAST_BEFORE = TAPS - STEP, SLOW_BEFORE = PULSE - 1 };

static float taps[TAPS];
// By channel or tap: real parts, and signed imaginary parts, for each of the beams.
static f8 weights[CHANNELS][2], pulse[PULSE][2];

__attribute__((constructor)) static void prepare(void)
{
    for (int i = 0; i < TAPS; i++) {
        const float t = (i - (TAPS - 1) / 2.0f) / STEP;
        const float window = 0.54f - 0.46f * cos1(2 * PI * i / (TAPS - 1));
        taps[i] = window * (t == 0 ? 1.0f : sin1(PI * t) / (PI * t)) / STEP;
    }
    for (int beam = 0; beam < BEAMS; beam++) {
        const float sine = (2 * beam + 1.0f) / BEAMS - 1;
        for (int i = 0; i < CHANNELS; i++) {
            weights[i][0][2 * beam] = weights[i][0][2 * beam + 1] = cos1(PI * i * sine) / CHANNELS;
            const float im = sin1(PI * i * sine) / CHANNELS;
            weights[i][1][2 * beam] = -im;
            weights[i][1][2 * beam + 1] = im;
        }
        for (int i = 0; i < PULSE; i++) {
            const float angle = PI * (i - PULSE / 2) * (i - PULSE / 2) / (2.0f * PULSE);
            pulse[i][0][2 * beam] = pulse[i][0][2 * beam + 1] = cos1(angle) / PULSE;
            const float im = -sin1(angle) / PULSE;
            pulse[i][1][2 * beam] = -im;
            pulse[i][1][2 * beam + 1] = im;
        }
    }
}

INLINE f8 exchanged(f8 x) { return __builtin_shuffle(x, (i8){1, 0, 3, 2, 5, 4, 7, 6}); }

INLINE void decimate(const float *in, float *out, const int count)
{
    f8 sum[8][3] = {0};
    for (int i = 0; i < TAPS; i++) {
        const float h = taps[i];
        FORGET;
#pragma GCC unroll 8
        for (int n = 0; n < count; n++)
#pragma GCC unroll 3
            for (int v = 0; v < 3; v++)
                sum[n][v] += load8(in + ROW * (STEP * n + i) + 8 * v) * h;
    }
#pragma GCC unroll 8
    for (int n = 0; n < count; n++)
#pragma GCC unroll 3
        for (int v = 0; v < 3; v++)
            store8(out + ROW * n + 8 * v, sum[n][v]);
}

static void decimate_all(const float *in, float *out, long count)
{
    long n = 0;
    for (; n + 8 <= count; n += 8)
        decimate(in + ROW * STEP * n, out + ROW * n, 8);
    for (; n < count; n++)
        decimate(in + ROW * STEP * n, out + ROW * n, 1);
}

// Broadcasts a complex number to all beams.
INLINE f8 broadcast(const float *from)
{
    typedef double d4 __attribute__((vector_size(32)));
    double both;
    memcpy(&both, from, sizeof both);
    return (f8)(d4){both, both, both, both};
}

INLINE void steer(const float *in, f8 *beams, f8 *beams_exchanged, const int count)
{
    f8 sum[4] = {0};
#pragma GCC unroll 12
    for (int i = 0; i < CHANNELS; i++)
#pragma GCC unroll 4
        for (int n = 0; n < count; n++) {
            const f8 x = broadcast(in + ROW * n + 2 * i);
            sum[n] += weights[i][0] * x + weights[i][1] * exchanged(x);
        }
#pragma GCC unroll 4
    for (int n = 0; n < count; n++) {
        beams[n] = sum[n];
        beams_exchanged[n] = exchanged(sum[n]);
    }
}

static void steer_all(const float *in, f8 *beams, f8 *beams_exchanged, long count)
{
    long n = 0;
    for (; n + 4 <= count; n += 4)
        steer(in + ROW * n, beams + n, beams_exchanged + n, 4);
    for (; n < count; n++)
        steer(in + ROW * n, beams + n, beams_exchanged + n, 1);
}

INLINE void match(const f8 *beams, const f8 *beams_exchanged, f8 *found, const int count)
{
    f8 sum[8] = {0};
    for (int i = 0; i < PULSE; i++) {
        const f8 re = pulse[i][0], im = pulse[i][1];
        FORGET;
#pragma GCC unroll 8
        for (int n = 0; n < count; n++)
            sum[n] += re * beams[n + i] + im * beams_exchanged[n + i];
    }
#pragma GCC unroll 8
    for (int n = 0; n < count; n++)
        found[n] = sum[n];
}

static void magnitudes(const f8 *found, float *out, long count)
{
    const float *x = (const float *)found;
    for (long n = 0; n < BEAMS * count; n++)
        out[n] = (float)sqrt((double)x[2 * n] * (double)x[2 * n] + (double)x[2 * n + 1] * (double)x[2 * n + 1]);
}

static void match_all(const f8 *beams, const f8 *beams_exchanged, float *out, long count)
{
    f8 found[ROUND];
    long n = 0;
    for (; n + 8 <= count; n += 8)
        match(beams + n, beams_exchanged + n, found + n, 8);
    for (; n < count; n++)
        match(beams + n, beams_exchanged + n, found + n, 1);
    magnitudes(found, out, count);
}

long beamformer(const float *in, float *out, long items)
{
    float fast[(FAST_BEFORE + STEP * ROUND) * ROW] __attribute__((aligned(64)));
    float slow[ROUND * ROW] __attribute__((aligned(64)));
    f8 beams[SLOW_BEFORE + ROUND], beams_exchanged[SLOW_BEFORE + ROUND];

    const long slow_count = windows(windows(items / CHANNELS, TAPS, STEP), TAPS, STEP);
    const long count = windows(slow_count, PULSE, 1);
    // The numbers of results of the first filter, of the second, and of outputs so far.
    long fast_done = count > 0 ? FAST_BEFORE : 0, slow_done = 0, done = 0;
    decimate_all(in, fast, fast_done);
    while (done < count) {
        // The first round computes the samples before the first pulse, and no output.
        const int first = slow_done == 0;
        const long now = first ? SLOW_BEFORE : least(ROUND, count - done);
        decimate_all(in + ROW * STEP * fast_done, fast + ROW * FAST_BEFORE, STEP * now);
        decimate_all(fast, slow, now);
        memmove(fast, fast + ROW * STEP * now, ROW * FAST_BEFORE * sizeof *fast);
        const long at = first ? 0 : SLOW_BEFORE;
        steer_all(slow, beams + at, beams_exchanged + at, now);
        fast_done += STEP * now;
        slow_done += now;
        if (first)
            continue;
        match_all(beams, beams_exchanged, out + BEAMS * done, now);
        memmove(beams, beams + now, SLOW_BEFORE * sizeof *beams);
        memmove(beams_exchanged, beams_exchanged + now, SLOW_BEFORE * sizeof *beams);
        done += now;
    }
    return BEAMS * count;
}
