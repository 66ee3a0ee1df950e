// The loops of the figures `loop.*` in oneTBB: parallel_for with an affinity_partitioner. ../loops/job.h states the
// arguments.
#include "../loops/job.h"

#include <cstdlib>
#include <cstring>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

namespace {
// A loop that replays its assignments at the next call.
template <typename Body> void each(long count, const Body &body) {
    static tbb::affinity_partitioner affinity;
    tbb::parallel_for(
        tbb::blocked_range<long>(0, count),
        [&](const tbb::blocked_range<long> &range) {
            for (long at = range.begin(); at != range.end(); ++at) {
                body(at);
            }
        },
        affinity);
}

void work_all(const job *job, long count) {
    each(count, [=](long at) { work_at(job, at); });
}
void heat_all(const job *job, long count) {
    each(count, [=](long at) { heat_at(job, at); });
}
void life_all(const job *job, long count) {
    each(count, [=](long at) { life_at(job, at); });
}
void meet_all(meeting *meeting, long count) {
    each(count, [=](long) { meet_at(meeting); });
}

const loops affine = {"affinity", work_all, heat_all, life_all, meet_all};
} // namespace

int main(int count, char **arguments) {
    const int threads = count > 1 ? std::atoi(arguments[count - 1]) : 0;
    if (threads <= 0 || std::strcmp(arguments[1], affine.schedule) != 0) {
        std::fprintf(stderr, "usage: tbb-loops affinity JOB... THREADS\n");
        return 2;
    }
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    return run_program(&affine, count - 2, arguments + 2);
}
