// The only file that knows Python. Arrays are never converted: a wrong type or layout is an
// error here, because a silent copy of an output array would lose what the kernel writes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "denots/cpu.h"
#include "denots/solve.h"
#include "denots/spline.h"

namespace nb = nanobind;
using namespace nb::literals;
using denots::Tape;

namespace {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Cube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Integers = Vector<std::int64_t>;

template <class Real>
void fit_splines(int kind, Vector<const std::int64_t> offsets, Vector<const double> times,
                 Matrix<const Real> observed, Matrix<Real> value, Matrix<Real> slope_before,
                 Matrix<Real> slope_after, int threads) {
  nb::gil_scoped_release release;
  denots::fit_splines<Real>(static_cast<denots::Spline>(kind),
                            static_cast<std::int64_t>(offsets.shape(0)) - 1,
                            static_cast<std::int64_t>(observed.shape(1)), offsets.data(), times.data(),
                            observed.data(), value.data(), slope_before.data(), slope_after.data(), threads);
}

template <class Real>
void bind_splines(nb::module_& m) {
  m.def("fit_splines", &fit_splines<Real>, "kind"_a, "offsets"_a.noconvert(), "times"_a.noconvert(),
        "observed"_a.noconvert(), "value"_a.noconvert(), "slope_before"_a.noconvert(),
        "slope_after"_a.noconvert(), "threads"_a);
}

template <class Array>
void expect(const Array& array, const char* name, std::initializer_list<std::int64_t> shape) {
  std::size_t axis = 0;
  for (const std::int64_t size : shape) {
    const auto found = static_cast<std::int64_t>(array.shape(axis++));
    if (found != size)
      throw nb::value_error((std::string(name) + ": axis " + std::to_string(axis - 1) + " has " +
                             std::to_string(found) + " entries; expected " + std::to_string(size) + ".")
                                .c_str());
  }
}

template <class... Arrays>
std::shared_ptr<void> hold(Arrays... arrays) {
  return std::make_shared<std::tuple<Arrays...>>(arrays...);
}

// A denots::Method that owns its tables.
class BoundMethod {
 public:
  BoundMethod(int order, Vector<const double> nodes, Matrix<const double> weights, Vector<const double> error,
              Matrix<const double> dense)
      : keep_(hold(nodes, weights, error, dense)) {
    const auto stages = static_cast<std::int64_t>(nodes.shape(0));
    if (stages < 3 || stages > denots::max_stages) throw nb::value_error("a method has 3 to 7 stages.");
    expect(weights, "weights", {stages, stages});
    expect(error, "error", {stages});
    expect(dense, "dense", {stages});
    method = {static_cast<int>(stages),
              order,
              static_cast<int>(dense.shape(1)),
              nodes.data(),
              weights.data(),
              error.data(),
              dense.data()};
  }

  denots::Method method;

