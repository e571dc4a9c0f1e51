// The adaptive loop over a block of lanes. Lanes share instructions and nothing else: each has
// its own series, time, step and fate, and when it ends the next series of the queue takes it.
#pragma once

#include "denots/kernels.h"
#include "denots/solve.h"
#include "gemm-inl.h"
#include "path-inl.h"
#include "rk-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

enum class Phase : int { idle, starting, stepping };

// A series in its lane. While it is starting, the first two evaluations of a round give its
// first slope and its first step; the others are idle.
struct Lane {
  Phase phase;
  bool finite;
  std::int64_t series, knot, reach_knot, query, accepted, rejected, evaluations;
  double t, dt, stop;   // dt: the step to try next; stop: where a step has to land
  double step, trial;   // step: the one being tried
  double reach, asked;  // reach: the end of a step that was accepted; asked: when the next query is
  TapeChunk* chunk;
};

// Of the `inner` stages that a reverse sweep goes through, a tape keeps what `slope` kept, and the inputs of
// all but the first, whose input is the state.
template <class FieldKernel>
std::int64_t kept_numbers(const FieldKernel& field, int inner) {
  return inner * field.kept_rows() + (inner - 1) * field.padded;
}

template <class FieldKernel>
class Forward {
 public:
  using Real = typename FieldKernel::Real;
  using V = typename Simd<Real>::V;
  using I = typename Simd<Real>::I;
  static constexpr int lanes = Simd<Real>::lanes;

  Forward(const Problem<Real>& problem, const FieldKernel& field, Arena& arena)
      : p_(problem),
        field_(field),
        scheme_(problem.method),
        stride_(field.padded * lanes),
        kept_stride_(field.kept_rows() * lanes) {
    h_ = arena.take<Real>(stride_);
    inputs_ = arena.take<Real>(scheme_.stages * stride_);
    k_ = arena.take<Real>(scheme_.stages * stride_);
    x_ = arena.take<Real>(scheme_.stages * signal_stride());
    bias_ = arena.take<Real>(field.drive_rows() * lanes);
    kept_ = arena.take<Real>(scheme_.stages * kept_stride_);
    nowhere_ = arena.take<Real>(kept_numbers(field, scheme_.stages - 1));
    between_ = arena.take<Real>(stride_);
    lane_ = arena.take<Lane>(lanes);
    const int last = scheme_.stages - 1;
    last_signal_ = last > 2 && scheme_.nodes[last] == scheme_.nodes[last - 1] ? last - 1 : last;
  }

  void run(const Trajectory<Real>& found, Queue* queue, const TapeWriter* tape) {
    found_ = &found, queue_ = queue, tape_ = tape;
    keeps_ = tape != nullptr && tape->keeps;
    y_ = inputs_ + (keeps_ ? scheme_.stages - 1 : 0) * stride_;
    for (std::int64_t i = 0; i < stride_; ++i) h_[i] = k_[i] = 0;
    for (std::int64_t i = 0; i < scheme_.stages * signal_stride(); ++i) x_[i] = 0;
    for (std::int64_t i = 0; i < field_.drive_rows() * lanes; ++i) bias_[i] = 0;
    for (int l = 0; l < lanes; ++l) {
      lane_[l].phase = Phase::idle;
      lane_[l].step = 0.0;
    }
    while (refill() && !__atomic_load_n(&queue_->out_of_memory, __ATOMIC_RELAXED)) round();
  }

 private:
  std::int64_t signal_stride() const { return p_.channels * lanes; }

  // A starting lane takes a step of length zero from its first slope, which must not be NaN.
  void clear_first_slope(int l) {
    for (std::int64_t row = 0; row < field_.padded; ++row) k_[row * lanes + l] = 0;
  }

  // Gives idle lanes work; false when none is left anywhere.
  bool refill() {
    bool busy = false;
    for (int l = 0; l < lanes; ++l) {
      while (lane_[l].phase == Phase::idle) {
        const std::int64_t next = __atomic_fetch_add(&queue_->next, 1, __ATOMIC_RELAXED);
        if (next >= queue_->count) break;
        begin(l, queue_->order[next]);
      }
      busy |= lane_[l].phase != Phase::idle;
    }
    return busy;
  }

