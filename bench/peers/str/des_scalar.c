// des.str without vectors, to show the speed-up by the vectors of des.c.
//
// A block waits for each of its lookups, so two blocks are enciphered at a time. The fields that select words are bytes
// with the two low bits zero, so they need no shifts.
//
// Work as in des.c: 128 loads per block, three per cycle, and 350 operations in all, six per cycle: at least 60 cycles
// per block. The latency of the lookups is about 16 times 13 cycles for two blocks.
#include "des.h"

enum { INTERLEAVED = 2 };

__attribute__((constructor)) static void prepare(void) { make_tables(); }

INLINE uint32_t word(const uint32_t table[64], uint32_t byte)
{
    uint32_t found;
    memcpy(&found, (const char *)table + (byte & 0xFF), sizeof found);
    return found;
}

INLINE void encipher(const uint32_t *in, uint32_t *out, const int count)
{
    uint32_t left[INTERLEAVED], right[INTERLEAVED];
#pragma GCC unroll 2
    for (int n = 0; n < count; n++) {
        left[n] = in[2 * n], right[n] = in[2 * n + 1];
        INITIAL(left[n], right[n]);
    }
#pragma GCC unroll 1
    for (int i = 0; i < 16; i++)
#pragma GCC unroll 2
        for (int n = 0; n < count; n++) {
            const uint32_t r = right[n];
            const uint32_t a = ((r >> 1 | r << 31) ^ odd[i]) & 0xFCFCFCFC;
            const uint32_t b = ((r << 3 | r >> 29) ^ even[i]) & 0xFCFCFCFC;
            right[n] = left[n] ^ word(sp[0], a >> 24) ^ word(sp[2], a >> 16) ^ word(sp[4], a >> 8) ^ word(sp[6], a)
                       ^ word(sp[1], b >> 24) ^ word(sp[3], b >> 16) ^ word(sp[5], b >> 8) ^ word(sp[7], b);
            left[n] = r;
        }
#pragma GCC unroll 2
    for (int n = 0; n < count; n++) {
        FINAL(right[n], left[n]);
        out[2 * n] = right[n], out[2 * n + 1] = left[n];
    }
}

long des_scalar(const int32_t *in, int32_t *out, long items)
{
    const uint32_t *from = (const uint32_t *)in;
    uint32_t *to = (uint32_t *)out;
    const long blocks = items / 2;
    long done = 0;
    for (; done + INTERLEAVED <= blocks; done += INTERLEAVED)
        encipher(from + 2 * done, to + 2 * done, INTERLEAVED);
    for (; done < blocks; done++)
        encipher(from + 2 * done, to + 2 * done, 1);
    return 2 * blocks;
}
