#include "denots/tape.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace denots {
namespace {

constexpr std::size_t slab_bytes = std::size_t{1} << 20;
constexpr std::size_t kept_slabs = 192;
constexpr std::size_t line = 64;

void* allocate_lines(std::size_t bytes) { return std::aligned_alloc(line, bytes); }

// Fresh pages cost more than what is written to them, so slabs go from one solve to the next.
// The lock is only ever tried: a forked child may inherit it locked, and must not hang.
class SlabPool {
 public:
  void* take() {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (lock && !free_.empty()) {
      void* slab = free_.back();
      free_.pop_back();
      return slab;
    }
    return allocate_lines(slab_bytes);
  }

  void give(void* slab) {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (lock && free_.size() < kept_slabs)
      free_.push_back(slab);
    else
      std::free(slab);
  }

 private:
  std::mutex mutex_;
  std::vector<void*> free_;
};

SlabPool& pool() {
  static SlabPool* const shared = new SlabPool;  // never destroyed: tapes may outlive static objects
  return *shared;
}

}  // namespace

struct Tape::Impl {
  std::mutex mutex;
  std::vector<void*> slabs, large;
  std::size_t state_bytes = 0, stage_bytes = 0, budget = 0, large_bytes = 0, left = 0;
  std::int64_t kept = 0;
  Target target = Target::baseline;
  char* next = nullptr;
  std::vector<TapeChunk*> last;

  TapeChunk* extend(TapeChunk* previous) {
    const std::lock_guard<std::mutex> lock(mutex);
    const std::size_t wanted = TapeChunk::capacity * stage_bytes;
    const bool keeps = wanted > 0 && wanted <= budget;
    if (keeps) budget -= wanted;
    const std::size_t rows = TapeChunk::capacity * state_bytes + (keeps ? wanted : 0);
    void* memory = take((sizeof(TapeChunk) + rows + line - 1) / line * line);
    if (memory == nullptr) return nullptr;
    return new (memory) TapeChunk{previous, 0, keeps ? kept : 0, {}, {}, {}};
  }

  void* take(std::size_t bytes) {
    if (bytes > slab_bytes) {
      large.push_back(nullptr);  // first, because it may throw
      large.back() = allocate_lines(bytes);
      if (large.back() == nullptr) {
        large.pop_back();
        return nullptr;
      }
      large_bytes += bytes;
      return large.back();
    }
    if (left < bytes) {
      slabs.push_back(nullptr);
      void* slab = slabs.back() = pool().take();
      if (slab == nullptr) {
        slabs.pop_back();
        return nullptr;
      }
      next = static_cast<char*>(slab);
      left = slab_bytes;
    }
    void* memory = next;
    next += bytes;
    left -= bytes;
    return memory;
  }
};

Tape::Tape(std::int64_t series, std::size_t state_bytes, std::size_t budget) : impl_(new Impl) {
  impl_->state_bytes = state_bytes;
  impl_->budget = budget;
  impl_->last.assign(static_cast<std::size_t>(series), nullptr);
}

Tape::~Tape() {
  for (void* slab : impl_->slabs) pool().give(slab);
  for (void* memory : impl_->large) std::free(memory);
  delete impl_;
}

TapeWriter Tape::writer(Target target, std::int64_t kept, std::size_t number_bytes) {
  impl_->target = target;
  impl_->kept = kept;
  impl_->stage_bytes = static_cast<std::size_t>(kept) * number_bytes;
  const auto extend = [](void* owner, TapeChunk* previous) -> TapeChunk* {
    try {
      return static_cast<Impl*>(owner)->extend(previous);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  };
  const bool keeps = kept > 0 && TapeChunk::capacity * impl_->stage_bytes <= impl_->budget;
  return {impl_, extend, impl_->last.data(), keeps};
}

Target Tape::target() const { return impl_->target; }

TapeChunk* const* Tape::last() const { return impl_->last.data(); }

std::int64_t Tape::series() const { return static_cast<std::int64_t>(impl_->last.size()); }

std::int64_t Tape::steps(std::int64_t series) const {
  std::int64_t count = 0;
  for (const TapeChunk* chunk = last()[series]; chunk != nullptr; chunk = chunk->previous)
    count += chunk->used;
  return count;
}

template <class Real>
void Tape::read(std::int64_t series, std::int64_t states, double* times, Real* rows) const {
  std::int64_t first = steps(series);
  for (TapeChunk* chunk = last()[series]; chunk != nullptr; chunk = chunk->previous) {
    first -= chunk->used;
    std::copy_n(chunk->t, chunk->used, times + first);
    std::copy_n(chunk->state<Real>(0, states), chunk->used * states, rows + first * states);
  }
}

template void Tape::read(std::int64_t, std::int64_t, double*, float*) const;
template void Tape::read(std::int64_t, std::int64_t, double*, double*) const;

std::size_t Tape::bytes() const { return impl_->slabs.size() * slab_bytes + impl_->large_bytes; }

}  // namespace denots