 private:
  std::shared_ptr<void> keep_;
};

// A denots::Problem with a hold on the arrays it points to.
template <class Real>
class BoundProblem {
 public:
  BoundProblem(int field, const BoundMethod& method, double rtol, double atol, std::int64_t max_steps,
               Vector<const std::int64_t> begins, Vector<const std::int64_t> ends, Vector<const double> times,
               Matrix<const Real> values, Matrix<const Real> slopes, Vector<const double> start,
               Matrix<const double> queries, Matrix<const std::int64_t> positions, Matrix<const Real> h0,
               Matrix<const Real> weight_hh, Vector<const Real> bias_hh, Matrix<const Real> weight_in,
               Matrix<const Real> bias, Matrix<const Real> weight_out, Vector<const Real> bias_out)
      : keep_(hold(method, begins, ends, times, values, slopes, start, queries, positions, h0, weight_hh,
                   bias_hh, weight_in, bias, weight_out, bias_out)) {
    const auto n = static_cast<std::int64_t>(start.shape(0)), H = static_cast<std::int64_t>(h0.shape(1));
    const auto C = static_cast<std::int64_t>(values.shape(1)), N = static_cast<std::int64_t>(times.shape(0));
    const auto K = static_cast<std::int64_t>(queries.shape(1)),
               rows = static_cast<std::int64_t>(bias.shape(0));
    if (field < 0 || field >= denots::fields) throw nb::value_error("no such field.");
    if (H < 1 || C < 1 || K < 1) throw nb::value_error("states, channels and queries must not be empty.");
    expect(begins, "begins", {n});
    expect(ends, "ends", {n});
    expect(values, "values", {N, C});
    expect(slopes, "slopes", {N, C});
    expect(queries, "queries", {n, K});
    expect(positions, "positions", {n, K});
    expect(h0, "h0", {n, H});
    const denots::Rows shape(static_cast<denots::Field>(field), H, C);
    expect(weight_hh, "weight_hh", {shape.hidden, H});
    expect(bias_hh, "bias_hh", {shape.hidden});
    expect(weight_in, "weight_in", {shape.drive, C});
    expect(bias, "bias", {rows == 1 ? 1 : n, shape.drive});
    expect(weight_out, "weight_out", {shape.outer, H});
    expect(bias_out, "bias_out", {shape.outer});
    problem = {static_cast<denots::Field>(field),
               method.method,
               rtol,
               atol,
               max_steps,
               n,
               C,
               H,
               K,
               rows,
               N,
               begins.data(),
               ends.data(),
               times.data(),
               values.data(),
               slopes.data(),
               start.data(),
               queries.data(),
               positions.data(),
               h0.data(),
               weight_hh.data(),
               bias_hh.data(),
               weight_in.data(),
               bias.data(),
               weight_out.data(),
               bias_out.data()};
    check_signal();
  }

  std::unique_ptr<Tape> solve(Cube<Real> states, Integers status, Integers evaluations, Integers accepted,
                              Integers rejected, Vector<double> reached, bool record, std::size_t tape_budget,
                              int threads) const {
    const std::int64_t n = problem.series;
    expect(states, "states", {n, problem.queries, problem.states});
    for (const Integers* counts : {&status, &evaluations, &accepted, &rejected})
      expect(*counts, "counts", {n});
    expect(reached, "reached", {n});
    std::unique_ptr<Tape> tape;
    if (record)
      tape = std::make_unique<Tape>(n, static_cast<std::size_t>(problem.states) * sizeof(Real), tape_budget);
    nb::gil_scoped_release release;
    denots::solve<Real>(
        problem,
        {states.data(), status.data(), evaluations.data(), accepted.data(), rejected.data(), reached.data()},
        tape.get(), threads);
    return tape;
  }

  void pull_back(const Tape& tape, Cube<const Real> states, Vector<const std::int64_t> status,
                 Vector<const std::int64_t> accepted, Matrix<Real> weight_hh, Vector<Real> bias_hh,
                 Matrix<Real> weight_in, Matrix<Real> bias, Matrix<Real> weight_out, Vector<Real> bias_out,
                 Matrix<Real> h0, std::optional<Matrix<Real>> values, std::optional<Matrix<Real>> slopes,
                 int threads) const {
    const std::int64_t n = problem.series, H = problem.states;
    const denots::Rows shape(problem.field, H, problem.channels);
    if (tape.series() != n) throw nb::value_error("the tape was recorded for other series.");
    expect(states, "states", {n, problem.queries, H});
    expect(status, "status", {n});
    expect(accepted, "accepted", {n});
    expect(weight_hh, "weight_hh", {shape.hidden, H});
    expect(bias_hh, "bias_hh", {shape.hidden});
    expect(weight_in, "weight_in", {shape.drive, problem.channels});
    expect(bias, "bias", {problem.bias_rows, shape.drive});
    expect(weight_out, "weight_out", {shape.outer, H});
    expect(bias_out, "bias_out", {shape.outer});
    expect(h0, "h0", {n, H});
    if (values.has_value() != slopes.has_value())
      throw nb::value_error("ask for values and slopes together.");
    for (const auto* knots : {&values, &slopes})
      if (knots->has_value()) expect(**knots, "values and slopes", {problem.knots, problem.channels});
    nb::gil_scoped_release release;
    denots::pull_back<Real>(problem, tape,
                            {states.data(), status.data(), accepted.data(), weight_hh.data(), bias_hh.data(),
                             weight_in.data(), bias.data(), weight_out.data(), bias_out.data(), h0.data(),
                             values ? values->data() : nullptr, slopes ? slopes->data() : nullptr},
                            threads);
  }

