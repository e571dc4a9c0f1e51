// A problem that owns its arrays, each of exactly the size the solver may touch.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "denots/cpu.h"
#include "denots/solve.h"

namespace denots::check {

template <class Real>
struct Case {
  std::string field = "gru-none";
  Method method{};
  double rtol = 1e-3, atol = 1e-6;
  std::int64_t max_steps = 1000, series = 1, channels = 1, states = 1, queries = 1, bias_rows = 1;
  std::vector<std::int64_t> offsets, positions;
  std::vector<double> times, start, query_times;
  mutable std::vector<double> stop;  // the last knot of each series
  bool land_on_knots = false;
  std::vector<Real> values, slopes, h0, weight_hh, bias_hh, weight_in, bias, weight_out, bias_out;

  Rows rows_of_field() const { return rows_of(field, states, channels); }

  // All weights in the sizes that the field has.
  void size_weights() {
    const Rows shape = rows_of_field();
    weight_hh.resize(shape.hidden * states), bias_hh.resize(shape.hidden);
    weight_in.resize(shape.drive * channels), bias.resize(bias_rows * shape.drive);
    weight_out.resize(shape.outer * states), bias_out.resize(shape.outer);
  }

  Problem<Real> view() const {
    stop.clear();
    for (std::int64_t i = 0; i < series; ++i) stop.push_back(times[offsets[i + 1] - 1]);
    return {field.c_str(),
            method,
            rtol,
            atol,
            max_steps,
            series,
            channels,
            states,
            queries,
            bias_rows,
            static_cast<std::int64_t>(times.size()),
            offsets.data(),
            offsets.data() + 1,
            times.data(),
            values.data(),
            slopes.data(),
            start.data(),
            stop.data(),
            query_times.data(),
            positions.data(),
            h0.data(),
            weight_hh.data(),
            bias_hh.data(),
            weight_in.data(),
            bias.data(),
            weight_out.data(),
            bias_out.data(),
            land_on_knots};
  }

  template <class T>
  static std::vector<T> rows(const std::vector<T>& from, std::int64_t first, std::int64_t last,
                             std::int64_t width) {
    return std::vector<T>(from.begin() + first * width, from.begin() + last * width);
  }

  // The same problem with only series i.
  Case alone(std::int64_t i) const {
    Case one = *this;
    const std::int64_t begin = offsets[i], end = offsets[i + 1];
    one.series = 1;
    one.offsets = {0, end - begin};
    one.times = rows(times, begin, end, 1);
    one.values = rows(values, begin, end, channels);
    one.slopes = rows(slopes, begin, end, channels);
    one.start = rows(start, i, i + 1, 1);
    one.query_times = rows(query_times, i, i + 1, queries);
    one.positions = rows(positions, i, i + 1, queries);
    one.h0 = rows(h0, i, i + 1, states);
    if (bias_rows > 1) one.bias = rows(bias, i, i + 1, rows_of_field().drive);
    one.bias_rows = 1;
    return one;
  }
};

constexpr double untouched = -98765432.0;

template <class Real>
struct Found {
  std::vector<Real> states;
  std::vector<std::int64_t> status, evaluations, accepted, rejected;
  std::vector<double> reached;
  std::unique_ptr<Tape> tape;
};

template <class Real>
Found<Real> solved(const Case<Real>& c, bool record, int threads,
                   std::size_t tape_budget = std::size_t{1} << 26, Target target = choose_target().target) {
  const auto n = static_cast<std::size_t>(c.series);
  Found<Real> found;
  found.states.assign(static_cast<std::size_t>(c.series * c.queries * c.states),
                      static_cast<Real>(untouched));
  found.status.assign(n, -1), found.evaluations.assign(n, -1);
  found.accepted.assign(n, -1), found.rejected.assign(n, -1), found.reached.assign(n, untouched);
  if (record)
    found.tape =
        std::make_unique<Tape>(c.series, static_cast<std::size_t>(c.states) * sizeof(Real), tape_budget);
  solve<Real>(c.view(),
              {found.states.data(), found.status.data(), found.evaluations.data(), found.accepted.data(),
               found.rejected.data(), found.reached.data()},
              found.tape.get(), threads, target);
  return found;
}

template <class Real>
struct Pulled {
  std::vector<Real> weight_hh, bias_hh, weight_in, bias, weight_out, bias_out, h0, values, slopes;

  std::vector<const std::vector<Real>*> all() const {
    return {&weight_hh, &bias_hh, &weight_in, &bias, &weight_out, &bias_out, &h0, &values, &slopes};
  }
};

template <class Real>
Pulled<Real> pulled(const Case<Real>& c, const Found<Real>& found, const std::vector<Real>& cotangent,
                    int threads) {
  const Real fill = static_cast<Real>(untouched);
  Pulled<Real> to{std::vector<Real>(c.weight_hh.size(), fill),  std::vector<Real>(c.bias_hh.size(), fill),
                  std::vector<Real>(c.weight_in.size(), fill),  std::vector<Real>(c.bias.size(), fill),
                  std::vector<Real>(c.weight_out.size(), fill), std::vector<Real>(c.bias_out.size(), fill),
                  std::vector<Real>(c.h0.size(), fill),         std::vector<Real>(c.values.size(), fill),
                  std::vector<Real>(c.slopes.size(), fill)};
  pull_back<Real>(c.view(), *found.tape,
                  {cotangent.data(), found.status.data(), found.accepted.data(), to.weight_hh.data(),
                   to.bias_hh.data(), to.weight_in.data(), to.bias.data(), to.weight_out.data(),
                   to.bias_out.data(), to.h0.data(), to.values.data(), to.slopes.data()},
                  threads);
  return to;
}

// Calls work once with each CPU target that can run here.
template <class Work>
void on_each_target(Work work) {
  for (const Target target : {Target::baseline, Target::avx2, Target::avx512}) {
    if (!supported(target)) continue;
    setenv("DENOTS_TARGET", target_name(target), 1);
    work(target);
  }
  unsetenv("DENOTS_TARGET");
}

}  // namespace denots::check
