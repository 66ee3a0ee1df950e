// channel_vocoder.str: pitch and 16 bands of speech, a number for each in every frame of 50 samples.
//
// Adjacent bands share an edge, so only 17 of their 32 low-pass filters differ; these share the loads of their input.
// The sums of 16 samples of all filters stay in registers. Their differences are transposed there, so that a vector
// holds the channels for the smoothing filters. For the pitch a vector holds 16 lags. Their sums are computed in the
// order of the samples, each vector 16 samples behind the previous one, so that one load serves all vectors; a lane is
// active while there are samples for its lag. Transposition and active lanes are written with GCC's vectors.
//
// Work per sample: 1088 + 20 multiplications and additions for the bands, 300 for the pitch; 4 bytes read, 1.4
// written. The limit is one addition of 16 lanes per cycle: 88 cycles per sample.
#include "common.h"

enum { CHANNELS = 16, FILTERS = CHANNELS + 1, TAPS = 64, FRAME = 50, WINDOW = 240, SHORTEST = 20, LONGEST = 100 };
// Frames per round; rows of bands that the next round reuses.
enum { ROUND = 8, BEFORE = TAPS - FRAME, RESULT = CHANNELS + 1 };
// The number of vectors of lags.
enum { LAGS = (LONGEST - SHORTEST) / 16 + 1 };

static const float RATE = 8000.0f;
static float band_taps[TAPS][FILTERS], smooth_taps[TAPS];

__attribute__((constructor)) static void prepare(void)
{
    const float lowest = 100.0f, width = (3700.0f - 100.0f) / CHANNELS;
    for (int i = 0; i < FILTERS; i++)
        low_pass(band_taps[0] + i, FILTERS, RATE, lowest + i * width, TAPS);
    low_pass(smooth_taps, 1, RATE, RATE / (2 * FRAME), TAPS);
}

INLINE f16 magnitude(f16 x) { return (f16)((i16)x & 0x7FFFFFFF); }

// Computes 16 rows of channels.
INLINE void bands(const float *in, f16 *rows)
{
    f16 sum[FILTERS] = {0};
    for (int i = 0; i < TAPS; i++) {
        const f16 x = load16(in + i);
#pragma GCC unroll 17
        for (int f = 0; f < FILTERS; f++)
            sum[f] += x * band_taps[i][f];
    }
#pragma GCC unroll 16
    for (int c = 0; c < CHANNELS; c++)
        sum[c] = magnitude(sum[c + 1] - sum[c]);
    transpose16(sum);
#pragma GCC unroll 16
    for (int n = 0; n < 16; n++)
        rows[n] = sum[n];
}

// Computes `count` rows; the input may end within the last 16.
static void all_bands(const float *in, f16 *rows, long count)
{
    long n = 0;
    for (; n + 16 <= count; n += 16)
        bands(in + n, rows + n);
    if (n < count) {
        float rest[TAPS + 16] = {0};
        memcpy(rest, in + n, (count - n + TAPS - 1) * sizeof *rest);
        bands(rest, rows + n);
    }
}

INLINE void smooth(const f16 *rows, float *out, const int frames)
{
    f16 sum[ROUND] = {0};
    for (int i = 0; i < TAPS; i++)
#pragma GCC unroll 8
        for (int f = 0; f < frames; f++)
            sum[f] += rows[FRAME * f + i] * smooth_taps[i];
#pragma GCC unroll 8
    for (int f = 0; f < frames; f++)
        store16(out + RESULT * f + 1, sum[f]);
}

// Center clipping: reduces each sample by 0.1 towards zero.
static void clip(const float *in, float *out)
{
    for (int i = 0; i < WINDOW; i++)
        out[i] = in[i] > 0.1f ? in[i] - 0.1f : in[i] < -0.1f ? in[i] + 0.1f : 0.0f;
}

// Adds the products of 16 samples from `at` on with the sample SHORTEST + 16 * v before `at`, for the first `begun`
// vectors of lags. Unless `all`, only lanes with a sample inside the window are active.
INLINE void correlate(const float *x, int at, f16 *sum, const int begun, const int all)
{
    const i16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, there = lane < WINDOW - at;
    const f16 later = load16(x + at);
#pragma GCC unroll 8
    for (int v = 0; v < begun; v++) {
        const f16 more = sum[v] + x[at - SHORTEST - 16 * v] * later;
        sum[v] = all ? more : (f16)(((i16)more & there) | ((i16)sum[v] & ~there));
    }
}

static float pitch(const float *in)
{
    float x[WINDOW + 32] __attribute__((aligned(64))) = {0};
    float correlation[16 * LAGS];
    f16 sum[LAGS] = {0};
    float zero = 0;
    clip(in, x);
    // Each vector of lags is 16 samples behind the previous one, so that all need the same samples.
    int at = SHORTEST;
#pragma GCC unroll 8
    for (int begun = 1; begun < LAGS; begun++)
        for (const int end = at + 16; at < end; at++) {
            correlate(x, at, sum, begun, 1);
            zero += x[at - SHORTEST] * x[at - SHORTEST];
        }
    for (; at <= WINDOW - 16; at++) {
        correlate(x, at, sum, LAGS, 1);
        zero += x[at - SHORTEST] * x[at - SHORTEST];
    }
    for (; at < WINDOW; at++) {
        correlate(x, at, sum, LAGS, 0);
        zero += x[at - SHORTEST] * x[at - SHORTEST];
    }
    for (at -= SHORTEST; at < WINDOW; at++)
        zero += x[at] * x[at];

    memcpy(correlation, sum, sizeof sum);
    int best = 0;
    float greatest = correlation[0];
    for (int lag = 1; lag <= LONGEST - SHORTEST; lag++)
        if (correlation[lag] > greatest) {
            greatest = correlation[lag];
            best = lag;
        }
    return greatest > 0.3f * zero ? RATE / (best + SHORTEST) : 0.0f;
}

long channel_vocoder(const float *in, float *out, long items)
{
    f16 rows[BEFORE + FRAME * ROUND + 16];
    const long frames = windows(items, WINDOW, FRAME);
    if (frames == 0)
        return 0;
    all_bands(in, rows, BEFORE);
    for (long done = 0; done < frames; done += ROUND, out += RESULT * ROUND) {
        const long now = least(ROUND, frames - done), begin = FRAME * done;
        all_bands(in + begin + BEFORE, rows + BEFORE, FRAME * now);
        if (now == ROUND)
            smooth(rows, out, ROUND);
        else
            for (long f = 0; f < now; f++)
                smooth(rows + FRAME * f, out + RESULT * f, 1);
        for (long f = 0; f < now; f++)
            out[RESULT * f] = pitch(in + begin + FRAME * f);
        memmove(rows, rows + FRAME * ROUND, BEFORE * sizeof *rows);
    }
    return RESULT * frames;
}
