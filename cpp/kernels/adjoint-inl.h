// The reverse sweep: from the gradient of the states found to that of everything that led to
// them, through the accepted steps, with step sizes as constants.
//
// The stages of a step come from the tape or, where it has none, are replayed from (t, dt, h); they are the
// same to the last bit.
// With l the cotangent of the new state, k' that of the slopes and g_s that of the inputs of
// the stages:  k'_s = dt (b_s l + sum over later stages j of a_js g_j),  g_s = J_s^T k'_s,
// and the cotangent of the old state is l + sum g_s. The last stage is the first one of the
// next step and was dealt with there.
#pragma once

#include "denots/kernels.h"
#include "denots/solve.h"
#include "gemm-inl.h"
#include "path-inl.h"
#include "rk-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

struct ReverseLane {
  bool busy, last;  // last: the step that reached the end of the series
  bool tail;        // a query inside that step reads the slope at its end
  std::int64_t series, query, at;
  TapeChunk* chunk;
  double t, dt;
};

template <class FieldKernel>
class Reverse {
 public:
  using Real = typename FieldKernel::Real;
  using V = typename Simd<Real>::V;
  using Sums = typename FieldKernel::Sums;
  static constexpr int lanes = Simd<Real>::lanes;

  Reverse(const Problem<Real>& problem, const FieldKernel& field, Arena& arena)
      : p_(problem),
        field_(field),
        scheme_(problem.method),
        inner_(scheme_.stages - 1),
        stride_(field.padded * lanes),
        kept_stride_(field.kept_rows() * lanes),
        signal_stride_(problem.channels * lanes) {
    y_ = arena.take<Real>(scheme_.stages * stride_);
    k_ = arena.take<Real>(scheme_.stages * stride_);
    // Cotangents of the stage inputs; in the place of the last stage, that of the new state.
    g_ = arena.take<Real>(scheme_.stages * stride_);
    tail_ = arena.take<Real>(stride_);
    dense_ = arena.take<Real>((scheme_.stages + 1) * stride_);
    cotangent_ = arena.take<Real>(stride_);
    zero_ = arena.take<Real>(stride_);
    kept_ = arena.take<Real>(scheme_.stages * kept_stride_);
    x_ = arena.take<Real>(scheme_.stages * signal_stride_);
    bias_ = arena.take<Real>(field.drive_rows() * lanes);
    sums_ = arena.take<Real>(field.sum_rows() * lanes);
    scratch_ = arena.take<Real>(field.scratch_size());
    to_signal_ = arena.take<Real>(round_up(problem.channels, 8) * lanes);
    none_ = arena.take<Real>(kept_numbers(field, inner_));
    lane_ = arena.take<ReverseLane>(lanes);
  }

  void run(TapeChunk* const* tape, const std::int64_t* block, std::int64_t count,
           const Gradient<Real>& gradient, const Sums& sums) {
    tape_ = tape, gradient_ = &gradient, block_ = block, left_ = count;
    sums.clear(field_);
    for (std::int64_t i = 0; i < scheme_.stages * stride_; ++i) y_[i] = g_[i] = 0;
    for (std::int64_t i = 0; i < scheme_.stages * signal_stride_; ++i) x_[i] = 0;
    for (std::int64_t i = 0; i < field_.drive_rows() * lanes; ++i) bias_[i] = 0;
    for (std::int64_t i = 0; i < field_.sum_rows() * lanes; ++i) sums_[i] = 0;
    for (std::int64_t i = 0; i < stride_; ++i) zero_[i] = 0;
    for (std::int64_t i = 0; i < kept_numbers(field_, inner_); ++i) none_[i] = 0;
    for (int l = 0; l < lanes; ++l) lane_[l] = {};
    while (refill()) step_back(sums);
    const std::int64_t own = field_.drive_rows();
    add_lanes(field_.sum_rows() - own, sums_ + own * lanes, sums.shared);
  }

 private:
  Real* end_cotangent() { return g_ + inner_ * stride_; }

  bool refill() {
    bool busy = false;
    for (int l = 0; l < lanes; ++l) {
      while (!lane_[l].busy && left_ > 0) {
        --left_;
        begin(l, *block_++);
      }
      busy |= lane_[l].busy;
    }
    return busy;
  }

  __attribute__((noinline)) void begin(int l, std::int64_t series) {
    if (gradient_->status[series] != static_cast<std::int64_t>(Status::ok)) return;
    ReverseLane& lane = lane_[l];
    lane = {true, true, false, series, p_.queries - 1, 0, tape_[series], 0.0, 0.0};
    for (std::int64_t row = 0; row < field_.padded; ++row) end_cotangent()[row * lanes + l] = 0;
    for (std::int64_t row = 0; row < field_.drive_rows(); ++row)
      bias_[row * lanes + l] = sums_[row * lanes + l] = 0;
    if (gradient_->accepted[series] == 0) return finish(l);
    lane.at = lane.chunk->used - 1;
    field_.load_bias(p_, series, bias_ + l);
  }

