// Split independent items over threads; the result of an item never depends on their number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

namespace denots {

// work(k) for different k in 0 .. workers - 1, the first in this thread, the others in threads that are kept
// from call to call. Fewer may run, where all are busy or the system gives no more: for work that is taken
// from a common queue. The first exception of any of them is thrown here, once all have ended.
// Many threads may call at once, a child of a fork makes threads of its own, and none delays the end of a
// process.
void run_workers(std::int64_t workers, const std::function<void(std::int64_t)>& work);

template <class Work>  // Work(first, last)
void parallel_blocks(std::int64_t items, int threads, Work work) {
  const std::int64_t count = std::max<std::int64_t>(1, std::min<std::int64_t>(threads, items));
  std::atomic<std::int64_t> next{0};
  run_workers(count, [&](std::int64_t) {
    for (std::int64_t k = next++; k < count; k = next++) work(items * k / count, items * (k + 1) / count);
  });
}

}  // namespace denots
