// fm_radio.str: channel filter, discriminator, low-pass filter, and an equaliser of 10 bands.
//
// Adjacent bands of the equaliser share an edge, so only 11 of its 20 low-pass filters differ; these share the loads of
// their input. The differences, gains and the sum are computed in registers. The input of the decimating filters is
// deinterleaved into phases first, so that the items of one phase are contiguous; pairs of I and Q stay together. The
// lanes of a vector are consecutive outputs.
//
// Work per item of output (20 pairs of input): 640 + 64 + 704 multiplications and additions, 5 arctangents; 160 bytes
// read, 4 written. The additions take 1408 / 16 = 88 cycles. The limit is the arctangent of the system's library: at
// about 80 cycles each, 400 cycles.
#include "common.h"

enum { BANDS = 10, FILTERS = BANDS + 1, TAPS = 64, FIRST = 4, SECOND = 5 };
// Results of the second filter per round; rows of SECOND angles, and results, that the next round reuses.
enum { ROUND = 128, ANGLE_ROWS = (TAPS - 1) / SECOND, SOUND_BEFORE = TAPS - 1 };
enum { CHANNEL = SECOND * ROUND + 1, PHASE = 2 * (CHANNEL + TAPS / FIRST) };

static float channel_taps[TAPS], sound_taps[TAPS], equaliser_taps[TAPS][FILTERS], gains[BANDS];

__attribute__((constructor)) static void prepare(void)
{
    const float fast = 1000000.0f, rate = fast / FIRST, slow = rate / SECOND;
    low_pass(channel_taps, 1, fast, 110000.0f, TAPS);
    low_pass(sound_taps, 1, rate, 16000.0f, TAPS);
    const float ratio = pow1(15000.0f / 55.0f, 1.0f / BANDS);
    float edge = 55.0f;
    for (int i = 0; i < FILTERS; i++) {
        low_pass(equaliser_taps[0] + i, FILTERS, slow, edge, TAPS);
        edge = edge * ratio;
    }
    for (int i = 0; i < BANDS; i++)
        gains[i] = 2 - fabsf(i - (BANDS - 1) / 2.0f) / BANDS;
}

// Computes 16 * `vectors` sums of taps times items of `phases` rows; consecutive taps use consecutive rows, cyclically.
// Consecutive items of a phase are `pair` floats apart.
INLINE void filter(const float *rows, long row, const int phases, const int pair, const float *h, float *out,
                   const int vectors)
{
    f16 sum[8] = {0};
    for (int i = 0; i < TAPS; i++) {
        const float *x = rows + row * (i % phases) + pair * (i / phases);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            sum[v] += load16(x + 16 * v) * h[i];
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++)
        store16(out + 16 * v, sum[v]);
}

// Computes `rows` rows of angles from `in`, which has `floats` floats left; the angles are deinterleaved by SECOND.
static void angles(const float *in, long floats, long rows, float out[SECOND][ANGLE_ROWS + ROUND + 16], long at)
{
    static const float gain_rate = 1000000.0f / FIRST;
    const float gain = gain_rate / (2 * PI * 75000.0f);
    float phases[FIRST][PHASE + 128] __attribute__((aligned(64)));
    float channel[2 * CHANNEL + 128] __attribute__((aligned(64)));
    const long samples = SECOND * rows + 1, pairs = least(FIRST * (samples - 1) + TAPS, floats / 2);
    for (long n = 0; n < pairs / FIRST; n++)
        for (int phase = 0; phase < FIRST; phase++)
            memcpy(phases[phase] + 2 * n, in + 2 * (FIRST * n + phase), 2 * sizeof *in);
    for (long n = pairs / FIRST * FIRST; n < pairs; n++)
        memcpy(phases[n % FIRST] + n / FIRST * 2, in + 2 * n, 2 * sizeof *in);
    for (long n = 0; n < 2 * samples; n += 128)
        filter(phases[0] + n, PHASE + 128, FIRST, 2, channel_taps, channel + n, 8);
    for (long row = 0; row < rows; row++)
        for (int k = 0; k < SECOND; k++) {
            const float *x = channel + 2 * (SECOND * row + k);
            const float re = x[2] * x[0] + x[3] * x[1], im = x[3] * x[0] - x[2] * x[1];
            out[k][at + row] = gain * atan21(im, re);
        }
}

// Computes 32 results of the equaliser.
INLINE void equalise(const float *in, float *out)
{
    f16 sum[FILTERS][2] = {0};
    for (int i = 0; i < TAPS; i++) {
        const f16 x = load16(in + i), y = load16(in + i + 16);
#pragma GCC unroll 11
        for (int f = 0; f < FILTERS; f++) {
            sum[f][0] += x * equaliser_taps[i][f];
            sum[f][1] += y * equaliser_taps[i][f];
        }
    }
    f16 total[2] = {0};
#pragma GCC unroll 10
    for (int band = 0; band < BANDS; band++)
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            total[v] += (sum[band + 1][v] - sum[band][v]) * gains[band];
    store16(out, total[0]);
    store16(out + 16, total[1]);
}

long fm_radio(const float *in, float *out, long items)
{
    enum { ROW = ANGLE_ROWS + ROUND + 16, STRIDE = 2 * FIRST * SECOND };
    float angle[SECOND][ROW] __attribute__((aligned(64))) = {0};
    float sound[SOUND_BEFORE + ROUND + 96] __attribute__((aligned(64))) = {0};
    float result[ROUND] __attribute__((aligned(64)));

    const long samples = windows(items / 2, TAPS, FIRST);
    const long sounds = windows(samples - (samples > 0), TAPS, SECOND);
    const long count = windows(sounds, TAPS, 1);
    if (count == 0)
        return 0;
    angles(in, items, ANGLE_ROWS, angle, 0);
    long begun = ANGLE_ROWS;
    // The first round computes the sound before the equaliser's first window, and no results.
    for (long done = -SOUND_BEFORE; done < count;) {
        const int first = done < 0;
        const long now = first ? SOUND_BEFORE : least(ROUND, count - done);
        angles(in + STRIDE * begun, items - STRIDE * begun, now, angle, ANGLE_ROWS);
        begun += now;
        float *to = sound + (first ? 0 : SOUND_BEFORE);
        for (long n = 0; n < now; n += 64)
            filter(angle[0] + n, ROW, SECOND, 1, sound_taps, to + n, 4);
        for (int k = 0; k < SECOND; k++)
            memmove(angle[k], angle[k] + now, ANGLE_ROWS * sizeof **angle);
        if (!first) {
            for (long n = 0; n < now; n += 32)
                equalise(sound + n, result + n);
            memcpy(out + done, result, now * sizeof *out);
            memmove(sound, sound + now, SOUND_BEFORE * sizeof *sound);
        }
        done += now;
    }
    return count;
}
