// matrix_multiply.str with N = M = P = 16: products of pairs of matrices, row by row.
//
// A row of the second matrix is a vector. The 16 rows of the product stay in registers; each step adds an item of the
// first matrix times that row to each of them. Every sum is computed in the order of k, as in the program.
//
// Work per item of output, of which a product has 256: 16 multiplications, 16 additions, 8 bytes read, 4 written. If
// the data are in the cache, the limit is one addition of 16 lanes per cycle: one cycle per item.
#include "common.h"

enum { N = 16 };

long matrix_multiply(const float *in, float *out, long items)
{
    const long pairs = items / (2 * N * N);
    for (long pair = 0; pair < pairs; pair++, in += 2 * N * N, out += N * N) {
        f16 sum[N] = {0};
        for (int k = 0; k < N; k++) {
            const f16 row = load16(in + N * N + N * k);
#pragma GCC unroll 16
            for (int i = 0; i < N; i++)
                sum[i] += in[N * i + k] * row;
        }
#pragma GCC unroll 16
        for (int i = 0; i < N; i++)
            store16(out + N * i, sum[i]);
    }
    return pairs * N * N;
}
