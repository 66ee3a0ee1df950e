// each.h in oneTBB: parallel_for with an affinity_partitioner, which replays its assignments at the next call.
#include "each.h"

#include <cstring>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

int each(const char *schedule, long threads, long count, void (*body)(void *context, long at), void *context) {
    if (std::strcmp(schedule, "affinity") != 0) {
        return 1;
    }
    static tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    static tbb::affinity_partitioner affinity;
    tbb::parallel_for(
        tbb::blocked_range<long>(0, count),
        [=](const tbb::blocked_range<long> &range) {
            for (long at = range.begin(); at != range.end(); ++at) {
                body(context, at);
            }
        },
        affinity);
    return 0;
}
