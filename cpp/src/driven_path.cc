#include "denots/driven_path.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "denots/spline.h"
#include "denots/thread_pool.h"

namespace denots {
namespace {

constexpr double rounding =
    1e-9;  // what double precision leaves of a curvature that is the same on both sides

// All numbers of one series, row by row; memory is kept from one to the next.
template <class Observed, class Real>
class DrivenPath {
 public:
  explicit DrivenPath(const Reading& reading)
      : reading_(reading), C_(reading.channels), R_(reading.columns()), latest_(reading.channels) {}

  std::int64_t fill(std::int64_t length, const double* times, double start, const Observed* values,
                    double* knot_times, Real* knot_values, Real* knot_slopes) {
    L_ = length;
    const auto rows = static_cast<std::size_t>(L_), size = rows * static_cast<std::size_t>(R_);
    times_.resize(rows), table_.resize(size), before_.resize(size), after_.resize(size);
    for (std::size_t row = 0; row < rows; ++row) times_[row] = (times[row] - start) * reading_.pace;
    widen(values);
    join();
    return tell(knot_times, knot_values, knot_slopes);
  }

 private:
  // Every number is rounded to the type of the observations, as a table of them would.
  void widen(const Observed* values) {
    std::fill(latest_.begin(), latest_.end(), 0.0);
    for (std::int64_t row = 0; row < L_; ++row, values += C_) {
      double* const to = table_.data() + row * R_;
      std::int64_t column = 0;
      for (; column < C_; ++column) to[column] = static_cast<double>(values[column]);
      for (std::int64_t c = 0; reading_.presence && c < C_; ++c) to[column++] = std::isnan(values[c]) ? 0 : 1;
      for (std::int64_t c = 0; reading_.ages && c < C_; ++c) {
        to[column++] = static_cast<double>(static_cast<Observed>(times_[row] - latest_[c]));
        if (!std::isnan(values[c])) latest_[c] = times_[row];
      }
      if (reading_.differences)
        to[column++] =
            row == 0 ? 0 : static_cast<double>(static_cast<Observed>(times_[row] - times_[row - 1]));
      for (std::int64_t c = 0; c < R_; ++c) to[c] = (to[c] - reading_.centre[c]) / reading_.scale[c];
    }
  }

  void join() {
    for (std::int64_t c = 0; c < C_; ++c)
      fit_spline(Spline::natural_cubic, L_, R_, times_.data(), table_.data() + c, table_.data() + c,
                 before_.data() + c, after_.data() + c, knots_);
    if (R_ > C_) join_whole();
  }

  // Columns without holes share one matrix.
  void join_whole() {
    const std::int64_t last = L_ - 1, R = R_, first = C_;
    double* const slope = after_.data();
    const double* const v = table_.data();
    if (last == 0) {
      std::fill(slope + first, slope + R, 0.0);
    } else {
      pivot_.resize(static_cast<std::size_t>(L_)), load_.resize(static_cast<std::size_t>(R));
      const double width = times_[1] - times_[0];
      double weight = 1.0 / width;
      pivot_[0] = 2.0 * weight;
      for (std::int64_t c = first; c < R; ++c)
        slope[c] = load_[c] = 3.0 * weight * ((v[R + c] - v[c]) / width);
      for (std::int64_t j = 1; j <= last; ++j) {
        const double next_width = j < last ? times_[j + 1] - times_[j] : 1.0,
                     next = j < last ? 1.0 / next_width : 0.0;
        const double ratio = weight / pivot_[j - 1];
        pivot_[j] = 2.0 * (weight + next) - ratio * weight;
        const double *here = v + j * R, *there = here + (j < last ? R : 0), *previous = slope + (j - 1) * R;
        double *const to = slope + j * R, *const load = load_.data();
        for (std::int64_t c = first; c < R; ++c) {
          const double next_load = 3.0 * next * ((there[c] - here[c]) / next_width);
          to[c] = load[c] + next_load - ratio * previous[c];
          load[c] = next_load;
        }
        weight = next;
      }
      for (std::int64_t c = first; c < R; ++c) slope[last * R + c] /= pivot_[last];
      for (std::int64_t j = last - 1; j >= 0; --j) {
        const double width_j = times_[j + 1] - times_[j], divisor = pivot_[j];
        double* const to = slope + j * R;
        for (std::int64_t c = first; c < R; ++c) to[c] = (to[c] - to[R + c] / width_j) / divisor;
      }
    }
    for (std::int64_t row = 0; row < L_; ++row)
      std::copy(slope + row * R + first, slope + (row + 1) * R, before_.data() + row * R + first);
  }

