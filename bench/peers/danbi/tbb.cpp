// danbi.h in oneTBB.
#include "danbi.h"

#include <algorithm>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

namespace {
// The keys of the left among the first `count` of both.
long lefts(const unsigned *left, long lefts, const unsigned *right, long rights, long count) {
    long low = std::max(0L, count - rights), high = std::min(count, lefts);
    while (low < high) {
        const long middle = (low + high) / 2;
        if (left[middle] <= right[count - middle - 1]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Merges a piece, without branches that depend on keys.
void merge_piece(const unsigned *left, const unsigned *left_end, const unsigned *right, const unsigned *right_end,
                 unsigned *all) {
    while (left != left_end && right != right_end) {
        const bool first = *left <= *right;
        *all++ = first ? *left : *right;
        left += first;
        right += !first;
    }
    std::copy(right, right_end, std::copy(left, left_end, all));
}

struct Sorter {
    long piece;

    void merge(const unsigned *left, long l, const unsigned *right, long r, unsigned *all) const {
        if (l + r <= piece) {
            return merge_piece(left, left + l, right, right + r, all);
        }
        const long middle = (l + r) / 2, from = lefts(left, l, right, r, middle), rest = middle - from;
        tbb::parallel_invoke([=] { merge(left, from, right, rest, all); },
                             [=] { merge(left + from, l - from, right + rest, r - rest, all + middle); });
    }

    // Sorts keys in place, or into the room if they move there.
    void sort(unsigned *keys, unsigned *room, long count, bool moves) const {
        if (count <= piece) {
            std::sort(keys, keys + count);
            if (moves) {
                std::copy(keys, keys + count, room);
            }
            return;
        }
        const long middle = count / 2;
        tbb::parallel_invoke([=] { sort(keys, room, middle, !moves); },
                             [=] { sort(keys + middle, room + middle, count - middle, !moves); });
        unsigned *from = moves ? keys : room, *to = moves ? room : keys;
        merge(from, middle, from + middle, count - middle, to);
    }
};
} // namespace

void danbi_pipeline(long threads, long count, void (*stage)(void *context, long at), void (*last)(void *context, long at),
                    void *context) {
    long next = 0;
    const auto source = tbb::make_filter<void, long>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control &control) {
        if (next == count) {
            control.stop();
            return 0L;
        }
        return next++;
    });
    const auto parallel = tbb::make_filter<long, long>(tbb::filter_mode::parallel, [=](long at) {
        stage(context, at);
        return at;
    });
    const auto sink =
        tbb::make_filter<long, void>(tbb::filter_mode::serial_in_order, [=](long at) { last(context, at); });
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute([&] { tbb::parallel_pipeline(2 * threads, source & parallel & sink); });
}

void danbi_merge_sort(long threads, long piece, unsigned *keys, unsigned *room, long count) {
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute([&] { Sorter{piece}.sort(keys, room, count, false); });
}
