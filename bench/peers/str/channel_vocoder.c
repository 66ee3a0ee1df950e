// channel_vocoder.str: pitch and 16 bands of speech, a number for each in every frame of 50 samples.
//
// The bands lie side by side, so that where one ends the next begins: of their 32 low-pass filters 17 differ, and
// they share the loads of their input. 16 samples of all of them grow in registers; the differences are transposed
// there, so that the filters that smooth have the channels in a vector. For the pitch a vector holds 16 lags, whose
// sums go on in the order of the samples; each takes part for as long as there are samples for its lag. Transposing
// and the lanes that drop out are written with GCC's vectors.
//
// Work, for each sample: 1088 + 20 multiplications and additions for the bands, 300 for the pitch; 4 bytes read, 1.4
// written. One addition of 16 lanes a cycle: 88 cycles for a sample.
#include "common.h"

enum { CHANNELS = 16, FILTERS = CHANNELS + 1, TAPS = 64, FRAME = 50, WINDOW = 240, SHORTEST = 20, LONGEST = 100 };
// Frames in a round; rows of bands that the next round needs again.
enum { ROUND = 8, BEFORE = TAPS - FRAME, RESULT = CHANNELS + 1 };
// Vectors of lags, without the last one.
enum { LAGS = (LONGEST - SHORTEST) / 16 };

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

// 16 rows of channels.
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

// So many rows, of which the input may end within the last 16.
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

// What is quiet becomes silence; what is loud loses as much.
static void clip(const float *in, float *out)
{
    for (int i = 0; i < WINDOW; i++)
        out[i] = in[i] > 0.1f ? in[i] - 0.1f : in[i] < -0.1f ? in[i] + 0.1f : 0.0f;
}

// One more sample for as many of the lags as have it; the last vector of them in part.
INLINE void correlate(const float *x, int j, f16 *sum, const int full, const int part)
{
    const i16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#pragma GCC unroll 8
    for (int v = 0; v < full; v++)
        sum[v] += x[j] * load16(x + j + SHORTEST + 16 * v);
    if (part) {
        const int at = j + SHORTEST + 16 * full;
        const f16 more = sum[full] + x[j] * load16(x + at);
        const i16 there = lane < WINDOW - at;
        sum[full] = (f16)(((i16)more & there) | ((i16)sum[full] & ~there));
    }
}

static float pitch(const float *in)
{
    enum { COMMON = WINDOW - SHORTEST - 16 * LAGS + 1 };
    float x[WINDOW + 32] __attribute__((aligned(64))) = {0};
    float correlation[LONGEST - SHORTEST + 1];
    f16 sum[LAGS] = {0};
    float zero = 0, longest = 0;
    clip(in, x);
    int j = 0;
    for (; j < WINDOW - LONGEST; j++) {
        correlate(x, j, sum, LAGS, 0);
        longest += x[j + LONGEST] * x[j];
        zero += x[j] * x[j];
    }
    for (; j < COMMON; j++) {
        correlate(x, j, sum, LAGS, 0);
        zero += x[j] * x[j];
    }
#pragma GCC unroll 8
    for (int left = LAGS - 1; left >= 0; left--)
        for (const int end = j + 16; j < end; j++) {
            correlate(x, j, sum, left, 1);
            zero += x[j] * x[j];
        }
    for (; j < WINDOW; j++)
        zero += x[j] * x[j];

    memcpy(correlation, sum, sizeof sum);
    correlation[LONGEST - SHORTEST] = longest;
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
