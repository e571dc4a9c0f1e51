#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>

#include "denots/cpu.h"
#include "denots/kernels.h"
#include "denots/thread_pool.h"

namespace denots {
namespace {

template <class Real>
FieldTable<Real> fields_of(Target target) {
  if (!supported(target))
    throw std::invalid_argument("this CPU cannot run the target " + std::string(target_name(target)) + ".");
  switch (target) {
    case Target::baseline:
      return baseline::fields(Real{});
#ifdef DENOTS_X86_TARGETS
    case Target::avx2:
      return avx2::fields(Real{});
    case Target::avx512:
      return avx512::fields(Real{});
#else
    case Target::avx2:
    case Target::avx512:
      break;
#endif
  }
  throw std::invalid_argument("no such CPU target.");
}

template <class Real>
const Kernels<Real>& kernels_of(const std::string& field, Target target) {
  const FieldTable<Real> table = fields_of<Real>(target);
  for (std::size_t i = 0; i < table.count; ++i)
    if (field == table.entries[i].name) return table.entries[i].kernels;
  throw std::invalid_argument("no field with a kernel is called " + field + ".");
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

Memory allocate(std::size_t bytes) {
  Memory memory(std::aligned_alloc(64, std::max<std::size_t>(64, whole_lines(bytes))));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Long series first, so that no lane is left alone with one at the end.
template <class Real>
std::vector<std::int64_t> longest_first(const Problem<Real>& p) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(p.series));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto span = [&p](std::int64_t i) { return p.query_times[(i + 1) * p.queries - 1] - p.start[i]; };
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return span(i) > span(j); });
  return order;
}

// Blocks of series with about the same number of steps in each. They depend on the work alone,
// never on the number of threads, because each block sums gradients in its own order.
class Blocks {
 public:
  Blocks(std::int64_t series, const std::int64_t* steps, std::int64_t lanes, std::size_t bytes_each) {
    constexpr std::int64_t series_a_lane = 4, most_blocks = 64;
    constexpr std::size_t most_bytes = std::size_t{64} << 20;
    const auto fitting = static_cast<std::int64_t>(std::max<std::size_t>(1, most_bytes / bytes_each));
    // As soon as two blocks can fill their lanes there are two: one would leave a processor idle.
    const std::int64_t wanted = std::max((series + series_a_lane * lanes - 1) / (series_a_lane * lanes),
                                         std::min<std::int64_t>(2, series / lanes));
    const std::int64_t count = std::max<std::int64_t>(1, std::min({wanted, fitting, most_blocks}));
    std::vector<std::int64_t> order(static_cast<std::size_t>(series));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [steps](auto i, auto j) { return steps[i] > steps[j]; });
    members_.resize(static_cast<std::size_t>(count));
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const std::size_t lap = rank / members_.size(), place = rank % members_.size();
      members_[lap % 2 == 0 ? place : members_.size() - 1 - place].push_back(order[rank]);
    }
  }

  std::int64_t count() const { return static_cast<std::int64_t>(members_.size()); }
  const std::vector<std::int64_t>& operator[](std::int64_t i) const {
    return members_[static_cast<std::size_t>(i)];
  }

 private:
  std::vector<std::vector<std::int64_t>> members_;
};

// Series that share knots would add to the same numbers at the same time.
template <class Real>
void check_knots_apart(const Problem<Real>& p) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(p.series));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), [&p](auto i, auto j) { return p.begins[i] < p.begins[j]; });
  for (std::size_t rank = 1; rank < order.size(); ++rank)
    if (p.begins[order[rank]] < p.ends[order[rank - 1]])
      throw std::invalid_argument("series " + std::to_string(order[rank - 1]) + " and " +
                                  std::to_string(order[rank]) +
                                  " share knots: their gradients need knots of their own (Path.packed()).");
}

// Drive gradients of single series, summed in the order of the series.
template <class Real>
std::vector<Real> sum_rows(std::int64_t rows, std::int64_t columns, const Real* from) {
  std::vector<Real> sum(static_cast<std::size_t>(columns), Real(0));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) sum[static_cast<std::size_t>(j)] += from[i * columns + j];
  return sum;
}

}  // namespace

std::vector<std::string> field_names() {
  const FieldTable<double> table = fields_of<double>(Target::baseline);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.count; ++i) names.emplace_back(table.entries[i].name);
  return names;
}

Rows rows_of(const std::string& field, std::int64_t states, std::int64_t channels) {
  return kernels_of<double>(field, Target::baseline).rows(states, channels);
}

