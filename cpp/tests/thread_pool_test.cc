// Threads that are kept: all items are done once, exceptions arrive, callers share, children have their own.
#include "denots/thread_pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace denots::check {
namespace {

std::int64_t sum_to(std::int64_t items, int threads) {
  std::atomic<std::int64_t> sum{0};
  parallel_blocks(items, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) sum += i;
  });
  return sum;
}

void test_every_item_is_done_once() {
  for (const int threads : {1, 2, 7})
    for (const std::int64_t items : {0, 1, 5, 1000})
      expect(sum_to(items, threads) == items * (items - 1) / 2, "all items are done once");
}

// Work that waits until all workers are there runs in as many threads.
std::set<std::thread::id> threads_of(std::int64_t workers) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<std::int64_t> arrived{0};
  run_workers(workers, [&](std::int64_t) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    ++arrived;
    while (arrived < workers) std::this_thread::yield();
  });
  return seen;
}

void test_threads_are_kept() {
  const std::set<std::thread::id> first = threads_of(4);
  expect(first.size() == 4, "four workers run in four threads, not %zu", first.size());
  for (int repeat = 0; repeat < 20; ++repeat)
    expect(threads_of(4) == first, "later calls run in the same threads");
}

void test_exceptions_arrive() {
  for (const bool in_caller : {true, false}) {
    std::atomic<std::int64_t> arrived{0}, ended{0};
    std::string message;
    try {
      run_workers(3, [&](std::int64_t worker) {
        ++arrived;
        while (arrived < 3) std::this_thread::yield();
        if ((worker == 0) == in_caller) throw std::runtime_error("from a worker");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++ended;
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    expect(message == "from a worker", "an exception reaches the caller");
    expect(ended == (in_caller ? 2 : 1), "and not before the others have ended");
  }
  expect(sum_to(1000, 4) == 499500, "threads survive an exception");
}

void test_many_callers() {
  std::atomic<std::int64_t> right{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&right] {
      for (int repeat = 0; repeat < 200; ++repeat) right += sum_to(100, 3) == 4950;
    });
  for (std::thread& caller : callers) caller.join();
  expect(right == 1200, "callers at once get their own results");
}

void test_work_may_call_again() {
  std::atomic<std::int64_t> sum{0};
  run_workers(3, [&](std::int64_t) { sum += sum_to(10, 3); });
  expect(sum > 0 && sum % 45 == 0, "work that splits its own work ends");
}

#ifndef __SANITIZE_THREAD__  // which does not follow threads of a child
void test_children_have_their_own() {
  std::atomic<bool> stop{false};
  std::thread busy([&stop] {
    while (!stop) sum_to(100, 3);
  });
  for (int repeat = 0; repeat < 20; ++repeat) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(threads_of(3).size() == 3 && sum_to(1000, 3) == 499500 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child of a fork works, status %d", status);
  }
  stop = true;
  busy.join();
}
#endif

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  test_threads_are_kept();  // first: more threads than workers would take turns
  test_every_item_is_done_once();
  test_exceptions_arrive();
  test_many_callers();
  test_work_may_call_again();
#ifndef __SANITIZE_THREAD__
  test_children_have_their_own();
#endif
  return verdict("thread_pool_test");
}
