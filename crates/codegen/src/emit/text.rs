//! The C text that all programs have in common.

/// The beginning of each program.
pub(crate) const BEGIN: &str = r#"#include <setjmp.h>
#include <stdint.h>
#include <string.h>

/* Functions of the mathematics library that the interpreter uses. */
double acos(double), asin(double), atan(double), atan2(double, double), cos(double), cosh(double);
double exp(double), fabs(double), floor(double), ceil(double), log(double), log10(double), log1p(double), pow(double, double);
double rint(double), sin(double), sinh(double), sqrt(double), tan(double), tanh(double), copysign(double, double);
float sqrtf(float), floorf(float), ceilf(float), rintf(float), fabsf(float), fmodf(float, float);

struct queue;
struct env;

/* The header of a node's inbox: the firing before which the next message is to be handled, and how often the node has
   fired, which receivers of messages set. */
struct mail {
    int64_t due, fired;
};

/* The environment of the program: callbacks of the engine, and the description of a failure. */
struct env {
    void *host;
    int32_t (*print)(void *host, uint32_t node, uint32_t which, uint32_t format, const int32_t *args);
    void *out;
    uint32_t node, which, site;
    /* Whether regions wait until their input is enough for many firings at once. */
    uint32_t patient;
    int64_t firing, args[2];
    /* `wait` returns when `items` items are in the queue of a node that has fired `fired` times in this call;
       `more` makes room for further items, and returns a non-zero value on failure. It sets `full` where the firing is
       to be the last one of the call, since queues are near their budget. */
    void (*wait)(struct env *env, uint32_t node, int64_t items, int64_t fired);
    int32_t (*more)(struct env *env, struct queue *queue, int64_t items);
    /* Firings of dynamic rates in this call. */
    int64_t done;
    void *fiber;
    int64_t full;
    /* By node; null where there are no messages. */
    struct mail *mail;
    int64_t nodes;
    /* `send` sends a message, and returns a non-zero value on failure. `take` returns the arguments of a node's next
       message due before a firing, or null. */
    int32_t (*send)(struct env *env, uint32_t node, uint32_t which, uint32_t message, int64_t firing, int32_t latency,
                    const int32_t *args);
    const int32_t *(*take)(struct env *env, uint32_t node, int64_t firing, uint32_t *handler);
    /* Whether the program is to stop. */
    int32_t (*ask)(struct env *env);
};

/* A queue of items: those in `[read, written)`. */
struct queue {
    void *items;
    int64_t read, written, mask;
};

/* A buffer of a fused region: remaining items move to its front between calls. */
struct buffer {
    void *items;
};

static _Noreturn __attribute__((cold, noinline)) void fail(
    struct env *env, uint32_t node, uint32_t which, uint32_t site, int64_t firing, int64_t first, int64_t second)
{
    env->node = node, env->which = which, env->site = site, env->firing = firing;
    env->args[0] = first, env->args[1] = second;
    longjmp(*(jmp_buf *)env->out, 1);
}

/* Fails if the program is to stop. */
static __attribute__((cold, noinline)) void ask(struct env *env, uint32_t node)
{
    if (env->ask(env))
        fail(env, node, 0, UINT32_MAX - 1, 0, 0, 0);
}

/* A value protected from contraction with other operations. */
static inline float apart(float x)
{
#if defined __GNUC__ && defined __x86_64__
    __asm__("" : "+x"(x));
#elif defined __GNUC__ && defined __aarch64__
    __asm__("" : "+w"(x));
#endif
    return x;
}

/* In one expression, GCC 12 compiles `0.0f - (float)i` to `-(float)i`, which is -0.0 for 0. */
static inline float from_zero(float x) { return 0.0f - x; }

static inline int32_t bits_of(float x) { int32_t i; memcpy(&i, &x, 4); return i; }
static inline float float_of(int32_t i) { float x; memcpy(&x, &i, 4); return x; }
static inline int32_t quotient(int32_t a, int32_t b) { return b == -1 ? -a : a / b; }
static inline int32_t rest(int32_t a, int32_t b) { return b == -1 ? 0 : a % b; }
static inline int32_t to_int(float x)
{
    return x != x ? 0 : x >= 2147483648.0f ? INT32_MAX : x < -2147483648.0f ? INT32_MIN : (int32_t)x;
}
static inline double asinh_of(double x)
{
    double a = x < 0 ? -x : x;
    return copysign(log1p(a + a * a / (1.0 + sqrt(a * a + 1.0))), x);
}

/* Parts of functions of a complex number, as the interpreter calculates them. */
static inline float cos_real(double a, double b) { return (float)(cos(a) * cosh(b)); }
static inline float cos_imaginary(double a, double b) { return (float)-(sin(a) * sinh(b)); }
static inline float exp_real(double a, double b) { return (float)(exp(a) * cos(b)); }
static inline float exp_imaginary(double a, double b) { return (float)(exp(a) * sin(b)); }
static inline float log_real(double a, double b) { return (float)log(sqrt(a * a + b * b)); }
static inline float log_imaginary(double a, double b) { return (float)atan2(b, a); }
static inline float sin_real(double a, double b) { return (float)(sin(a) * cosh(b)); }
static inline float sin_imaginary(double a, double b) { return (float)(cos(a) * sinh(b)); }
static inline double root(double a, double b) { return sqrt((fabs(a) + sqrt(a * a + b * b)) * 0.5); }
static inline float sqrt_real(double a, double b)
{
    double t = root(a, b);
    return t == 0.0 ? 0.0f : a >= 0.0 ? (float)t : (float)(fabs(b) / (2.0 * t));
}
static inline float sqrt_imaginary(double a, double b)
{
    double t = root(a, b);
    return t == 0.0 ? 0.0f : a >= 0.0 ? (float)(b / (2.0 * t)) : (float)copysign(t, b);
}

static inline float next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    return (float)(mixed >> 40) / (float)(1 << 24);
}
"#;
