// Hands the pieces of layers out to threads.
#include "denots/layers.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

#include "denots/thread_pool.h"

namespace denots {

#define DENOTS_DECLARE(target)                                           \
  namespace target {                                                     \
  LayerKernels<Attention<float>> kernels(const Attention<float>&);       \
  LayerKernels<Attention<double>> kernels(const Attention<double>&);     \
  LayerKernels<FeedForward<float>> kernels(const FeedForward<float>&);   \
  LayerKernels<FeedForward<double>> kernels(const FeedForward<double>&); \
  LayerKernels<StateSpace<float>> kernels(const StateSpace<float>&);     \
  LayerKernels<StateSpace<double>> kernels(const StateSpace<double>&);   \
  LayerKernels<GruRows<float>> kernels(const GruRows<float>&);           \
  LayerKernels<GruRows<double>> kernels(const GruRows<double>&);         \
  }
DENOTS_DECLARE(baseline)
DENOTS_DECLARE(avx2)
DENOTS_DECLARE(avx512)
#undef DENOTS_DECLARE

namespace {

template <class Layer>
LayerKernels<Layer> kernels_of(const Layer& layer, Target target) {
  if (!supported(target)) throw std::invalid_argument("this CPU cannot run the target.");
#ifdef DENOTS_X86_TARGETS
  if (target == Target::avx512) return avx512::kernels(layer);
  if (target == Target::avx2) return avx2::kernels(layer);
#endif
  return baseline::kernels(layer);
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// So many pieces of memory, each as large as is said.
class Memory {
 public:
  Memory(std::size_t bytes, std::int64_t count)
      : each_(std::max<std::size_t>(64, (bytes + 63) / 64 * 64)),
        data_(std::aligned_alloc(64, each_ * static_cast<std::size_t>(std::max<std::int64_t>(1, count)))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  void* operator[](std::int64_t i) const {
    return static_cast<char*>(data_.get()) + static_cast<std::size_t>(i) * each_;
  }

 private:
  std::size_t each_;
  std::unique_ptr<void, Free> data_;
};

}  // namespace

template <class Layer>
void run_layer(const Layer& layer, typename Layer::Number* found, int threads, Target target) {
  const auto kernels = kernels_of(layer, target);
  const std::int64_t pieces = kernels.pieces(layer), workers = std::min<std::int64_t>(threads, pieces);
  const Memory packed(kernels.packed_size(layer), 1), memory(kernels.memory_size(layer, false), workers);
  kernels.pack(layer, packed[0]);
  std::atomic<std::int64_t> next{0};
  run_workers(workers, [&](std::int64_t worker) {
    for (std::int64_t piece = next++; piece < pieces; piece = next++)
      kernels.forward(layer, packed[0], piece, memory[worker], found);
  });
}

template <class Layer>
void pull_layer(const Layer& layer, const typename Layer::Gradient& gradient, int threads, Target target) {
  constexpr std::int64_t most_groups = 4;
  const auto kernels = kernels_of(layer, target);
  const std::int64_t pieces = kernels.pieces(layer), groups = std::min(most_groups, pieces),
                     workers = std::min<std::int64_t>(threads, groups);
  const Memory packed(kernels.packed_size(layer), 1), memory(kernels.memory_size(layer, true), workers),
      sums(kernels.sums_size(layer), groups);
  kernels.pack(layer, packed[0]);
  std::atomic<std::int64_t> next{0};
  run_workers(workers, [&](std::int64_t worker) {
    for (std::int64_t group = next++; group < groups; group = next++) {
      kernels.clear(layer, sums[group]);
      for (std::int64_t piece = group; piece < pieces; piece += groups)
        kernels.reverse(layer, packed[0], piece, memory[worker], gradient, sums[group]);
    }
  });
  for (std::int64_t group = 0; group < groups; ++group) kernels.add(layer, sums[group], gradient);
}

#define DENOTS_DEFINE(Layer)                                          \
  template void run_layer(const Layer&, Layer::Number*, int, Target); \
  template void pull_layer(const Layer&, const Layer::Gradient&, int, Target);
DENOTS_DEFINE(Attention<float>)
DENOTS_DEFINE(Attention<double>)
DENOTS_DEFINE(FeedForward<float>)
DENOTS_DEFINE(FeedForward<double>)
DENOTS_DEFINE(StateSpace<float>)
DENOTS_DEFINE(StateSpace<double>)
DENOTS_DEFINE(GruRows<float>)
DENOTS_DEFINE(GruRows<double>)
#undef DENOTS_DEFINE

}  // namespace denots
