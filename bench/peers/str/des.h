// The tables of DES as in des.str: each substitution combined with the permutation P, and the keys of the rounds, in
// two words that match the expanded half rotated right by one bit and left by three bits.
//
// Source: FIPS 46-3, Data Encryption Standard.
#ifndef DES_H
#define DES_H

#include "common.h"

static const uint8_t CHOICE_1[56] = {
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18,
    10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
    63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22,
    14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4
};
static const uint8_t CHOICE_2[48] = {
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10,
    23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48,
    44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32
};
static const uint8_t ROTATIONS[16] = {1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1};
static const uint8_t P[32] = {
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10,
    2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25
};
static const uint8_t S[8][64] = {
    {14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7,
     0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8,
     4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0,
     15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13},
    {15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10,
     3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5,
     0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15,
     13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9},
    {10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8,
     13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1,
     13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7,
     1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12},
    {7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15,
     13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9,
     10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4,
     3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14},
    {2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9,
     14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6,
     4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14,
     11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3},
    {12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11,
     10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8,
     9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6,
     4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13},
    {4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1,
     13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6,
     1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2,
     6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12},
    {13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7,
     1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2,
     7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8,
     2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11}
};

static uint32_t sp[8][64] __attribute__((aligned(64))), odd[16], even[16];

static void make_substitutions(void)
{
    for (int box = 0; box < 8; box++)
        for (int six = 0; six < 64; six++) {
            const int row = ((six >> 4) & 2) | (six & 1);
            const uint32_t word = (uint32_t)S[box][16 * row + ((six >> 1) & 15)] << (28 - 4 * box);
            for (int i = 0; i < 32; i++)
                sp[box][six] |= ((word >> (32 - P[i])) & 1) << (31 - i);
        }
}

static void make_keys(uint32_t high, uint32_t low)
{
    int halves[56], rotated = 0;
    for (int i = 0; i < 56; i++) {
        const int place = CHOICE_1[i] - 1;
        halves[i] = ((place < 32 ? high : low) >> (31 - place % 32)) & 1;
    }
    for (int round = 0; round < 16; round++) {
        rotated += ROTATIONS[round];
        for (int i = 0; i < 48; i++) {
            const int place = CHOICE_2[i] - 1, half = place / 28 * 28;
            const uint32_t one = halves[half + (place - half + rotated) % 28];
            uint32_t *const key = i / 6 % 2 == 0 ? odd : even;
            key[round] |= one << (31 - 4 * (i / 6 - i / 6 % 2) - i % 6);
        }
    }
}

static void make_tables(void)
{
    make_substitutions();
    make_keys(0x13345779, 0x9BBCDFF1);
}

// Both permutations as exchanges of bits between the halves; the halves are words or vectors of words.
#define SWAP(a, b, by, mask)                   \
    do {                                       \
        const __typeof__(a) t = ((a >> by) ^ b) & mask; \
        b ^= t;                                \
        a ^= t << by;                          \
    } while (0)

#define INITIAL(left, right)                   \
    do {                                       \
        SWAP(left, right, 4, 0x0F0F0F0Fu);     \
        SWAP(left, right, 16, 0x0000FFFFu);    \
        SWAP(right, left, 2, 0x33333333u);     \
        SWAP(right, left, 8, 0x00FF00FFu);     \
        SWAP(left, right, 1, 0x55555555u);     \
    } while (0)

#define FINAL(left, right)                     \
    do {                                       \
        SWAP(left, right, 1, 0x55555555u);     \
        SWAP(right, left, 8, 0x00FF00FFu);     \
        SWAP(right, left, 2, 0x33333333u);     \
        SWAP(left, right, 16, 0x0000FFFFu);    \
        SWAP(left, right, 4, 0x0F0F0F0Fu);     \
    } while (0)

#endif
