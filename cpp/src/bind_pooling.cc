#include "bind_pooling.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <string>

#include "arguments.h"
#include "denots/convolutions.h"
#include "denots/cpu.h"
#include "denots/drive.h"
#include "denots/driven_path.h"
#include "denots/normal_scores.h"
#include "denots/oscillators.h"
#include "denots/summary.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace denots::arguments;

namespace {

using Floats = Vector<const float>;
using Indices = Vector<const std::int32_t>;

// The signals that features are pooled from; series may share knots.
denots::Signals signals_of(Vector<const std::int64_t> begins, Vector<const std::int64_t> ends,
                           Vector<const double> times, Matrix<const float> values, Matrix<const float> slopes,
                           Vector<const double> spans) {
  const auto n = static_cast<std::int64_t>(begins.shape(0)), N = static_cast<std::int64_t>(times.shape(0)),
             C = static_cast<std::int64_t>(values.shape(1));
  expect(ends, "ends", {n});
  expect(values, "values", {N, C});
  const bool straight = slopes.shape(0) == 0;
  expect(slopes, "slopes", {straight ? 0 : N, C});
  expect(spans, "spans", {n});
  for (std::int64_t i = 0; i < n; ++i)
    require(begins.data()[i] >= 0 && begins.data()[i] < ends.data()[i] && ends.data()[i] <= N,
            "begins, ends: series " + std::to_string(i) + " needs a knot, inside the signal.");
  return {n,
          C,
          begins.data(),
          ends.data(),
          times.data(),
          values.data(),
          straight ? nullptr : slopes.data(),
          spans.data()};
}

// Which channels each of many filters reads.
void expect_terms(Indices used, Matrix<const std::int32_t> channel, std::int64_t filters,
                  std::int64_t channels) {
  const auto terms = static_cast<std::int64_t>(channel.shape(0));
  expect(used, "used", {filters});
  expect(channel, "channel", {terms, filters});
  for (std::int64_t i = 0; i < filters; ++i)
    require(used.data()[i] >= 0 && used.data()[i] <= terms,
            "used: expected at most as many terms as there are.");
  for (std::int64_t i = 0; i < terms * filters; ++i)
    require(channel.data()[i] >= 0 && channel.data()[i] < channels, "channel: there is no such channel.");
}

void pool_oscillators(Vector<const std::int64_t> begins, Vector<const std::int64_t> ends,
                      Vector<const double> times, Matrix<const float> values, Matrix<const float> slopes,
                      Vector<const double> spans, Floats rate, Floats frequency, Floats cosine, Floats sine,
                      Floats relative, Indices used, Matrix<const std::int32_t> channel,
                      Matrix<const float> value_weight, Matrix<const float> slope_weight,
                      Matrix<const float> threshold, Matrix<const float> window, std::int64_t forward,
                      std::int64_t pieces, bool whole, Cube<float> pooled, int threads) {
  const denots::Signals signals = signals_of(begins, ends, times, values, slopes, spans);
  const auto O = static_cast<std::int64_t>(rate.shape(0)), K = static_cast<std::int64_t>(channel.shape(0)),
             T = static_cast<std::int64_t>(threshold.shape(0));
  for (const Floats* numbers : {&rate, &frequency, &cosine, &sine, &relative})
    expect(*numbers, "numbers of the bank", {O});
  expect_terms(used, channel, O, signals.channels);
  expect(value_weight, "value_weight", {K, O});
  expect(slope_weight, "slope_weight", {K, O});
  expect(threshold, "threshold", {T, O});
  expect(window, "window", {2, T});
  for (std::int64_t t = 0; t < T; ++t)
    require(0 <= window.data()[t] && window.data()[t] < window.data()[T + t] && window.data()[T + t] <= 1,
            "window: expected shares of the series, the first before the second.");
  require(T <= denots::most_thresholds, "threshold: expected at most 8 an oscillator.");
  require(forward >= 0 && forward <= O, "forward: expected at most as many as there are oscillators.");
  require(pieces >= 1, "pieces: expected at least 1.");
  require(std::all_of(rate.data(), rate.data() + O, [](float it) { return it > 0; }),
          "rate: expected positive numbers.");
  expect_threads(threads);
  const denots::Bank bank{O,
                          K,
                          T,
                          forward,
                          rate.data(),
                          frequency.data(),
                          cosine.data(),
                          sine.data(),
                          relative.data(),
                          used.data(),
                          channel.data(),
                          value_weight.data(),
                          slope_weight.data(),
                          threshold.data(),
                          window.data()};
  expect(pooled, "pooled", {signals.series, denots::pooled_rows(bank, whole), O});
  const denots::Target target = denots::choose_target().target;
  nb::gil_scoped_release release;
  denots::pool_oscillators(bank, signals, pieces, whole, pooled.data(), threads, target);
}

void sample_evenly(Vector<const std::int64_t> begins, Vector<const std::int64_t> ends,
                   Vector<const double> times, Matrix<const float> values, Matrix<const float> slopes,
                   Vector<const double> spans, Cube<float> grid, int threads) {
  const denots::Signals signals = signals_of(begins, ends, times, values, slopes, spans);
  require(signals.slopes == nullptr, "slopes: expected none, as of straight lines.");
  const auto points = static_cast<std::int64_t>(grid.shape(2));
  expect(grid, "grid", {signals.series, signals.channels, points});
  expect_threads(threads);
  nb::gil_scoped_release release;
  denots::sample_evenly(signals, points, grid.data(), threads);
}

void pool_convolutions(Cube<const float> grid, Matrix<const std::int32_t> places, Indices dilation,
                       Indices difference, Indices padded, Indices used, Matrix<const std::int32_t> channel,
                       Matrix<const float> weight, Matrix<const float> threshold, Cube<float> shares,
                       int threads) {
  using denots::Filters;
  const auto n = static_cast<std::int64_t>(grid.shape(0)), C = static_cast<std::int64_t>(grid.shape(1)),
             points = static_cast<std::int64_t>(grid.shape(2)),
             F = static_cast<std::int64_t>(dilation.shape(0)),
             K = static_cast<std::int64_t>(channel.shape(0)),
             T = static_cast<std::int64_t>(threshold.shape(0));
  require(F >= 1, "dilation: expected at least one filter.");
  expect(places, "places", {3, F});
  for (std::int64_t f = 0; f < F; ++f) {
    const std::int32_t *const first = places.data() + f, *const second = first + F, *const third = second + F;
    require(0 <= *first && *first < *second && *second < *third && *third < Filters::length,
            "places: expected ascending numbers below 9.");
  }
  for (const Indices* flags : {&difference, &padded}) {
    expect(*flags, "flags of the filters", {F});
    require(std::all_of(flags->data(), flags->data() + F, [](std::int32_t it) { return it == 0 || it == 1; }),
            "flags of the filters: expected 0 or 1.");
  }
  for (std::int64_t f = 0; f < F; ++f)
    require(
        dilation.data()[f] >= 1 && 2 * Filters::middle * dilation.data()[f] + difference.data()[f] < points,
        "dilation: a filter has to fit into the grid.");
  expect_terms(used, channel, F, C);
  expect(weight, "weight", {K, F});
  expect(threshold, "threshold", {T, F});
  expect(shares, "shares", {n, T, F});
  expect_threads(threads);
  const Filters filters{F,
                        K,
                        T,
                        places.data(),
                        dilation.data(),
                        difference.data(),
                        padded.data(),
                        used.data(),
                        channel.data(),
                        weight.data(),
                        threshold.data()};
  const denots::Target target = denots::choose_target().target;
  nb::gil_scoped_release release;
  denots::pool_convolutions(filters, n, C, points, grid.data(), shares.data(), threads, target);
}

template <class Real>
void drive_rows(Vector<const std::int64_t> offsets, Vector<const double> times, Matrix<const Real> values,
                Vector<const double> centre, Vector<const double> scale, bool counted, bool timed,
                double start, double end, Vector<const std::int64_t> driven_offsets,
                Vector<double> driven_times, Matrix<float> driven, int threads) {
  const denots::Drive drive{counted, timed, centre.data(), scale.data(), start, end};
  const auto n = static_cast<std::int64_t>(offsets.shape(0)) - 1,
             N = static_cast<std::int64_t>(times.shape(0)), C = static_cast<std::int64_t>(values.shape(1)),
             driven_rows = static_cast<std::int64_t>(driven_times.shape(0)), columns = drive.columns(C);
  expect_offsets(offsets, N);
  expect(values, "values", {N, C});
  expect(centre, "centre", {columns});
  expect(scale, "scale", {columns});
  expect_offsets(driven_offsets, driven_rows);
  expect(driven_offsets, "driven_offsets", {n + 1});
  expect(driven, "driven", {driven_rows, columns});
  const std::int64_t *from = offsets.data(), *to = driven_offsets.data();
  for (std::int64_t i = 0; i < n; ++i) {
    require(from[i] < from[i + 1], "offsets: series " + std::to_string(i) + " needs a row.");
    const int added = drive.late(times.data()[from[i]]) + drive.early(times.data()[from[i + 1] - 1]);
    require(to[i + 1] - to[i] == from[i + 1] - from[i] + added,
            "driven_offsets: series " + std::to_string(i) +
                " needs its rows and those at the ends of the clock.");
  }
  expect_threads(threads);
  nb::gil_scoped_release release;
  denots::drive_rows<Real>(drive, n, C, from, times.data(), values.data(), to, driven_times.data(),
                           driven.data(), threads);
}

template <class Real>
void bind_drive(nb::module_& m) {
  m.def("drive_rows", &::drive_rows<Real>, nb::kw_only(), "offsets"_a.noconvert(), "times"_a.noconvert(),
        "values"_a.noconvert(), "centre"_a.noconvert(), "scale"_a.noconvert(), "counted"_a, "timed"_a,
        "start"_a, "end"_a, "driven_offsets"_a.noconvert(), "driven_times"_a.noconvert(),
        "driven"_a.noconvert(), "threads"_a);
}

template <class Real>
void summarise(Vector<const std::int64_t> offsets, Vector<const double> times, Vector<const double> start,
               Matrix<const Real> values, double late, std::int64_t first_column, Matrix<double> table,
               int threads) {
  const auto n = static_cast<std::int64_t>(offsets.shape(0)) - 1,
             N = static_cast<std::int64_t>(times.shape(0)), C = static_cast<std::int64_t>(values.shape(1)),
             columns = static_cast<std::int64_t>(table.shape(1));
  expect_offsets(offsets, N);
  for (std::int64_t i = 0; i < n; ++i)
    require(offsets.data()[i] < offsets.data()[i + 1],
            "offsets: series " + std::to_string(i) + " needs a row.");
  expect(values, "values", {N, C});
  expect(start, "start", {n});
  require(first_column >= 0, "first_column: expected a column of the table.");
  expect(table, "table", {n, first_column + C * denots::statistics_a_channel});
  expect_threads(threads);
  nb::gil_scoped_release release;
  denots::summarise<Real>(n, C, offsets.data(), times.data(), start.data(), values.data(), late, columns,
                          first_column, table.data(), threads);
}

template <class Real>
void bind_summary(nb::module_& m) {
  m.def("summarise", &::summarise<Real>, nb::kw_only(), "offsets"_a.noconvert(), "times"_a.noconvert(),
        "start"_a.noconvert(), "values"_a.noconvert(), "late"_a, "first_column"_a, "table"_a.noconvert(),
        "threads"_a);
}

template <class Observed, class Real>
void fill_driven_path(Vector<const std::int64_t> offsets, Vector<const double> times,
                      Vector<const double> start, Matrix<const Observed> values, bool presence, bool ages,
                      bool differences, double pace, double depth, Vector<const double> centre,
                      Vector<const double> scale, Vector<const double> slope_scale, Vector<double> knot_times,
                      Matrix<Real> knot_values, Matrix<Real> knot_slopes, Integers ends, int threads) {
  const auto n = static_cast<std::int64_t>(offsets.shape(0)) - 1,
             N = static_cast<std::int64_t>(times.shape(0)), C = static_cast<std::int64_t>(values.shape(1));
  const denots::Reading reading{C,     presence,      ages,         differences,       pace,
                                depth, centre.data(), scale.data(), slope_scale.data()};
  expect_offsets(offsets, N);
  for (std::int64_t i = 0; i < n; ++i)
    require(offsets.data()[i] < offsets.data()[i + 1],
            "offsets: series " + std::to_string(i) + " needs a row.");
  expect(values, "values", {N, C});
  expect(start, "start", {n});
  expect(centre, "centre", {reading.columns()});
  expect(scale, "scale", {reading.columns()});
  expect(slope_scale, "slope_scale", {C});
  expect(knot_times, "knot_times", {2 * N});
  expect(knot_values, "knot_values", {2 * N, reading.width()});
  expect(knot_slopes, "knot_slopes", {2 * N, reading.width()});
  expect(ends, "ends", {n});
  expect_threads(threads);
  nb::gil_scoped_release release;
  denots::fill_driven_path<Observed, Real>(reading, n, offsets.data(), times.data(), start.data(),
                                           values.data(), knot_times.data(), knot_values.data(),
                                           knot_slopes.data(), ends.data(), threads);
}

template <class Observed, class Real>
void bind_driven_path(nb::module_& m) {
  m.def("fill_driven_path", &::fill_driven_path<Observed, Real>, nb::kw_only(), "offsets"_a.noconvert(),
        "times"_a.noconvert(), "start"_a.noconvert(), "values"_a.noconvert(), "presence"_a, "ages"_a,
        "differences"_a, "pace"_a, "depth"_a, "centre"_a.noconvert(), "scale"_a.noconvert(),
        "slope_scale"_a.noconvert(), "knot_times"_a.noconvert(), "knot_values"_a.noconvert(),
        "knot_slopes"_a.noconvert(), "ends"_a.noconvert(), "threads"_a);
}

void normal_scores(Matrix<const double> table, Matrix<const double> edges, Vector<const double> levels,
                   Vector<const std::int64_t> holes, Matrix<float> scores, int threads) {
  const auto rows = static_cast<std::int64_t>(table.shape(0)), F = static_cast<std::int64_t>(table.shape(1)),
             Q = static_cast<std::int64_t>(levels.shape(0)), H = static_cast<std::int64_t>(holes.shape(0));
  require(Q >= 1, "levels: expected at least 1.");
  expect(edges, "edges", {F, Q});
  for (std::int64_t k = 0; k < H; ++k)
    require(holes.data()[k] >= 0 && holes.data()[k] < F, "holes: there is no such column.");
  expect(scores, "scores", {rows, F + H});
  expect_threads(threads);
  nb::gil_scoped_release release;
  denots::normal_scores(rows, F, table.data(), Q, edges.data(), levels.data(), H, holes.data(), scores.data(),
                        threads);
}

}  // namespace

