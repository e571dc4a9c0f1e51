// The accepted steps of every series: where each began, how long it was, and the state there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace denots {

// A few consecutive steps of one series; the state rows follow the struct in memory. Kernels of
// several targets use it, so nothing of it may become a function of its own.
struct TapeChunk {
  static constexpr int capacity = 16;
  TapeChunk* previous;
  std::int64_t used;
  double t[capacity], dt[capacity];
  std::int64_t knot[capacity];  // the last one not after t

  template <class Real>
  __attribute__((always_inline)) Real* state(std::int64_t step, std::int64_t states) {
    return reinterpret_cast<Real*>(this + 1) + step * states;
  }
};

// What kernels see of a tape. `extend` may run in many threads; it returns null when memory is
// exhausted, because kernels do not throw.
struct TapeWriter {
  void* owner;
  TapeChunk* (*extend)(void* owner, TapeChunk* previous);
  TapeChunk** last;  // [series]
};

class Tape {
 public:
  Tape(std::int64_t series, std::size_t state_bytes);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  TapeWriter writer();
  TapeChunk* const* last() const;
  std::int64_t series() const;
  std::size_t bytes() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace denots
