// Split independent items over threads. Items are handed out in blocks of consecutive
// indices, so the result of each item never depends on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace denots {

template <class Work>  // Work(first, last)
void parallel_blocks(std::int64_t items, int threads, Work work) {
  const std::int64_t count = std::max<std::int64_t>(1, std::min<std::int64_t>(threads, items));
  std::vector<std::thread> others;
  for (std::int64_t k = 1; k < count; ++k)
    others.emplace_back(work, items * k / count, items * (k + 1) / count);
  work(std::int64_t{0}, items / count);
  for (auto& thread : others) thread.join();
}

}  // namespace denots
