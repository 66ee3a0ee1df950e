// dct.str with SIZE = 8: the two-dimensional cosine transform of blocks of 8 by 8.
//
// A vector holds the 8 results of a row, and in the second step an item of each of the 8 columns: so nothing is
// transposed. The rows lie in registers from one step to the other.
//
// Work, for each item: 16 multiplications, 16 additions, 4 bytes read, 4 written. Where the data are near, two
// additions of 8 lanes a cycle are the limit: a cycle for an item.
#include "common.h"

enum { SIZE = 8 };

// By column and row, and by row and column.
static float by_item[SIZE][SIZE] __attribute__((aligned(64)));
static float basis[SIZE][SIZE] __attribute__((aligned(64)));

__attribute__((constructor)) static void prepare(void)
{
    for (int k = 0; k < SIZE; k++) {
        const float scale = k == 0 ? sqrt1(1.0f / SIZE) : sqrt1(2.0f / SIZE);
        for (int i = 0; i < SIZE; i++)
            by_item[i][k] = basis[k][i] = scale * cos1(PI * k * (2 * i + 1) / (2 * SIZE));
    }
}

long dct(const float *in, float *out, long items)
{
    const long blocks = items / (SIZE * SIZE);
    for (long block = 0; block < blocks; block++, in += SIZE * SIZE, out += SIZE * SIZE) {
        f8 row[SIZE] = {0}, sum[SIZE] = {0};
#pragma GCC unroll 8
        for (int i = 0; i < SIZE; i++) {
            const f8 factor = load8(by_item[i]);
#pragma GCC unroll 8
            for (int r = 0; r < SIZE; r++)
                row[r] += factor * in[SIZE * r + i];
        }
#pragma GCC unroll 8
        for (int i = 0; i < SIZE; i++)
#pragma GCC unroll 8
            for (int k = 0; k < SIZE; k++)
                sum[k] += basis[k][i] * row[i];
#pragma GCC unroll 8
        for (int k = 0; k < SIZE; k++)
            store8(out + SIZE * k, sum[k]);
    }
    return blocks * SIZE * SIZE;
}