  // The cotangent of the first state is complete but for queries at the start.
  __attribute__((noinline)) void finish(int l) {
    ReverseLane& lane = lane_[l];
    for (; lane.query >= 0; --lane.query) add_answer(lane, end_cotangent() + l, 1);
    Real* const to = gradient_->h0 + lane.series * p_.states;
    for (std::int64_t row = 0; row < p_.states; ++row) to[row] = end_cotangent()[row * lanes + l];
    field_.store_drive(sums_ + l, gradient_->bias + lane.series * field_.drive_size());
    for (std::int64_t row = 0; row < field_.padded; ++row)
      y_[row * lanes + l] = end_cotangent()[row * lanes + l] = 0;
    for (std::int64_t i = 0; i < scheme_.stages * p_.channels; ++i) x_[i * lanes + l] = 0;
    for (std::int64_t row = 0; row < field_.drive_rows(); ++row) bias_[row * lanes + l] = 0;
    lane.busy = false;
    lane.dt = 0.0;
  }

  void step_back(const Sums& sums) {
    bool between = false, tail = false;
    load_steps(between, tail);
    const int replayed = tail ? scheme_.stages : inner_;
    alignas(64) Real step[lanes];
    for (int l = 0; l < lanes; ++l) step[l] = static_cast<Real>(lane_[l].dt);
    const V dt = load(step);
    replay(dt, replayed);
    if (tail) pull_tail();
    for (int s = inner_ - 1; s >= 0; --s) {
      combine(scheme_.later[s], field_.padded, dt, between ? dense_ + s * stride_ : zero_, g_, stride_,
              cotangent_);
      if (s == 0) add_next_queries();
      pull(s, g_ + s * stride_);
    }
    field_.accumulate(replayed, y_, x_, kept_, scratch_, sums);
    for (std::int64_t at = 0; at < stride_; at += lanes) {
      V sum = load(end_cotangent() + at);
      for (int s = 0; s < inner_; ++s) sum += load(g_ + s * stride_ + at);
      if (between) sum += load(dense_ + scheme_.stages * stride_ + at);
      store(end_cotangent() + at, sum);
    }
    retreat();
  }

  // Fetches the next step of each lane and the gradients of the queries that it answered.
  __attribute__((noinline)) void load_steps(bool& between, bool& tail) {
    for (int l = 0; l < lanes; ++l) {
      ReverseLane& lane = lane_[l];
      if (!lane.busy) continue;
      lane.t = lane.chunk->t[lane.at];
      lane.dt = lane.chunk->dt[lane.at];
      const Real* state = lane.chunk->template state<Real>(lane.at, p_.states);
      for (std::int64_t row = 0; row < p_.states; ++row) y_[row * lanes + l] = state[row];
      for (; lane.query >= 0 && asked(lane, lane.query) > lane.t; --lane.query) {
        if (asked(lane, lane.query) == end_of(lane, lane.chunk, lane.at)) {
          add_answer(lane, end_cotangent() + l, 1);
          continue;
        }
        if (!between)
          for (std::int64_t i = 0; i < (scheme_.stages + 1) * stride_; ++i) dense_[i] = 0;
        between = true;
        lane.tail = lane.last;
        tail |= lane.last;
        const double u = (asked(lane, lane.query) - lane.t) / lane.dt;
        // The last stage belongs to the next step, unless there is none.
        for (int s = 0; s < (lane.last ? scheme_.stages : inner_); ++s)
          add_answer(lane, dense_ + s * stride_ + l, static_cast<Real>(lane.dt * scheme_.dense_weight(s, u)));
        add_answer(lane, dense_ + scheme_.stages * stride_ + l, 1);
      }
    }
  }

  double asked(const ReverseLane& lane, std::int64_t query) const {
    return p_.query_times[lane.series * p_.queries + query];
  }

  double end_of(const ReverseLane& lane, const TapeChunk* chunk, std::int64_t at) const {
    const double t = chunk->t[at];
    return step_end(t, chunk->dt[at], landing(p_, lane.series, chunk->knot[at], t));
  }

  void add_answer(const ReverseLane& lane, Real* to, Real weight, std::int64_t query) const {
    const std::int64_t first = lane.series * p_.queries;
    const Real* from = gradient_->states + (first + p_.positions[first + query]) * p_.states;
    for (std::int64_t row = 0; row < p_.states; ++row) to[row * lanes] += weight * from[row];
  }
  void add_answer(const ReverseLane& lane, Real* to, Real weight) const {
    add_answer(lane, to, weight, lane.query);
  }

  __attribute__((noinline)) void replay(V dt, int stages) {
    for (int l = 0; l < lanes; ++l) {
      ReverseLane& lane = lane_[l];
      if (!lane.busy) continue;
      double time[max_stages];
      const StageTimes times = times_of(lane);
      for (int s = 0; s < stages; ++s) time[s] = times.at(scheme_.nodes[s]);
      read_signal<FieldKernel::reads_slope>(p_, lane.series, lane.chunk->knot[lane.at], stages, time, x_ + l,
                                            signal_stride_);
    }
    for (int s = fetch_stages(stages) ? stages : 0; s < stages; ++s) {
      if (s > 0) combine(scheme_.input[s], field_.padded, dt, y_, k_, stride_, y_ + s * stride_);
      field_.slope(y_ + s * stride_, x_ + s * signal_stride_, bias_, k_ + s * stride_,
                   kept_ + s * kept_stride_);
    }
  }

