/* The loops of the figures `loop.*` in OpenMP: static and guided schedules. job.h states the arguments. The benchmark
 * sets OMP_WAIT_POLICY. */
#include "../loops/job.h"

#include <omp.h>

#define PRAGMA(TEXT) _Pragma(#TEXT)

#define LOOP(NAME, DATA, CALL, SCHEDULE)                                                                               \
    static void NAME(DATA, long count) {                                                                               \
        PRAGMA(omp parallel for schedule(SCHEDULE))                                                                    \
        for (long at = 0; at < count; at++) {                                                                          \
            CALL;                                                                                                      \
        }                                                                                                              \
    }

#define LOOPS(SCHEDULE)                                                                                                \
    LOOP(SCHEDULE##_work, const struct job *job, work_at(job, at), SCHEDULE)                                           \
    LOOP(SCHEDULE##_heat, const struct job *job, heat_at(job, at), SCHEDULE)                                           \
    LOOP(SCHEDULE##_life, const struct job *job, life_at(job, at), SCHEDULE)                                           \
    LOOP(SCHEDULE##_meet, struct meeting *meeting, meet_at(meeting), SCHEDULE)

LOOPS(static)
LOOPS(guided)

static const struct loops schedules[] = {
    {"static", static_work, static_heat, static_life, static_meet},
    {"guided", guided_work, guided_heat, guided_life, guided_meet},
};

int main(int count, char **arguments) {
    const int threads = count > 1 ? atoi(arguments[count - 1]) : 0;
    for (int i = 0; i < 2 && threads > 0; i++) {
        if (strcmp(arguments[1], schedules[i].schedule) == 0) {
            omp_set_num_threads(threads);
            return run_program(&schedules[i], count - 2, arguments + 2);
        }
    }
    fprintf(stderr, "usage: openmp static|guided JOB... THREADS\n");
    return 2;
}
