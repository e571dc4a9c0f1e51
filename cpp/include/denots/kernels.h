// What each CPU target provides. Everything else in cpp/kernels/ is private to its target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "denots/solve.h"

namespace denots {

// Series in the order in which workers take them; shared by all workers.
struct Queue {
  const std::int64_t* order;
  std::int64_t count;
  std::int64_t next;   // taken with an atomic addition
  bool out_of_memory;  // set by any worker; all stop
};

// Sizes are in bytes; memory passed in is aligned to 64 bytes. A block is a list of series
// whose weight gradients are summed in one buffer, in an order that only the list determines.
template <class Real>
struct Kernels {
  std::int64_t lanes;
  Rows (*rows)(std::int64_t states, std::int64_t channels);
  std::size_t (*packed_size)(const Problem<Real>& problem);
  void (*pack)(const Problem<Real>& problem, void* packed);
  std::int64_t (*kept_size)(
      const Problem<Real>& problem);  // numbers of the stages of a step; 0: not worth it
  std::size_t (*forward_size)(const Problem<Real>& problem);
  void (*forward)(const Problem<Real>& problem, const void* packed, const Trajectory<Real>& found,
                  Queue* queue, const TapeWriter* tape, void* memory);
  std::size_t (*reverse_size)(const Problem<Real>& problem);
  std::size_t (*block_size)(const Problem<Real>& problem);
  void (*reverse)(const Problem<Real>& problem, const void* packed, TapeChunk* const* tape,
                  const std::int64_t* block, std::int64_t count, const Gradient<Real>& gradient, void* sums,
                  void* memory);
  // Adds the sums of one block to the weight gradients.
  void (*add_block)(const Problem<Real>& problem, const void* sums, const Gradient<Real>& gradient);
  // Adds what follows from the gradient of the drive [drive], summed over series.
  void (*add_drive)(const Problem<Real>& problem, const Real* drive, const Gradient<Real>& gradient);
};

template <class Real>
struct FieldEntry {
  const char* name;
  Kernels<Real> kernels;
};

// All fields that have kernels; the same for every target.
template <class Real>
struct FieldTable {
  const FieldEntry<Real>* entries;
  std::size_t count;
};

namespace baseline {
FieldTable<float> fields(float);
FieldTable<double> fields(double);
}  // namespace baseline
namespace avx2 {
FieldTable<float> fields(float);
FieldTable<double> fields(double);
}  // namespace avx2
namespace avx512 {
FieldTable<float> fields(float);
FieldTable<double> fields(double);
}  // namespace avx512

}  // namespace denots
