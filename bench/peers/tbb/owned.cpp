// Items that own memory: lines through parallel_pipeline, in batches.
#include "work.hpp"

#include <algorithm>
#include <cctype>
#include <oneapi/tbb/parallel_pipeline.h>
#include <string>
#include <unordered_map>

namespace {
using Lines = std::vector<std::string>;

constexpr u64 batch = 64;

const char *const words_of_lines[] = {"river", "to", "bed", "of", "a", "channel", "in", "stones"};

// The line of bench/src/owned/text.rs.
std::string line(u64 index) {
    std::string text;
    text.reserve(120);
    for (u64 place = 0; place < 8; ++place) {
        text += words_of_lines[(index * 5 + place * 11) % 8];
        text += ' ';
        text += std::to_string(index * (place + 1) % 1000);
        text += ' ';
    }
    return text;
}

// What the sequential end computes: see bench/src/owned/mod.rs.
struct Sum {
    u64 next = 0, digest = 0;
    std::unordered_map<std::string, u64> counts;

    void value(u64 value) { digest += mix(next++) * value; }

    u64 checksum() const {
        u64 all = digest;
        for (const auto &[word, n] : counts) {
            u64 hash = 0;
            for (unsigned char byte : word) {
                hash = fold(hash, byte);
            }
            all += hash * n;
        }
        return all;
    }
};

std::string upper(const std::string &text) {
    std::string result(text.size(), ' ');
    std::transform(text.begin(), text.end(), result.begin(), [](unsigned char c) { return std::toupper(c); });
    return result;
}

std::string underscored(const std::string &text) {
    std::string result = text;
    std::replace(result.begin(), result.end(), ' ', '_');
    return result;
}

Lines split(const std::string &text) {
    Lines words;
    for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string::npos;) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        words.emplace_back(text, at, end - at);
        at = end;
    }
    return words;
}

// The source, as the first filter of a pipeline.
auto source(u64 items, u64 &next) {
    return tbb::make_filter<void, Lines>(tbb::filter_mode::serial_in_order, [items, &next](tbb::flow_control &control) {
        Lines lines;
        if (next == items) {
            control.stop();
            return lines;
        }
        lines.reserve(batch);
        for (const u64 end = std::min(next + batch, items); next < end; ++next) {
            lines.push_back(line(next));
        }
        return lines;
    });
}

// A filter that applies f to each item of a batch.
template <typename T, typename F> auto each(tbb::filter_mode mode, F f) {
    using U = decltype(f(std::declval<const T &>()));
    return tbb::make_filter<std::vector<T>, std::vector<U>>(mode, [f](const std::vector<T> &items) {
        std::vector<U> results;
        results.reserve(items.size());
        for (const T &item : items) {
            results.push_back(f(item));
        }
        return results;
    });
}

// The last filter, which adds all results in their order.
template <typename T, typename F> auto end(F add) {
    return tbb::make_filter<std::vector<T>, void>(tbb::filter_mode::serial_in_order,
                                                  [add](const std::vector<T> &items) {
                                                      std::for_each(items.begin(), items.end(), add);
                                                  });
}
} // namespace

Row owned(const std::string &mode, u64 items) {
    constexpr auto serial = tbb::filter_mode::serial_in_order, parallel = tbb::filter_mode::parallel;
    u64 next = 0;
    Sum sum;
    const auto add_line = [&sum](const std::string &text) { sum.value(text.size()); };
    const auto add_value = [&sum](u64 value) { sum.value(value); };
    const auto add_words = [&sum](const Lines &words) {
        u64 length = 0;
        for (const std::string &word : words) {
            length += word.size();
            ++sum.counts[word];
        }
        sum.value(length);
    };
    const auto length = [](const std::string &text) -> u64 { return text.size(); };
    const auto both = [](const std::string &text) { return underscored(upper(text)); };
    return timed([&] {
        if (mode == "owned-stages") {
            tbb::parallel_pipeline(in_flight / batch,
                                   source(items, next) & each<std::string>(serial, upper) &
                                       each<std::string>(serial, underscored) & each<std::string>(serial, length) &
                                       end<u64>(add_value));
        } else if (mode == "owned-map") {
            tbb::parallel_pipeline(in_flight / batch,
                                   source(items, next) & each<std::string>(parallel, both) & end<std::string>(add_line));
        } else {
            tbb::parallel_pipeline(in_flight / batch,
                                   source(items, next) & each<std::string>(parallel, split) & end<Lines>(add_words));
        }
        return sum.checksum();
    });
}
