#include "denots/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace denots {
namespace {

// One call of run_workers. All but `failed` and `failure` belong to the lock of the pool.
struct Job {
  const std::function<void(std::int64_t)>& work;
  const std::int64_t workers;
  std::int64_t next = 1, running = 0;
  std::condition_variable done;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
  std::exception_ptr failure;

  Job(std::int64_t workers, const std::function<void(std::int64_t)>& work) : work(work), workers(workers) {}

  void attempt(std::int64_t worker) noexcept {
    try {
      work(worker);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  }
};

// Signals are for the threads of the caller, who can handle them; those of a fault belong to their thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

class ThreadPool {
 public:
  void run(Job& job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      grow(job.workers - 1);
      jobs_.push_back(&job);
    }
    work_.notify_all();
    job.attempt(0);
    std::unique_lock<std::mutex> lock(mutex_);
    // Whoever has not come yet would find the queue empty.
    const auto unclaimed = std::find(jobs_.begin(), jobs_.end(), &job);
    if (unclaimed != jobs_.end()) jobs_.erase(unclaimed);
    job.done.wait(lock, [&job] { return job.running == 0; });
  }

 private:
  void grow(std::int64_t wanted) {
    const SignalsBlocked blocked;
    try {
      for (; threads_ < wanted; ++threads_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      // The threads that there are, and the caller, take the rest from the queue.
    }
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return !jobs_.empty(); });
      Job& job = *jobs_.front();
      const std::int64_t worker = job.next++;
      if (job.next == job.workers) jobs_.pop_front();
      ++job.running;
      lock.unlock();
      job.attempt(worker);
      lock.lock();
      if (--job.running == 0) job.done.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Job*> jobs_;
  std::int64_t threads_ = 0;
};

// Never destroyed, because its threads wait in it until the process ends. They do not live on in the child of
// a fork, and its lock may be held there for ever, so a child begins with none.
std::atomic<ThreadPool*> shared{nullptr};
[[maybe_unused]] const int forgotten_by_children =
    pthread_atfork(nullptr, nullptr, [] { shared.store(nullptr, std::memory_order_relaxed); });

ThreadPool& pool() {
  ThreadPool* there = shared.load(std::memory_order_acquire);
  if (there != nullptr) return *there;
  auto fresh = std::make_unique<ThreadPool>();
  if (shared.compare_exchange_strong(there, fresh.get(), std::memory_order_acq_rel)) there = fresh.release();
  return *there;
}

}  // namespace

void run_workers(std::int64_t workers, const std::function<void(std::int64_t)>& work) {
  if (workers <= 1) return work(0);
  Job job(workers, work);
  pool().run(job);
  if (job.failure != nullptr) std::rethrow_exception(job.failure);
}

}  // namespace denots
