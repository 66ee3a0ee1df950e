typedef float VF __attribute__((vector_size(LANES * 4)));
typedef int32_t VI __attribute__((vector_size(LANES * 4)));
typedef uint32_t VU __attribute__((vector_size(LANES * 4)));
typedef int8_t VB __attribute__((vector_size(LANES)));

static inline VF load_f(const float *from) { VF v; memcpy(&v, from, sizeof v); return v; }
static inline VI load_i(const int32_t *from) { VI v; memcpy(&v, from, sizeof v); return v; }
static inline VI load_b(const uint8_t *from) { VB v; memcpy(&v, from, sizeof v); return -__builtin_convertvector(v, VI); }
static inline void store_f(float *to, VF v) { memcpy(to, &v, sizeof v); }
static inline void store_i(int32_t *to, VI v) { memcpy(to, &v, sizeof v); }
static inline void store_b(uint8_t *to, VI v) { VB b = __builtin_convertvector(-v, VB); memcpy(to, &b, sizeof b); }
static inline VF gather_f(const float *from, int64_t by) { VF v; for (int l = 0; l < LANES; l++) v[l] = from[l * by]; return v; }
static inline VI gather_i(const int32_t *from, int64_t by) { VI v; for (int l = 0; l < LANES; l++) v[l] = from[l * by]; return v; }
static inline VI gather_b(const uint8_t *from, int64_t by) { VI v; for (int l = 0; l < LANES; l++) v[l] = -from[l * by]; return v; }
static inline void spread_f(float *to, int64_t by, VF v) { for (int l = 0; l < LANES; l++) to[l * by] = v[l]; }
static inline void spread_i(int32_t *to, int64_t by, VI v) { for (int l = 0; l < LANES; l++) to[l * by] = v[l]; }
static inline void spread_b(uint8_t *to, int64_t by, VI v) { for (int l = 0; l < LANES; l++) to[l * by] = -v[l]; }
static inline VF all_f(float x) { return (VF)SAME(x); }
static inline VI all_i(int32_t x) { return (VI)SAME(x); }
static inline VF pairs_f(const float *from)
{
    typedef double both __attribute__((vector_size(LANES * 4)));
    double two;
    memcpy(&two, from, sizeof two);
    both v;
    for (int l = 0; l < LANES / 2; l++) v[l] = two;
    return (VF)v;
}
static inline VF choose_f(VI c, VF a, VF b) { return (VF)((c & (VI)a) | (~c & (VI)b)); }
static inline VI choose_i(VI c, VI a, VI b) { return (c & a) | (~c & b); }
#define choose(c, a, b) _Generic((a), VF: choose_f, VI: choose_i)(c, a, b)
#if LANES == 16 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
static inline VI smaller_i(VI a, VI b) { return (VI)__builtin_ia32_pminsd512_mask(a, b, a, (unsigned short)-1); }
static inline VI greater_i(VI a, VI b) { return (VI)__builtin_ia32_pmaxsd512_mask(a, b, a, (unsigned short)-1); }
#else
static inline VI smaller_i(VI a, VI b) { return choose_i(a < b, a, b); }
static inline VI greater_i(VI a, VI b) { return choose_i(a > b, a, b); }
#endif
static inline VF smaller_f(VF a, VF b) { return choose_f(a < b, a, b); }
static inline VF greater_f(VF a, VF b) { return choose_f(a > b, a, b); }
#define smaller(a, b) _Generic((a), VF: smaller_f, VI: smaller_i)(a, b)
#define greater(a, b) _Generic((a), VF: greater_f, VI: greater_i)(a, b)
static inline VF rest_f(VF a, VF b) { VF v; for (int l = 0; l < LANES; l++) v[l] = fmodf(a[l], b[l]); return v; }
static inline VI to_ints(VF x)
{
    const VI high = x >= 2147483648.0f, low = x < -2147483648.0f, none = x != x;
    const VI whole = __builtin_convertvector(choose_f(high | low | none, all_f(0.0f), x), VI);
    return choose_i(high, all_i(INT32_MAX), choose_i(low, all_i(INT32_MIN), whole));
}
