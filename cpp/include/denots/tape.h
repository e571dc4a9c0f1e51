// The accepted steps of every series: where each began, how long it was, and the state there; and,
// while they fit a budget, the stages of each step, which else are computed again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "denots/cpu.h"

namespace denots {

// A few consecutive steps of one series; rows of stages and of states follow the struct in memory.
// Kernels of several targets use it, so nothing of it may become a function of its own.
struct alignas(64) TapeChunk {
  static constexpr int capacity = 16;
  TapeChunk* previous;
  std::int64_t used;
  std::int64_t kept;  // numbers of the stages of one step; 0 where there was no room for them
  double t[capacity], dt[capacity];
  std::int64_t knot[capacity];  // the last one not after t

  template <class Real>
  __attribute__((always_inline)) Real* state(std::int64_t step, std::int64_t states) {
    return reinterpret_cast<Real*>(this + 1) + capacity * kept + step * states;
  }

  template <class Real>
  __attribute__((always_inline)) Real* stages(std::int64_t step) {
    return reinterpret_cast<Real*>(this + 1) + step * kept;
  }
};

// What kernels see of a tape. `extend` may run in many threads; it returns null when memory is
// exhausted, because kernels do not throw.
struct TapeWriter {
  void* owner;
  TapeChunk* (*extend)(void* owner, TapeChunk* previous);
  TapeChunk** last;  // [series]
  bool keeps;        // whether chunks may have room for stages
};

class Tape {
 public:
  // Stages may take `budget` bytes.
  Tape(std::int64_t series, std::size_t state_bytes, std::size_t budget);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // For steps that `target` takes and whose stages are `kept` numbers of `number_bytes` each.
  TapeWriter writer(Target target, std::int64_t kept, std::size_t number_bytes);
  TapeChunk* const* last() const;
  Target target() const;
  std::int64_t series() const;
  std::int64_t steps(std::int64_t series) const;
  // Copies when each step of a series began, and its state then, in the order of time.
  template <class Real>
  void read(std::int64_t series, std::int64_t states, double* times, Real* rows) const;
  std::size_t bytes() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace denots
