
/* Prefetches the row of a later block, so that its load overlaps with the computation. The hardware prefetcher does not
   handle these accesses: rows are too far apart, and too many. The first-level cache has room for short rows, the
   second-level cache for all. (A prefetch beyond the end of memory has no effect.) */
#define AHEAD(row, by) __builtin_prefetch((row) + LANES * (by), 0, 2)
#define SOON(row, by) ((by) <= 64 ? __builtin_prefetch((row) + LANES * (by), 0, 3) : AHEAD(row, by))

/* Transposes rows that begin `by` cells apart into vectors of their first cells, of their second cells, and so on. */
static __attribute__((noinline)) void enter_rows(VI *to, const int32_t *from, int64_t by, int64_t width)
{
    for (int64_t at = 0;;) {
        VI r[LANES];
        _Pragma("GCC unroll 16") for (int l = 0; l < LANES; l++) {
            r[l] = load_i(from + l * by + at);
            SOON(from + l * by + at, by);
        }
        cross(r);
        _Pragma("GCC unroll 16") for (int l = 0; l < LANES; l++)
            to[at + l] = r[l];
        if (at == width - LANES)
            return;
        at = at + 2 * LANES <= width ? at + LANES : width - LANES;
    }
}

static __attribute__((noinline)) void leave_rows(int32_t *to, const VI *from, int64_t by, int64_t width)
{
    for (int64_t at = 0;;) {
        VI r[LANES];
        _Pragma("GCC unroll 16") for (int l = 0; l < LANES; l++)
            r[l] = from[at + l];
        cross(r);
        _Pragma("GCC unroll 16") for (int l = 0; l < LANES; l++) {
            store_i(to + l * by + at, r[l]);
            AHEAD(to + l * by + at, by);
        }
        if (at == width - LANES)
            return;
        at = at + 2 * LANES <= width ? at + LANES : width - LANES;
    }
}

/* One square without a loop; prefetches two blocks ahead, since the same square of the next block is too close. */
static inline __attribute__((always_inline)) void enter_row(VI *to, const int32_t *from, const int64_t by)
{
    VI r[LANES];
    _Pragma("GCC unroll 16") for (int l = 0; l < LANES; l++) {
        r[l] = load_i(from + l * by);
        AHEAD(from + l * by, 2 * by);
    }
    cross(r);
    _Pragma("GCC unroll 16") for (int l = 0; l < LANES; l++)
        to[l] = r[l];
}

static inline __attribute__((always_inline)) void leave_row(int32_t *to, const VI *from, const int64_t by)
{
    VI r[LANES];
    _Pragma("GCC unroll 16") for (int l = 0; l < LANES; l++)
        r[l] = from[l];
    cross(r);
    _Pragma("GCC unroll 16") for (int l = 0; l < LANES; l++) {
        store_i(to + l * by, r[l]);
        AHEAD(to + l * by, by);
    }
}

/* Copies `count` rows, and repeats the last one for the other lanes. */
static __attribute__((noinline)) void few_in(int32_t *to, const int32_t *from, int64_t by, int64_t width, int64_t count)
{
    for (int64_t l = 0; l < LANES; l++)
        memcpy(to + l * by, from + (l < count ? l : count - 1) * by, width * sizeof *to);
}

/* Transposes `count` rows cell by cell; lanes beyond them repeat the last row. */
static __attribute__((noinline)) void enter_any_i(VI *to, const int32_t *from, int64_t by, int64_t width, int64_t count)
{
    for (int64_t at = 0; at < width; at++)
        for (int64_t l = 0; l < LANES; l++)
            to[at][l] = from[(l < count ? l : count - 1) * by + at];
}

static __attribute__((noinline)) void enter_any_b(VI *to, const uint8_t *from, int64_t by, int64_t width, int64_t count)
{
    for (int64_t at = 0; at < width; at++)
        for (int64_t l = 0; l < LANES; l++)
            to[at][l] = -from[(l < count ? l : count - 1) * by + at];
}

static __attribute__((noinline)) void leave_any_i(int32_t *to, const VI *from, int64_t by, int64_t width, int64_t count)
{
    for (int64_t at = 0; at < width; at++)
        for (int64_t l = 0; l < count; l++)
            to[l * by + at] = from[at][l];
}

static __attribute__((noinline)) void leave_any_b(uint8_t *to, const VI *from, int64_t by, int64_t width, int64_t count)
{
    for (int64_t at = 0; at < width; at++)
        for (int64_t l = 0; l < count; l++)
            to[l * by + at] = -from[at][l];
}

/* Cells of tables of one, two and four vectors. */
static inline VI look_1(const int32_t *table, VI at) { return __builtin_shuffle(load_i(table), at); }
static inline VI look_2(const int32_t *table, VI at) { return __builtin_shuffle(load_i(table), load_i(table + LANES), at); }
static inline VI look_4(const int32_t *table, VI at)
{
    const VI low = look_2(table, at), more = look_2(table + 2 * LANES, at);
#if LANES == 16 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    const unsigned short high = __builtin_ia32_ptestmd512(at, all_i(2 * LANES), (unsigned short)-1);
    return (VI)__builtin_ia32_pxord512_mask(low, more, low, high);
#else
    return low ^ (more & (VI)((at & (2 * LANES)) != 0));
#endif
}
