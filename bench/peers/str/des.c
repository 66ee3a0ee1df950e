// des.str: blocks of 64 bits enciphered with DES, one key.
//
// A vector holds a half of each of 16 blocks. A table of 64 words is four vectors. A lookup of 16 words takes two
// instructions that select among the lanes of two vectors by five bits, one in the first half of the table and one in
// the differences of the second half from the first, and a masked exclusive or for the sixth bit. This is how an expert
// writes it for this processor: with GCC's vectors, and with intrinsics for the sixth bit, since the compiler generates
// three instructions for that test. For the plain loop it generates single loads or gathers (see des_scalar.c). Two
// vectors of blocks at a time share the loads of the tables.
//
// Work per block: 128 lookups, 16 times 8 exclusive ors and shifts, two permutations of 20 operations; 8 bytes read, 8
// written. A lookup of 16 lanes is 2 permutations, and one can start per cycle: 16 cycles per block. With the 4 other
// operations, of which two can start per cycle, it is 24 cycles.
#include "des.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

typedef struct { u16 left, right; } halves;

// The first half of each table, and the differences of the second half from the first.
static uint32_t differences[8][64] __attribute__((aligned(64)));

__attribute__((constructor)) static void prepare(void)
{
    make_tables();
    for (int box = 0; box < 8; box++)
        for (int six = 0; six < 64; six++)
            differences[box][six] = sp[box][six] ^ (six < 32 ? 0 : sp[box][six - 32]);
}

// `word` xor the table entry selected by the six bits of `from` at `place`.
INLINE u16 substitute(u16 word, int box, u16 from, const int place)
{
    u16 part[4];
    memcpy(part, differences[box], sizeof part);
    const u16 six = from >> place;
    const u16 low = __builtin_shuffle(part[0], part[1], six), more = __builtin_shuffle(part[2], part[3], six);
    word ^= low;
#ifdef __AVX512F__
    const __mmask16 upper = _mm512_test_epi32_mask((__m512i)from, _mm512_set1_epi32(32 << place));
    return (u16)_mm512_mask_xor_epi32((__m512i)word, upper, (__m512i)word, (__m512i)more);
#else
    return word ^ (more & (u16)((from & (32u << place)) != 0));
#endif
}

INLINE void round_of(halves *x, uint32_t odd_key, uint32_t even_key)
{
    const u16 right = x->right;
    const u16 a = (right >> 1 | right << 31) ^ odd_key, b = (right << 3 | right >> 29) ^ even_key;
    u16 left = x->left, other = {0};
#pragma GCC unroll 4
    for (int pair = 0; pair < 4; pair++) {
        left = substitute(left, 2 * pair, a, 26 - 8 * pair);
        other = substitute(other, 2 * pair + 1, b, 26 - 8 * pair);
    }
    x->left = right;
    x->right = left ^ other;
}

INLINE halves load(const uint32_t *in)
{
    u16 a, b;
    memcpy(&a, in, sizeof a);
    memcpy(&b, in + 16, sizeof b);
    return (halves){
        __builtin_shuffle(a, b, (u16){0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}),
        __builtin_shuffle(a, b, (u16){1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31}),
    };
}

INLINE void store(uint32_t *out, u16 left, u16 right)
{
    const u16 a = __builtin_shuffle(left, right, (u16){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
    const u16 b = __builtin_shuffle(left, right, (u16){8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
    memcpy(out, &a, sizeof a);
    memcpy(out + 16, &b, sizeof b);
}

// Enciphers 32 blocks.
static void blocks(const uint32_t *in, uint32_t *out)
{
    halves x = load(in), y = load(in + 32);
    INITIAL(x.left, x.right);
    INITIAL(y.left, y.right);
    for (int i = 0; i < 16; i++) {
        round_of(&x, odd[i], even[i]);
        round_of(&y, odd[i], even[i]);
    }
    FINAL(x.right, x.left);
    FINAL(y.right, y.left);
    store(out, x.right, x.left);
    store(out + 32, y.right, y.left);
}

long des(const int32_t *in, int32_t *out, long items)
{
    enum { ALL = 64 };
    const long count = items / 2 * 2;
    long done = 0;
    for (; done + ALL <= count; done += ALL)
        blocks((const uint32_t *)in + done, (uint32_t *)out + done);
    if (done < count) {
        uint32_t rest[ALL] = {0};
        memcpy(rest, in + done, (count - done) * sizeof *rest);
        blocks(rest, rest);
        memcpy(out + done, rest, (count - done) * sizeof *rest);
    }
    return count;
}
