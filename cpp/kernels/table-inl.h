// Fills one table of kernels for the target this file is compiled for.
#pragma once

#include "adjoint-inl.h"
#include "denots/kernels.h"
#include "fields-inl.h"
#include "solve-inl.h"

namespace denots::DENOTS_TARGET {

template <class FieldKernel>
struct Entry {
  using Real = typename FieldKernel::Real;

  // Stages of few states are computed in no more time than it takes to write and to read them.
  static std::int64_t kept_size(const Problem<Real>& p) {
    constexpr std::int64_t few_states = 32;
    Arena none(nullptr);
    return p.states > few_states ? kept_numbers(FieldKernel(p, none), p.method.stages - 1) : 0;
  }

  static std::size_t packed_size(const Problem<Real>& p) {
    Arena arena(nullptr);
    FieldKernel(p, arena);
    return arena.used();
  }

  static FieldKernel packed_field(const Problem<Real>& p, const void* packed) {
    Arena arena(const_cast<void*>(packed));
    return FieldKernel(p, arena);
  }

  static void pack(const Problem<Real>& p, void* packed) { packed_field(p, packed).pack(p); }

  template <class Sweep>
  static std::size_t sweep_size(const Problem<Real>& p) {
    Arena none(nullptr), arena(nullptr);
    const FieldKernel field(p, none);
    Sweep(p, field, arena);
    return arena.used();
  }

  static void forward(const Problem<Real>& p, const void* packed, const Trajectory<Real>& found, Queue* queue,
                      const TapeWriter* tape, void* memory) {
    const FieldKernel field = packed_field(p, packed);
    Arena arena(memory);
    Forward<FieldKernel>(p, field, arena).run(found, queue, tape);
  }

  static std::size_t block_size(const Problem<Real>& p) {
    Arena none(nullptr), arena(nullptr);
    typename FieldKernel::Sums(FieldKernel(p, none), arena);
    return arena.used();
  }

  static void reverse(const Problem<Real>& p, const void* packed, TapeChunk* const* tape,
                      const std::int64_t* block, std::int64_t count, const Gradient<Real>& gradient,
                      void* sums, void* memory) {
    const FieldKernel field = packed_field(p, packed);
    Arena arena(memory), for_sums(sums);
    Reverse<FieldKernel>(p, field, arena)
        .run(tape, block, count, gradient, typename FieldKernel::Sums(field, for_sums));
  }

  static void add_block(const Problem<Real>& p, const void* sums, const Gradient<Real>& gradient) {
    Arena none(nullptr), arena(const_cast<void*>(sums));
    const FieldKernel field(p, none);
    field.unpack(typename FieldKernel::Sums(field, arena), gradient);
  }

  static void add_drive(const Problem<Real>& p, const Real* drive, const Gradient<Real>& gradient) {
    Arena none(nullptr);
    FieldKernel(p, none).unpack_drive(drive, gradient);
  }

  static constexpr Kernels<Real> table() {
    return {FieldKernel::lanes, &FieldKernel::rows,
            &packed_size,       &pack,
            &kept_size,         &sweep_size<Forward<FieldKernel>>,
            &forward,           &sweep_size<Reverse<FieldKernel>>,
            &block_size,        &reverse,
            &add_block,         &add_drive};
  }
};

template <class Real, class... FieldKernels>
FieldTable<Real> table_of(FieldList<FieldKernels...>) {
  static constexpr FieldEntry<Real> entries[] = {{FieldKernels::name, Entry<FieldKernels>::table()}...};
  return {entries, sizeof...(FieldKernels)};
}

FieldTable<float> fields(float) { return table_of<float>(Fields<float>()); }
FieldTable<double> fields(double) { return table_of<double>(Fields<double>()); }

}  // namespace denots::DENOTS_TARGET
