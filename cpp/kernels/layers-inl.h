// Fills the tables of layers for the target this file is compiled for.
#pragma once

#include "attention-inl.h"
#include "denots/layers.h"
#include "feed_forward-inl.h"
#include "gru_rows-inl.h"
#include "state_space-inl.h"

namespace denots::DENOTS_TARGET {

template <class Kernel>
struct LayerEntry {
  using Layer = typename Kernel::Layer;
  using Real = typename Layer::Number;
  using Gradient = typename Layer::Gradient;
  using Sums = typename Kernel::Sums;

  static Kernel packed_kernel(const Layer& layer, const void* packed) {
    Arena arena(const_cast<void*>(packed));
    return Kernel(layer, arena);
  }

  static std::int64_t pieces(const Layer& layer) { return packed_kernel(layer, nullptr).pieces(); }

  static std::size_t packed_size(const Layer& layer) {
    Arena arena(nullptr);
    Kernel(layer, arena);
    return arena.used();
  }

  static void pack(const Layer& layer, void* packed) { packed_kernel(layer, packed).pack(); }

  static std::size_t memory_size(const Layer& layer, bool back) {
    Arena arena(nullptr);
    typename Kernel::Memory(packed_kernel(layer, nullptr), back, arena);
    return arena.used();
  }

  static void forward(const Layer& layer, const void* packed, std::int64_t piece, void* memory, Real* found) {
    const Kernel kernel = packed_kernel(layer, packed);
    Arena arena(memory);
    kernel.forward(piece, typename Kernel::Memory(kernel, false, arena), found);
  }

  static Sums sums_of(const Kernel& kernel, void* sums) {
    Arena arena(sums);
    return Sums(kernel, arena);
  }

  static std::size_t sums_size(const Layer& layer) {
    Arena arena(nullptr);
    Sums(packed_kernel(layer, nullptr), arena);
    return arena.used();
  }

  static void clear(const Layer& layer, void* sums) {
    const Kernel kernel = packed_kernel(layer, nullptr);
    sums_of(kernel, sums).clear(kernel);
  }

  static void reverse(const Layer& layer, const void* packed, std::int64_t piece, void* memory,
                      const Gradient& gradient, void* sums) {
    const Kernel kernel = packed_kernel(layer, packed);
    Arena arena(memory);
    kernel.reverse(piece, typename Kernel::Memory(kernel, true, arena), gradient, sums_of(kernel, sums));
  }

  static void add(const Layer& layer, void* sums, const Gradient& gradient) {
    const Kernel kernel = packed_kernel(layer, nullptr);
    kernel.add(sums_of(kernel, sums), gradient);
  }

  static LayerKernels<Layer> table() {
    return {&pieces, &packed_size, &pack, &memory_size, &forward, &sums_size, &clear, &reverse, &add};
  }
};

LayerKernels<Attention<float>> kernels(const Attention<float>&) {
  return LayerEntry<Attending<float>>::table();
}
LayerKernels<Attention<double>> kernels(const Attention<double>&) {
  return LayerEntry<Attending<double>>::table();
}
LayerKernels<FeedForward<float>> kernels(const FeedForward<float>&) {
  return LayerEntry<HiddenUnits<float>>::table();
}
LayerKernels<FeedForward<double>> kernels(const FeedForward<double>&) {
  return LayerEntry<HiddenUnits<double>>::table();
}
LayerKernels<StateSpace<float>> kernels(const StateSpace<float>&) {
  return LayerEntry<Selective<float>>::table();
}
LayerKernels<StateSpace<double>> kernels(const StateSpace<double>&) {
  return LayerEntry<Selective<double>>::table();
}
LayerKernels<GruRows<float>> kernels(const GruRows<float>&) { return LayerEntry<GruAlong<float>>::table(); }
LayerKernels<GruRows<double>> kernels(const GruRows<double>&) {
  return LayerEntry<GruAlong<double>>::table();
}

}  // namespace denots::DENOTS_TARGET