template <class Real>
void solve(const Problem<Real>& p, const Trajectory<Real>& found, Tape* tape, int threads, Target target) {
  const Kernels<Real>& kernels = kernels_of<Real>(p.field, target);
  TapeWriter writer{};
  if (tape != nullptr) writer = tape->writer(target, kernels.kept_size(p), sizeof(Real));
  if (p.series == 0) return;
  const Memory packed = allocate(kernels.packed_size(p));
  kernels.pack(p, packed.get());
  const std::vector<std::int64_t> order = longest_first(p);
  Queue queue{order.data(), p.series, 0, false};
  const std::int64_t workers =
      std::min<std::int64_t>(threads, (p.series + kernels.lanes - 1) / kernels.lanes);
  const std::size_t each = whole_lines(kernels.forward_size(p));
  const Memory memory = allocate(each * static_cast<std::size_t>(std::max<std::int64_t>(1, workers)));
  run_workers(workers, [&](std::int64_t worker) {
    kernels.forward(p, packed.get(), found, &queue, tape != nullptr ? &writer : nullptr,
                    static_cast<char*>(memory.get()) + static_cast<std::size_t>(worker) * each);
  });
  if (queue.out_of_memory) throw std::bad_alloc();
}

template <class Real>
void pull_back(const Problem<Real>& p, const Tape& tape, const Gradient<Real>& gradient, int threads) {
  const Kernels<Real>& kernels = kernels_of<Real>(p.field, tape.target());
  if (gradient.values != nullptr) check_knots_apart(p);
  const Rows rows = kernels.rows(p.states, p.channels);
  const std::int64_t drive = rows.drive;
  std::fill_n(gradient.weight_hh, rows.hidden * p.states, Real(0));
  std::fill_n(gradient.bias_hh, rows.hidden, Real(0));
  std::fill_n(gradient.weight_in, drive * p.channels, Real(0));
  std::fill_n(gradient.weight_out, rows.outer * p.states, Real(0));
  std::fill_n(gradient.bias_out, rows.outer, Real(0));
  std::fill_n(gradient.bias, p.bias_rows * drive, Real(0));
  std::fill_n(gradient.h0, p.series * p.states, Real(0));
  if (p.series == 0) return;
  for (Real* knots : {gradient.values, gradient.slopes})
    if (knots != nullptr) std::fill_n(knots, p.knots * p.channels, Real(0));

  const Memory packed = allocate(kernels.packed_size(p));
  kernels.pack(p, packed.get());
  const std::size_t block_bytes = whole_lines(kernels.block_size(p)),
                    each = whole_lines(kernels.reverse_size(p));
  const Blocks blocks(p.series, gradient.accepted, kernels.lanes, block_bytes);
  const std::int64_t workers = std::max<std::int64_t>(1, std::min<std::int64_t>(threads, blocks.count()));
  const Memory sums = allocate(block_bytes * static_cast<std::size_t>(blocks.count()));
  const Memory memory = allocate(each * static_cast<std::size_t>(workers));
  std::vector<Real> own(static_cast<std::size_t>(p.series * drive), Real(0));
  Gradient<Real> by_series = gradient;
  by_series.bias = own.data();
  const auto sums_of = [&](std::int64_t block) {
    return static_cast<char*>(sums.get()) + static_cast<std::size_t>(block) * block_bytes;
  };
  std::atomic<std::int64_t> next{0};
  run_workers(workers, [&](std::int64_t worker) {
    for (std::int64_t block = next++; block < blocks.count(); block = next++)
      kernels.reverse(p, packed.get(), tape.last(), blocks[block].data(),
                      static_cast<std::int64_t>(blocks[block].size()), by_series, sums_of(block),
                      static_cast<char*>(memory.get()) + static_cast<std::size_t>(worker) * each);
  });
  for (std::int64_t block = 0; block < blocks.count(); ++block)
    kernels.add_block(p, sums_of(block), gradient);
  const std::vector<Real> total = sum_rows(p.series, drive, own.data());
  kernels.add_drive(p, total.data(), gradient);
  const std::vector<Real>& bias = p.bias_rows == 1 ? total : own;
  std::copy(bias.begin(), bias.end(), gradient.bias);
}

template void solve(const Problem<float>&, const Trajectory<float>&, Tape*, int, Target);
template void solve(const Problem<double>&, const Trajectory<double>&, Tape*, int, Target);
template void pull_back(const Problem<float>&, const Tape&, const Gradient<float>&, int);
template void pull_back(const Problem<double>&, const Tape&, const Gradient<double>&, int);

}  // namespace denots
