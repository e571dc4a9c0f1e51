// Layers that read rows of series, forward and back, piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>

#include "denots/attention.h"
#include "denots/cpu.h"
#include "denots/feed_forward.h"
#include "denots/gru_rows.h"
#include "denots/state_space.h"

namespace denots {

// What a CPU target provides for a layer. Sizes are in bytes; memory passed in is aligned to 64 bytes. Pieces
// do not depend on each other, but for the gradients of weights, which are summed over those of a group.
template <class Layer>
struct LayerKernels {
  using Real = typename Layer::Number;
  using Gradient = typename Layer::Gradient;

  std::int64_t (*pieces)(const Layer& layer);
  std::size_t (*packed_size)(const Layer& layer);
  void (*pack)(const Layer& layer, void* packed);
  std::size_t (*memory_size)(const Layer& layer, bool back);
  void (*forward)(const Layer& layer, const void* packed, std::int64_t piece, void* memory, Real* found);
  std::size_t (*sums_size)(const Layer& layer);
  void (*clear)(const Layer& layer, void* sums);
  void (*reverse)(const Layer& layer, const void* packed, std::int64_t piece, void* memory,
                  const Gradient& gradient, void* sums);
  // Adds the sums of one group to the gradients of weights.
  void (*add)(const Layer& layer, void* sums, const Gradient& gradient);
};

// Both throw std::invalid_argument for a target that cannot run here, and std::bad_alloc. What is found does
// not depend on the number of threads; gradients of weights have to be zero before they are added to.
template <class Layer>
void run_layer(const Layer& layer, typename Layer::Number* found, int threads, Target target);

template <class Layer>
void pull_layer(const Layer& layer, const typename Layer::Gradient& gradient, int threads, Target target);

}  // namespace denots
