// Split independent items over threads; the result of an item never depends on their number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace denots {

// work(k) for k = 0 .. workers - 1, each in its own thread, the first in this one. Where the
// system gives no more threads, fewer run: for work that is taken from a common queue.
template <class Work>
void run_workers(std::int64_t workers, Work work) {
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(std::max<std::int64_t>(1, workers)));
  try {
    for (std::int64_t k = 1; k < workers; ++k) others.emplace_back(work, k);
  } catch (const std::system_error&) {
    // The threads that did start, and this one, take the rest from the queue.
  }
  work(std::int64_t{0});
  for (auto& thread : others) thread.join();
}

template <class Work>  // Work(first, last)
void parallel_blocks(std::int64_t items, int threads, Work work) {
  const std::int64_t count = std::max<std::int64_t>(1, std::min<std::int64_t>(threads, items));
  std::atomic<std::int64_t> next{0};
  run_workers(count, [&](std::int64_t) {
    for (std::int64_t k = next++; k < count; k = next++) work(items * k / count, items * (k + 1) / count);
  });
}

}  // namespace denots