void denots::bind_pooling(nb::module_& m) {
  bind_drive<float>(m);
  bind_drive<double>(m);
  bind_driven_path<float, float>(m);
  bind_driven_path<float, double>(m);
  bind_driven_path<double, float>(m);
  bind_driven_path<double, double>(m);
  bind_summary<float>(m);
  bind_summary<double>(m);
  m.def("normal_scores", &::normal_scores, nb::kw_only(), "table"_a.noconvert(), "edges"_a.noconvert(),
        "levels"_a.noconvert(), "holes"_a.noconvert(), "scores"_a.noconvert(), "threads"_a);
  m.def("sample_evenly", &::sample_evenly, nb::kw_only(), "begins"_a.noconvert(), "ends"_a.noconvert(),
        "times"_a.noconvert(), "values"_a.noconvert(), "slopes"_a.noconvert(), "spans"_a.noconvert(),
        "grid"_a.noconvert(), "threads"_a);
  m.def("pool_convolutions", &::pool_convolutions, nb::kw_only(), "grid"_a.noconvert(),
        "places"_a.noconvert(), "dilation"_a.noconvert(), "difference"_a.noconvert(), "padded"_a.noconvert(),
        "used"_a.noconvert(), "channel"_a.noconvert(), "weight"_a.noconvert(), "threshold"_a.noconvert(),
        "shares"_a.noconvert(), "threads"_a);
  m.def("pool_oscillators", &::pool_oscillators, nb::kw_only(), "begins"_a.noconvert(), "ends"_a.noconvert(),
        "times"_a.noconvert(), "values"_a.noconvert(), "slopes"_a.noconvert(), "spans"_a.noconvert(),
        "rate"_a.noconvert(), "frequency"_a.noconvert(), "cosine"_a.noconvert(), "sine"_a.noconvert(),
        "relative"_a.noconvert(), "used"_a.noconvert(), "channel"_a.noconvert(), "value_weight"_a.noconvert(),
        "slope_weight"_a.noconvert(), "threshold"_a.noconvert(), "window"_a.noconvert(), "forward"_a,
        "pieces"_a, "whole"_a, "pooled"_a.noconvert(), "threads"_a);
}