  void begin(int l, std::int64_t series) {
    Lane& lane = lane_[l];
    const double* asked = p_.query_times + series * p_.queries;
    lane = {};
    lane.series = series;
    lane.knot = p_.begins[series];
    lane.t = p_.start[series];
    lane.stop = landing(p_, series, lane.knot, lane.t);
    const Real* h0 = p_.h0 + series * p_.states;
    bool finite = true;
    for (std::int64_t row = 0; row < p_.states; ++row) {
      h_[row * lanes + l] = h0[row];
      finite &= is_finite(h0[row]);
    }
    for (; lane.query < p_.queries && asked[lane.query] <= lane.t; ++lane.query) answer_with(l, h_);
    if (!finite || lane.query == p_.queries) return finish(l, finite ? Status::ok : Status::not_finite);
    lane.asked = asked[lane.query];
    clear_first_slope(l);
    field_.load_bias(p_, series, bias_ + l);
    lane.phase = Phase::starting;
  }

  void finish(int l, Status status) {
    Lane& lane = lane_[l];
    const std::int64_t i = lane.series;
    found_->status[i] = static_cast<std::int64_t>(status);
    found_->evaluations[i] = lane.evaluations;
    found_->accepted[i] = lane.accepted;
    found_->rejected[i] = lane.rejected;
    found_->reached[i] = lane.t;
    if (tape_ != nullptr) tape_->last[i] = lane.chunk;
    if (status != Status::ok) {
      Real* const states = found_->states + i * p_.queries * p_.states;
      for (std::int64_t j = 0; j < p_.queries * p_.states; ++j)
        states[j] = static_cast<Real>(__builtin_nan(""));
    }
    lane.phase = Phase::idle;
    lane.step = 0.0;
  }

