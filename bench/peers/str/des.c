// des.str: blocks of 64 bits enciphered with DES, one key.
//
// 16 blocks side by side. A table of 64 words is four vectors: two instructions that choose among the lanes of two
// vectors, by the low five bits, and a choice between their results by the sixth, look up 16 words at once. That is
// what an expert writes for this processor with intrinsics, and here with GCC's vectors; from the plain loop the
// compiler makes loads one by one or gathers (des_scalar.c stands beside this). Two vectors of blocks at a time share
// the loads of the tables.
//
// Work, for each block: 128 lookups, 16 times 8 exclusive ors and shifts, two permutations of 20 operations; 8 bytes
// read, 8 written. A lookup of 16 lanes is 2 permutations, of which one starts each cycle: 16 cycles for a block, and
// 24 with what goes on beside them at two operations of 16 lanes a cycle.
#include "des.h"

typedef struct { u16 left, right; } halves;

INLINE u16 look_up(const uint32_t table[64], u16 six)
{
    u16 part[4];
    memcpy(part, table, sizeof part);
    const u16 low = __builtin_shuffle(part[0], part[1], six);
    const u16 high = __builtin_shuffle(part[2], part[3], six);
    const u16 upper = (u16)((six & 32) != 0);
    return (high & upper) | (low & ~upper);
}

INLINE void round_of(halves *x, uint32_t odd_key, uint32_t even_key)
{
    const u16 right = x->right;
    const u16 a = (right >> 1 | right << 31) ^ odd_key, b = (right << 3 | right >> 29) ^ even_key;
    u16 word = x->left;
    word ^= look_up(sp[0], a >> 26) ^ look_up(sp[1], b >> 26);
    word ^= look_up(sp[2], a >> 18) ^ look_up(sp[3], b >> 18);
    word ^= look_up(sp[4], a >> 10) ^ look_up(sp[5], b >> 10);
    word ^= look_up(sp[6], a >> 2) ^ look_up(sp[7], b >> 2);
    x->left = right;
    x->right = word;
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

// 32 blocks.
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