  // Knots of the curve, twice where it has a kink, and once more where the slope of a value has one.
  std::int64_t tell(double* knot_times, Real* knot_values, Real* knot_slopes) {
    grid_.clear();
    for (std::int64_t row = 0; row < L_; ++row) {
      const double *left = before_.data() + row * R_, *right = after_.data() + row * R_;
      bool bends = false;
      if (row > 0 && row + 1 < L_)
        for (std::int64_t c = 0; c < C_; ++c) bends |= left[c] != right[c];
      const double time = times_[row] * reading_.depth;
      if (bends || row + 1 == L_) grid_.push_back({row, time, left});
      if (row + 1 < L_) grid_.push_back({row, time, right});
    }
    const auto K = static_cast<std::int64_t>(grid_.size());
    slopes_.resize(static_cast<std::size_t>(K * R_));
    for (std::int64_t k = 0; k < K; ++k)
      for (std::int64_t c = 0; c < R_; ++c) slopes_[k * R_ + c] = grid_[k].slope[c] / reading_.depth;
    const std::int64_t width = reading_.width();
    std::int64_t told = 0;
    curve_before_.resize(static_cast<std::size_t>(C_)), curve_after_.resize(static_cast<std::size_t>(C_));
    for (std::int64_t k = 0; k < K; ++k) {
      const bool bends = curvatures(k, K);
      for (int side = bends ? 0 : 1; side < 2; ++side, ++told) {
        knot_times[told] = grid_[k].time;
        const double *const v = table_.data() + grid_[k].row * R_, *const s = slopes_.data() + k * R_;
        const double* const curvature = side == 0 ? curve_before_.data() : curve_after_.data();
        Real *const to_value = knot_values + told * width, *const to_slope = knot_slopes + told * width;
        for (std::int64_t c = 0; c < R_; ++c) to_value[c] = static_cast<Real>(v[c]);
        for (std::int64_t c = 0; c < R_; ++c) to_slope[c] = static_cast<Real>(s[c]);
        for (std::int64_t c = 0; c < C_; ++c)
          to_value[R_ + c] = static_cast<Real>(s[c] / reading_.slope_scale[c]);
        for (std::int64_t c = 0; c < C_; ++c)
          to_slope[R_ + c] = static_cast<Real>(curvature[c] / reading_.slope_scale[c]);
      }
    }
    return told;
  }

  // Second derivatives of the values just before and just after a knot, one for both where they agree or
  // where there is one side only; whether any differ.
  bool curvatures(std::int64_t k, std::int64_t count) {
    const double w0 = k > 0 ? grid_[k].time - grid_[k - 1].time : 0.0,
                 w1 = k + 1 < count ? grid_[k + 1].time - grid_[k].time : 0.0;
    const bool has_before = w0 > 0, has_after = w1 > 0;
    const double *const v = table_.data() + grid_[k].row * R_, *const s = slopes_.data() + k * R_;
    const double *const v0 = has_before ? table_.data() + grid_[k - 1].row * R_ : v,
                        *const s0 = has_before ? s - R_ : s,
                        *const v1 = has_after ? table_.data() + grid_[k + 1].row * R_ : v,
                        *const s1 = has_after ? s + R_ : s;
    bool bends = false;
    for (std::int64_t c = 0; c < C_; ++c) {
      double before = 0, after = 0, size = 0;
      if (has_before) {
        const double rise = v[c] - v0[c], left = s0[c] * w0, right = s[c] * w0;
        before = (2 * left + 4 * right - 6 * rise) / (w0 * w0);
        size = (std::abs(v[c]) + std::abs(v0[c]) + std::abs(left) + std::abs(right)) / (w0 * w0);
      }
      if (has_after) {
        const double rise = v1[c] - v[c], left = s[c] * w1, right = s1[c] * w1;
        after = (6 * rise - 4 * left - 2 * right) / (w1 * w1);
        size =
            std::max(size, (std::abs(v1[c]) + std::abs(v[c]) + std::abs(left) + std::abs(right)) / (w1 * w1));
      }
      const bool lone = !has_before || !has_after || std::isnan(before) || std::isnan(after);
      if (lone || std::abs(before - after) <= rounding * size) {
        double middle = (before + after) / 2;
        if (lone) middle = !has_before || std::isnan(before) ? after : before;
        before = after = finite(middle);
      }
      curve_before_[c] = before, curve_after_[c] = after;
      bends |= before != after;
    }
    return bends;
  }

  static double finite(double x) {
    constexpr double most = std::numeric_limits<double>::max();
    return std::isnan(x) ? 0 : std::min(std::max(x, -most), most);
  }

  struct Knot {
    std::int64_t row;
    double time;
    const double* slope;
  };

  const Reading& reading_;
  const std::int64_t C_, R_;
  std::int64_t L_ = 0;
  std::vector<double> latest_, times_, table_, before_, after_, slopes_, pivot_, load_, curve_before_,
      curve_after_;
  std::vector<Knot> grid_;
  SplineKnots knots_;
};

}  // namespace

template <class Observed, class Real>
void fill_driven_path(const Reading& reading, std::int64_t series, const std::int64_t* offsets,
                      const double* times, const double* start, const Observed* values, double* knot_times,
                      Real* knot_values, Real* knot_slopes, std::int64_t* ends, int threads) {
  constexpr std::int64_t at_once = 8;
  std::atomic<std::int64_t> next{0};
  const std::int64_t workers = std::max<std::int64_t>(1, std::min<std::int64_t>(threads, series / at_once));
  run_workers(workers, [&](std::int64_t) {
    DrivenPath<Observed, Real> path(reading);
    for (std::int64_t first = next.fetch_add(at_once); first < series; first = next.fetch_add(at_once))
      for (std::int64_t i = first; i < std::min(first + at_once, series); ++i) {
        const std::int64_t begin = offsets[i], knot = 2 * begin, at = knot * reading.width();
        ends[i] = knot + path.fill(offsets[i + 1] - begin, times + begin, start[i],
                                   values + begin * reading.channels, knot_times + knot, knot_values + at,
                                   knot_slopes + at);
      }
  });
}

#define DENOTS_FILL(Observed, Real)                                                                \
  template void fill_driven_path(const Reading&, std::int64_t, const std::int64_t*, const double*, \
                                 const double*, const Observed*, double*, Real*, Real*, std::int64_t*, int);
DENOTS_FILL(float, float)
DENOTS_FILL(float, double)
DENOTS_FILL(double, float)
DENOTS_FILL(double, double)
#undef DENOTS_FILL

}  // namespace denots