  // One attempted step of every lane that is stepping.
  void round() {
    bool starting = false;
    alignas(64) Real step[lanes];
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = lane_[l];
      starting |= lane.phase == Phase::starting;
      if (lane.phase == Phase::stepping) {
        lane.step = lands(lane.t, lane.dt, lane.stop) ? lane.stop - lane.t : lane.dt;
      }
      step[l] = static_cast<Real>(lane.step);
    }
    const V width = load(step);
    read_signals();
    for (int s = 1; s < scheme_.stages; ++s) {
      Real* const y = inputs_ + (keeps_ ? s : 0) * stride_;
      combine(scheme_.input[s], field_.padded, width, h_, k_, stride_, y);
      if (starting && s == 2) move_to_trial(y);
      field_.slope(y, x_ + (s < last_signal_ ? s : last_signal_) * signal_stride(), bias_, k_ + s * stride_,
                   kept_ + (keeps_ ? s : 0) * kept_stride_);
      if (starting && s == 1) choose_trial();
    }
    const V squares = squared_error(scheme_.error, p_.states, width, p_.rtol, p_.atol, h_, y_, k_, stride_);
    decide(squares);
    if (starting) end_start();
  }

  __attribute__((noinline)) void read_signals() {
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = lane_[l];
      if (lane.phase == Phase::idle) continue;
      double time[max_stages];
      const int count = lane.phase == Phase::starting ? 1 : last_signal_;
      const StageTimes times(lane.t, lane.step, lane.stop, p_.land_on_knots);
      for (int s = 1; s <= count; ++s) time[s - 1] = times.at(scheme_.nodes[s]);
      lane.reach_knot = read_signal<FieldKernel::reads_slope>(p_, lane.series, lane.knot, count, time,
                                                              x_ + signal_stride() + l, signal_stride());
    }
  }

  // After the first evaluation, k[1] holds the first slope of the starting lanes.
  void choose_trial() {
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = lane_[l];
      if (lane.phase != Phase::starting) continue;
      const Real* k = k_ + stride_ + l;
      lane.finite = true;
      for (std::int64_t row = 0; row < p_.states; ++row) lane.finite &= is_finite(k[row * lanes]);
      const Real size = lane_norm<Real>(p_.states, h_ + l, nullptr, h_ + l, p_.rtol, p_.atol);
      const Real speed = lane_norm<Real>(p_.states, k, nullptr, h_ + l, p_.rtol, p_.atol);
      lane.trial = static_cast<double>(trial_step(size, speed));
    }
  }

  void move_to_trial(Real* y) {
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = lane_[l];
      if (lane.phase != Phase::starting) continue;
      const Real trial = static_cast<Real>(lane.trial);
      const double time = StageTimes(lane.t, lane.trial, lane.stop, false).at(1.0);
      read_signal<FieldKernel::reads_slope>(p_, lane.series, lane.knot, 1, &time,
                                            x_ + 2 * signal_stride() + l, signal_stride());
      for (std::int64_t at = l; at < stride_; at += lanes) y[at] = h_[at] + trial * k_[stride_ + at];
    }
  }

  // The second evaluation, at the end of the trial, decides the first step.
  void end_start() {
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = lane_[l];
      if (lane.phase != Phase::starting) continue;
      lane.evaluations = lane.finite ? 2 : 1;
      if (!lane.finite) {
        finish(l, Status::not_finite);
        continue;
      }
      const Real* k = k_ + stride_ + l;
      const Real speed = lane_norm<Real>(p_.states, k, nullptr, h_ + l, p_.rtol, p_.atol);
      const Real change = lane_norm(p_.states, k + stride_, k, h_ + l, p_.rtol, p_.atol);
      lane.dt = static_cast<double>(first_step(static_cast<Real>(lane.trial), speed, change, scheme_.order));
      if (p_.land_on_knots) begin_leg(lane);
      for (std::int64_t at = l; at < stride_; at += lanes) k_[at] = k_[stride_ + at];
      if (keeps_)
        for (std::int64_t at = l; at < kept_stride_; at += lanes) kept_[at] = kept_[kept_stride_ + at];
      lane.phase = Phase::stepping;
    }
  }

  void decide(V squares) {
    alignas(64) Real sum[lanes];
    alignas(64) typename Simd<Real>::Int accepted[lanes];
    store(sum, squares);
    bool asked = false;
    for (int l = 0; l < lanes; ++l) {
      accepted[l] = 0;
      stages_[l] = nowhere_;
      if (lane_[l].phase != Phase::stepping) continue;
      lane_[l].evaluations += scheme_.stages - 1;
      const Real error = root(sum[l] / static_cast<Real>(p_.states));
      if (!is_finite(error)) {
        reject(l, shrink, Status::not_finite);
        continue;
      }
      const double ratio = step_ratio(error, scheme_.order, scheme_.safety);
      if (error < Real(1)) {
        accepted[l] = -1;
        asked |= lane_[l].asked <= plan_next(lane_[l], ratio);
        if (tape_ != nullptr) record(l);
      } else {
        reject(l, ratio, Status::step_underflow);
      }
    }
    if (asked) answer_queries(accepted);
    const I mask = *reinterpret_cast<const I*>(accepted);
    if (keeps_) keep_stages(mask);
    const Real* fresh = k_ + (scheme_.stages - 1) * stride_;
    for (std::int64_t at = 0; at < stride_; at += lanes) {
      store(h_ + at, mask ? load(y_ + at) : load(h_ + at));
      store(k_ + at, mask ? load(fresh + at) : load(k_ + at));
    }
    for (int l = 0; l < lanes; ++l)
      if (accepted[l]) advance(l);
  }

  // Writes the stages of accepted steps to the tape. The last one is the first of the next step.
  __attribute__((noinline)) void keep_stages(I mask) {
    const int inner = scheme_.stages - 1;
    const std::int64_t rows = inner * field_.kept_rows();
    bool room = false;
    for (int l = 0; l < lanes; ++l) room |= stages_[l] != nowhere_;
    if (room) {
      lanes_to_rows(rows, kept_, [this](int l) { return stages_[l]; });
      lanes_to_rows((inner - 1) * field_.padded, inputs_ + stride_,
                    [this, rows](int l) { return stages_[l] + rows; });
    }
    const Real* last = kept_ + inner * kept_stride_;
    for (std::int64_t at = 0; at < kept_stride_; at += lanes)
      store(kept_ + at, mask ? load(last + at) : load(kept_ + at));
  }

  void begin_leg(Lane& lane) {
    lane.stop = landing(p_, lane.series, lane.knot, lane.t);
    if (lane.t < lane.stop) lane.dt = lane.stop - lane.t;
  }

  // Returns where the step has led. One cut short at the stop does not shorten the one after it.
  static double plan_next(Lane& lane, double ratio) {
    const double next = lane.step * ratio;
    lane.dt = lane.step < lane.dt && next < lane.dt ? lane.dt : next;
    return lane.reach = step_end(lane.t, lane.step, lane.stop);
  }

  // Ends a step that was accepted, and the series with its last query; the lane has taken over the new state.
  void advance(int l) {
    Lane& lane = lane_[l];
    lane.t = lane.reach;
    lane.knot = lane.reach_knot;
    if (p_.land_on_knots && lane.t == lane.stop) begin_leg(lane);
    ++lane.accepted;
    if (lane.query == p_.queries)
      finish(l, Status::ok);
    else if (lane.accepted + lane.rejected >= p_.max_steps)
      finish(l, Status::max_steps);
  }

  void reject(int l, double ratio, Status reason) {
    Lane& lane = lane_[l];
    ++lane.rejected;
    lane.dt = lane.step * ratio;
    const double size = __builtin_fabs(lane.t < lane.stop ? lane.stop : lane.t);
    if (lane.t + lane.dt <= lane.t + 1e-15 * size)
      finish(l, reason);
    else if (lane.accepted + lane.rejected >= p_.max_steps)
      finish(l, Status::max_steps);
  }

  void record(int l) {
    Lane& lane = lane_[l];
    if (lane.chunk == nullptr || lane.chunk->used == TapeChunk::capacity) {
      TapeChunk* const fresh = tape_->extend(tape_->owner, lane.chunk);
      if (fresh == nullptr) {
        __atomic_store_n(&queue_->out_of_memory, true, __ATOMIC_RELAXED);
        return;
      }
      lane.chunk = fresh;
    }
    const std::int64_t at = lane.chunk->used++;
    lane.chunk->t[at] = lane.t;
    lane.chunk->dt[at] = lane.step;
    lane.chunk->knot[at] = lane.knot;
    Real* const state = lane.chunk->template state<Real>(at, p_.states);
    for (std::int64_t row = 0; row < p_.states; ++row) state[row] = h_[row * lanes + l];
    if (lane.chunk->kept > 0) stages_[l] = lane.chunk->template stages<Real>(at);
  }

  Real* answer(const Lane& lane) const {
    const std::int64_t first = lane.series * p_.queries;
    return found_->states + (first + p_.positions[first + lane.query]) * p_.states;
  }

  void answer_with(int l, const Real* from) const {
    Real* const to = answer(lane_[l]);
    for (std::int64_t row = 0; row < p_.states; ++row) to[row] = from[row * lanes + l];
  }

  // Answers what was asked inside accepted steps by their dense output, one query of every lane at a time,
  // and what was asked at their end by the new state.
  void answer_queries(const typename Simd<Real>::Int* accepted) {
    alignas(64) Real weight[max_stages * lanes] = {};
    for (bool more = true; more;) {
      bool inside[lanes] = {};
      more = false;
      for (int l = 0; l < lanes; ++l) {
        Lane& lane = lane_[l];
        if (!accepted[l]) continue;
        const double* asked = p_.query_times + lane.series * p_.queries;
        for (; lane.query < p_.queries && asked[lane.query] == lane.reach; ++lane.query) answer_with(l, y_);
        if (lane.query == p_.queries) continue;
        lane.asked = asked[lane.query];
        if (lane.asked > lane.reach) continue;
        const double u = (lane.asked - lane.t) / lane.step;
        for (int s = 0; s < scheme_.stages; ++s)
          weight[s * lanes + l] = static_cast<Real>(lane.step * scheme_.dense_weight(s, u));
        more = inside[l] = true;
      }
      if (!more) return;
      combine_by_lane(scheme_.stages, p_.states, weight, h_, k_, stride_, between_);
      for (int l = 0; l < lanes; ++l) {
        if (!inside[l]) continue;
        answer_with(l, between_);
        ++lane_[l].query;
      }
    }
  }

  const Problem<Real>& p_;
  const FieldKernel& field_;
  const Scheme<Real> scheme_;
  const std::int64_t stride_, kept_stride_;
  int last_signal_;     // the last stages may be at one time, for which the signal is read once
  bool keeps_ = false;  // else inputs_ and kept_ hold one stage only, the latest
  // [row][lane]; inputs_, k_, x_ and kept_ are [stage][row][lane]; y_ is the last stage of inputs_, the new
  // state
  Real *h_, *inputs_, *y_ = nullptr, *k_, *x_, *bias_, *kept_;
  Real* between_;        // states inside a step
  Real* nowhere_;        // where stages go that the tape does not want
  Real* stages_[lanes];  // where those of this round go
  Lane* lane_;
  const Trajectory<Real>* found_ = nullptr;
  Queue* queue_ = nullptr;
  const TapeWriter* tape_ = nullptr;
};

}  // namespace denots::DENOTS_TARGET