  void pull(int s, Real* out) {
    const bool wanted = gradient_->values != nullptr;
    field_.pull(y_ + s * stride_, x_ + s * signal_stride_, cotangent_, kept_ + s * kept_stride_, sums_, out,
                wanted ? to_signal_ : nullptr);
    if (!wanted) return;
    for (int l = 0; l < lanes; ++l) {
      const ReverseLane& lane = lane_[l];
      if (lane.busy && (s < inner_ || lane.tail))
        pull_knots<FieldKernel::reads_slope>(p_, lane.series, lane.chunk->knot[lane.at],
                                             times_of(lane).at(scheme_.nodes[s]), to_signal_ + l,
                                             gradient_->values, gradient_->slopes);
    }
  }

  StageTimes times_of(const ReverseLane& lane) const {
    const double stop = landing(p_, lane.series, lane.chunk->knot[lane.at], lane.t);
    return {lane.t, lane.dt, stop, p_.land_on_knots};
  }

  // False where stages of some lane were not kept. Idle lanes get zeros.
  bool fetch_stages(int stages) {
    const Real* from[lanes];
    bool all = stages == inner_;
    for (int l = 0; l < lanes; ++l) {
      from[l] = none_;
      if (!lane_[l].busy) continue;
      all &= lane_[l].chunk->kept > 0;
      from[l] = lane_[l].chunk->template stages<Real>(lane_[l].at);
    }
    if (!all) return false;
    const std::int64_t rows = inner_ * field_.kept_rows();
    rows_to_lanes(rows, [&from](int l) { return from[l]; }, kept_);
    rows_to_lanes((inner_ - 1) * field_.padded, [&from, rows](int l) { return from[l] + rows; },
                  y_ + stride_);
    return true;
  }

  // The slope at the end of the last step matters to queries inside that step. Lanes without such a
  // query must not see it: where a product overflowed there, zero times it would be NaN.
  void pull_tail() {
    Real* const kept = kept_ + inner_ * kept_stride_;
    for (std::int64_t i = 0; i < kept_stride_; ++i)
      if (!lane_[i % lanes].tail) kept[i] = 0;
    for (std::int64_t i = 0; i < stride_; ++i)
      cotangent_[i] = lane_[i % lanes].tail ? dense_[inner_ * stride_ + i] : Real(0);
    pull(inner_, tail_);
    for (std::int64_t at = 0; at < stride_; at += lanes)
      store(end_cotangent() + at, load(end_cotangent() + at) + load(tail_ + at));
  }

  // The first slope of this step is the last one of the step before, whose dense output it shaped.
  void add_next_queries() {
    for (int l = 0; l < lanes; ++l) {
      const ReverseLane& lane = lane_[l];
      if (!lane.busy || lane.query < 0) continue;
      const TapeChunk* chunk = lane.at > 0 ? lane.chunk : lane.chunk->previous;
      if (chunk == nullptr) continue;
      const std::int64_t at = lane.at > 0 ? lane.at - 1 : chunk->used - 1;
      const double t = chunk->t[at], dt = chunk->dt[at];
      for (std::int64_t query = lane.query; query >= 0 && asked(lane, query) > t; --query) {
        if (asked(lane, query) == end_of(lane, chunk, at)) continue;
        const double u = (asked(lane, query) - t) / dt;
        add_answer(lane, cotangent_ + l, static_cast<Real>(dt * scheme_.dense_weight(inner_, u)), query);
      }
    }
  }

  __attribute__((noinline)) void retreat() {
    for (int l = 0; l < lanes; ++l) {
      ReverseLane& lane = lane_[l];
      if (!lane.busy) continue;
      lane.last = lane.tail = false;
      if (lane.at > 0) {
        --lane.at;
      } else if (lane.chunk->previous != nullptr) {
        lane.chunk = lane.chunk->previous;
        lane.at = lane.chunk->used - 1;
      } else {
        finish(l);
      }
    }
  }

  const Problem<Real>& p_;
  const FieldKernel& field_;
  const Scheme<Real> scheme_;
  const int inner_;
  const std::int64_t stride_, kept_stride_, signal_stride_;
  Real *y_, *k_, *g_, *tail_, *dense_, *cotangent_, *zero_, *kept_, *x_, *bias_, *sums_, *scratch_,
      *to_signal_, *none_;
  ReverseLane* lane_;
  TapeChunk* const* tape_ = nullptr;
  const Gradient<Real>* gradient_ = nullptr;
  const std::int64_t* block_ = nullptr;
  std::int64_t left_ = 0;
};

}  // namespace denots::DENOTS_TARGET