  denots::Problem<Real> problem;

 private:
  // Kernels read and write where these indices point.
  void check_signal() const {
    const std::int64_t n = problem.series, K = problem.queries;
    for (std::int64_t i = 0; i < n; ++i)
      if (problem.begins[i] < 0 || problem.ends[i] <= problem.begins[i] || problem.ends[i] > problem.knots)
        throw nb::value_error("begins, ends: every series has at least one knot, inside the signal.");
    for (std::int64_t i = 0; i < n * K; ++i)
      if (problem.positions[i] < 0 || problem.positions[i] >= K)
        throw nb::value_error("positions: outside 0 .. K - 1.");
  }

  std::shared_ptr<void> keep_;
};

template <class Real>
void bind_solver(nb::module_& m, const char* name) {
  using P = BoundProblem<Real>;
  nb::class_<P>(m, name)
      .def(nb::init<int, const BoundMethod&, double, double, std::int64_t, Vector<const std::int64_t>,
                    Vector<const std::int64_t>, Vector<const double>, Matrix<const Real>, Matrix<const Real>,
                    Vector<const double>, Matrix<const double>, Matrix<const std::int64_t>,
                    Matrix<const Real>, Matrix<const Real>, Vector<const Real>, Matrix<const Real>,
                    Matrix<const Real>, Matrix<const Real>, Vector<const Real>>(),
           nb::kw_only(), "field"_a, "method"_a, "rtol"_a, "atol"_a, "max_steps"_a, "begins"_a.noconvert(),
           "ends"_a.noconvert(), "times"_a.noconvert(), "values"_a.noconvert(), "slopes"_a.noconvert(),
           "start"_a.noconvert(), "queries"_a.noconvert(), "positions"_a.noconvert(), "h0"_a.noconvert(),
           "weight_hh"_a.noconvert(), "bias_hh"_a.noconvert(), "weight_in"_a.noconvert(),
           "bias"_a.noconvert(), "weight_out"_a.noconvert(), "bias_out"_a.noconvert())
      .def("solve", &P::solve, nb::kw_only(), "states"_a.noconvert(), "status"_a.noconvert(),
           "evaluations"_a.noconvert(), "accepted"_a.noconvert(), "rejected"_a.noconvert(),
           "reached"_a.noconvert(), "record"_a, "tape_budget"_a, "threads"_a)
      .def("pull_back", &P::pull_back, nb::kw_only(), "tape"_a, "states"_a.noconvert(),
           "status"_a.noconvert(), "accepted"_a.noconvert(), "weight_hh"_a.noconvert(),
           "bias_hh"_a.noconvert(), "weight_in"_a.noconvert(), "bias"_a.noconvert(),
           "weight_out"_a.noconvert(), "bias_out"_a.noconvert(), "h0"_a.noconvert(),
           "values"_a.noconvert().none() = nb::none(), "slopes"_a.noconvert().none() = nb::none(),
           "threads"_a);
}

}  // namespace

NB_MODULE(_native, m) {
  // A solution that is still alive when Python ends holds its tape; that is no leak.
  nb::set_leak_warnings(false);
  bind_splines<float>(m);
  bind_splines<double>(m);
  nb::class_<BoundMethod>(m, "Method")
      .def(nb::init<int, Vector<const double>, Matrix<const double>, Vector<const double>,
                    Matrix<const double>>(),
           nb::kw_only(), "order"_a, "nodes"_a.noconvert(), "weights"_a.noconvert(), "error"_a.noconvert(),
           "dense"_a.noconvert());
  nb::class_<Tape>(m, "Tape").def_prop_ro("bytes", &Tape::bytes);
  bind_solver<float>(m, "Problem32");
  bind_solver<double>(m, "Problem64");
  m.def("target", [] { return denots::target_name(denots::choose_target()); });
  m.def("supported", [](int target) { return denots::supported(static_cast<denots::Target>(target)); });
}
