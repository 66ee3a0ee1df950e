// filter_bank.str with BANDS = 8, TAPS = 64: splits a signal into 8 bands at an eighth of the rate and recombines them.
//
// In the analysis a vector holds the 8 bands of a frame, in the synthesis the 8 output items of a frame. So the input
// is never rearranged; 8 frames at a time share the loads of the taps.
//
// Work per item: 128 multiplications, 136 additions, 4 bytes read, 4 written. The limit is two additions of 8 lanes per
// cycle: 8.5 cycles per item.
#include "common.h"

enum { BANDS = 8, TAPS = 64, OVERLAP = TAPS / BANDS, FRAMES = 32, GROUP = 8 };

// The taps, by tap and band, and by band, frame and item of the frame.
static float analysis[TAPS][BANDS] __attribute__((aligned(64)));
static float synthesis[BANDS][OVERLAP][BANDS] __attribute__((aligned(64)));

__attribute__((constructor)) static void prepare(void)
{
    for (int band = 0; band < BANDS; band++) {
        const float phase = band % 2 == 0 ? PI / 4 : -(PI / 4);
        for (int i = 0; i < TAPS; i++) {
            const float t = i - (TAPS - 1) / 2.0f;
            const float turn = 2 * PI * (i + 0.5f) / TAPS;
            const float window = 0.42f - 0.5f * cos1(turn) + 0.08f * cos1(2 * turn);
            const float x = PI * t / (1.6f * BANDS);
            const float prototype = window * (x == 0 ? 1.0f : sin1(x) / x) / (1.6f * BANDS);
            const float angle = (2 * band + 1) * PI / (2 * BANDS) * t;
            analysis[i][band] = 2 * prototype * cos1(angle + phase);
            synthesis[band][i / BANDS][i % BANDS] = 2 * BANDS * prototype * cos1(angle - phase);
        }
    }
}

INLINE void analyse(const float *in, float *bands, const int frames)
{
    f8 sum[GROUP] = {0};
    for (int i = 0; i < TAPS; i++) {
        const f8 h = load8(analysis[i]);
#pragma GCC unroll 8
        for (int f = 0; f < frames; f++)
            sum[f] += h * in[BANDS * f + TAPS - 1 - i];
    }
#pragma GCC unroll 8
    for (int f = 0; f < frames; f++)
        store8(bands + BANDS * f, sum[f]);
}

INLINE void synthesise(const float *bands, float *out, const int frames)
{
    f8 total[GROUP] = {0};
    for (int band = 0; band < BANDS; band++) {
        f8 sum[GROUP] = {0};
#pragma GCC unroll 8
        for (int i = 0; i < OVERLAP; i++) {
            const f8 h = load8(synthesis[band][i]);
#pragma GCC unroll 8
            for (int f = 0; f < frames; f++)
                sum[f] += h * bands[BANDS * (f + OVERLAP - 1 - i) + band];
        }
#pragma GCC unroll 8
        for (int f = 0; f < frames; f++)
            total[f] += sum[f];
    }
#pragma GCC unroll 8
    for (int f = 0; f < frames; f++)
        store8(out + BANDS * f, total[f]);
}

static void analyse_all(const float *in, float *bands, long frames)
{
    long f = 0;
    for (; f + GROUP <= frames; f += GROUP)
        analyse(in + BANDS * f, bands + BANDS * f, GROUP);
    for (; f < frames; f++)
        analyse(in + BANDS * f, bands + BANDS * f, 1);
}

static void synthesise_all(const float *bands, float *out, long frames)
{
    long f = 0;
    for (; f + GROUP <= frames; f += GROUP)
        synthesise(bands + BANDS * f, out + BANDS * f, GROUP);
    for (; f < frames; f++)
        synthesise(bands + BANDS * f, out + BANDS * f, 1);
}

long filter_bank(const float *in, float *out, long items)
{
    enum { BEFORE = OVERLAP - 1 };
    float bands[(BEFORE + FRAMES) * BANDS] __attribute__((aligned(64)));
    const long frames = windows(windows(items, TAPS, BANDS), OVERLAP, 1);
    if (frames == 0)
        return 0;
    analyse_all(in, bands, BEFORE);
    for (long done = 0; done < frames; done += FRAMES) {
        const long now = least(FRAMES, frames - done);
        analyse_all(in + BANDS * (done + BEFORE), bands + BANDS * BEFORE, now);
        synthesise_all(bands, out + BANDS * done, now);
        memmove(bands, bands + BANDS * FRAMES, BANDS * BEFORE * sizeof *bands);
    }
    return BANDS * frames;
}
