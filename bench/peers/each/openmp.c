/* each.h in OpenMP: the schedules `static` and `guided`. The benchmark sets OMP_WAIT_POLICY. */
#include "each.h"

#include <string.h>

int each(const char *schedule, long threads, long count, void (*body)(void *context, long at), void *context) {
    if (strcmp(schedule, "static") == 0) {
#pragma omp parallel for num_threads((int)threads) schedule(static)
        for (long at = 0; at < count; at++) {
            body(context, at);
        }
        return 0;
    }
    if (strcmp(schedule, "guided") == 0) {
#pragma omp parallel for num_threads((int)threads) schedule(guided)
        for (long at = 0; at < count; at++) {
            body(context, at);
        }
        return 0;
    }
    return 1;
}
