// Native functions and classes as Python sees them. Only the bindings and arguments.h know Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.h"
#include "bind_curves.h"
#include "bind_layers.h"
#include "bind_pooling.h"
#include "bind_rows.h"
#include "bind_splines.h"
#include "denots/cpu.h"
#include "denots/self_check.h"
#include "denots/solve.h"

namespace nb = nanobind;
using namespace nb::literals;
using denots::Tape;
using namespace denots::arguments;

namespace {

template <class... Arrays>
std::shared_ptr<void> hold(Arrays... arrays) {
  return std::make_shared<std::tuple<Arrays...>>(arrays...);
}

// A denots::Method that owns its tables.
class BoundMethod {
 public:
  BoundMethod(int order, double safety, Vector<const double> nodes, Matrix<const double> weights,
              Vector<const double> error, Matrix<const double> dense)
      : keep_(hold(nodes, weights, error, dense)) {
    const auto stages = static_cast<std::int64_t>(nodes.shape(0));
    require(stages >= 3 && stages <= denots::max_stages, "nodes: a method has 3 to 7 stages.");
    require(order >= 1, "order: expected at least 1, got " + std::to_string(order) + ".");
    expect(weights, "weights", {stages, stages});
    expect(error, "error", {stages});
    expect(dense, "dense", {stages});
    require(dense.shape(1) >= 1, "dense: expected at least one power.");
    require(reads_some(error.data(), stages), "error: all weights are zero, so steps have no error.");
    for (std::int64_t s = 1; s < stages; ++s)
      require(reads_some(weights.data() + s * stages, s),
              "weights: stage " + std::to_string(s) + " reads no stage before it.");
    for (std::int64_t j = 0; j < stages - 1; ++j)
      require(read_by_some(weights.data(), stages, j),
              "weights: no later stage reads stage " + std::to_string(j) + ".");
    method = {static_cast<int>(stages),
              order,
              static_cast<int>(dense.shape(1)),
              nodes.data(),
              weights.data(),
              error.data(),
              dense.data(),
              safety};
  }

  denots::Method method;

 private:
  static bool reads_some(const double* weights, std::int64_t stages) {
    return std::any_of(weights, weights + stages, [](double weight) { return weight != 0.0; });
  }
  static bool read_by_some(const double* weights, std::int64_t stages, std::int64_t j) {
    for (std::int64_t s = j + 1; s < stages; ++s)
      if (weights[s * stages + j] != 0.0) return true;
    return false;
  }

  std::shared_ptr<void> keep_;
};

// A tape, and which problem it belongs to.
struct BoundTape {
  Tape tape;
  std::int64_t problem;

  BoundTape(std::int64_t series, std::size_t state_bytes, std::size_t budget, std::int64_t problem)
      : tape(series, state_bytes, budget), problem(problem) {}
};

// A denots::Problem with a hold on the arrays it points to.
template <class Real>
class BoundProblem {
 public:
  BoundProblem(const std::string& field, const BoundMethod& method, double rtol, double atol,
               std::int64_t max_steps, Vector<const std::int64_t> begins, Vector<const std::int64_t> ends,
               Vector<const double> times, Matrix<const Real> values, Matrix<const Real> slopes,
               Vector<const double> start, Vector<const double> stop, Matrix<const double> queries,
               Matrix<const std::int64_t> positions, Matrix<const Real> h0, Matrix<const Real> weight_hh,
               Vector<const Real> bias_hh, Matrix<const Real> weight_in, Matrix<const Real> bias,
               Matrix<const Real> weight_out, Vector<const Real> bias_out, bool land_on_knots)
      : field_(field),
        keep_(hold(method, begins, ends, times, values, slopes, start, stop, queries, positions, h0,
                   weight_hh, bias_hh, weight_in, bias, weight_out, bias_out)) {
    const auto n = static_cast<std::int64_t>(start.shape(0)), H = static_cast<std::int64_t>(h0.shape(1));
    const auto C = static_cast<std::int64_t>(values.shape(1)), N = static_cast<std::int64_t>(times.shape(0));
    const auto K = static_cast<std::int64_t>(queries.shape(1)),
               rows = static_cast<std::int64_t>(bias.shape(0));
    require(H >= 1 && C >= 1 && K >= 1, "states, channels and queries must not be empty.");
    require(rtol >= 0 && atol >= 0 && rtol + atol > 0,
            "rtol, atol: expected numbers that are not negative, nor both zero.");
    require(max_steps >= 1, "max_steps: expected at least 1, got " + std::to_string(max_steps) + ".");
    expect(begins, "begins", {n});
    expect(ends, "ends", {n});
    expect(values, "values", {N, C});
    expect(slopes, "slopes", {N, C});
    expect(stop, "stop", {n});
    expect(queries, "queries", {n, K});
    expect(positions, "positions", {n, K});
    expect(h0, "h0", {n, H});
    const denots::Rows shape = denots::rows_of(field, H, C);
    expect(weight_hh, "weight_hh", {shape.hidden, H});
    expect(bias_hh, "bias_hh", {shape.hidden});
    expect(weight_in, "weight_in", {shape.drive, C});
    expect(bias, "bias", {rows == 1 ? 1 : n, shape.drive});
    expect(weight_out, "weight_out", {shape.outer, H});
    expect(bias_out, "bias_out", {shape.outer});
    problem = {field_.c_str(),
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
               stop.data(),
               queries.data(),
               positions.data(),
               h0.data(),
               weight_hh.data(),
               bias_hh.data(),
               weight_in.data(),
               bias.data(),
               weight_out.data(),
               bias_out.data(),
               land_on_knots};
    check_signal();
  }

  std::unique_ptr<BoundTape> solve(Cube<Real> states, Integers status, Integers evaluations,
                                   Integers accepted, Integers rejected, Vector<double> reached, bool record,
                                   std::size_t tape_budget, int threads) const {
    const std::int64_t n = problem.series;
    expect(states, "states", {n, problem.queries, problem.states});
    for (const Integers* counts : {&status, &evaluations, &accepted, &rejected})
      expect(*counts, "counts", {n});
    expect(reached, "reached", {n});
    expect_threads(threads);
    const denots::Target target = denots::choose_target().target;
    std::unique_ptr<BoundTape> tape;
    if (record)
      tape = std::make_unique<BoundTape>(n, static_cast<std::size_t>(problem.states) * sizeof(Real),
                                         tape_budget, id_);
    nb::gil_scoped_release release;
    denots::solve<Real>(
        problem,
        {states.data(), status.data(), evaluations.data(), accepted.data(), rejected.data(), reached.data()},
        tape ? &tape->tape : nullptr, threads, target);
    return tape;
  }

  void pull_back(const BoundTape& tape, Cube<const Real> states, Vector<const std::int64_t> status,
                 Vector<const std::int64_t> accepted, Matrix<Real> weight_hh, Vector<Real> bias_hh,
                 Matrix<Real> weight_in, Matrix<Real> bias, Matrix<Real> weight_out, Vector<Real> bias_out,
                 Matrix<Real> h0, std::optional<Matrix<Real>> values, std::optional<Matrix<Real>> slopes,
                 int threads) const {
    const std::int64_t n = problem.series, H = problem.states;
    const denots::Rows shape = denots::rows_of(problem.field, H, problem.channels);
    require(tape.problem == id_, "tape: it was recorded by another problem.");
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
    require(values.has_value() == slopes.has_value(), "values, slopes: ask for both or for none.");
    for (const auto* knots : {&values, &slopes})
      if (knots->has_value()) expect(**knots, "values and slopes", {problem.knots, problem.channels});
    expect_threads(threads);
    for (std::int64_t i = 0; i < n; ++i)
      require(status.data()[i] != 0 || (accepted.data()[i] == 0) == (tape.tape.last()[i] == nullptr),
              "status, accepted: the tape of series " + std::to_string(i) + " says otherwise.");
    nb::gil_scoped_release release;
    denots::pull_back<Real>(problem, tape.tape,
                            {states.data(), status.data(), accepted.data(), weight_hh.data(), bias_hh.data(),
                             weight_in.data(), bias.data(), weight_out.data(), bias_out.data(), h0.data(),
                             values ? values->data() : nullptr, slopes ? slopes->data() : nullptr},
                            threads);
  }

  // Rows offsets[i] .. offsets[i + 1] are for the steps of series i; the last of them is left for its end.
  void steps(const BoundTape& tape, Vector<const std::int64_t> offsets, Vector<double> times,
             Matrix<Real> states) const {
    const std::int64_t n = problem.series, H = problem.states;
    const auto rows = static_cast<std::int64_t>(times.shape(0));
    require(tape.problem == id_, "tape: it was recorded by another problem.");
    expect(offsets, "offsets", {n + 1});
    expect_offsets(offsets, rows);
    expect(states, "states", {rows, H});
    const std::int64_t* const first = offsets.data();
    for (std::int64_t i = 0; i < n; ++i)
      require(first[i + 1] - first[i] == tape.tape.steps(i) + 1,
              "offsets: series " + std::to_string(i) + " needs a row for each of its " +
                  std::to_string(tape.tape.steps(i)) + " steps, and one more.");
    nb::gil_scoped_release release;
    for (std::int64_t i = 0; i < n; ++i)
      tape.tape.read(i, H, times.data() + first[i], states.data() + first[i] * H);
  }

  denots::Problem<Real> problem;

 private:
  // Kernels read and write where these indices point, and go through queries in their order.
  void check_signal() const {
    const std::int64_t n = problem.series, K = problem.queries;
    for (std::int64_t i = 0; i < n; ++i)
      require(
          problem.begins[i] >= 0 && problem.begins[i] < problem.ends[i] && problem.ends[i] <= problem.knots,
          "begins, ends: series " + std::to_string(i) + " needs a knot, inside the signal.");
    std::vector<std::int64_t> owner(static_cast<std::size_t>(K), -1);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < K; ++k) {
        const double* const asked = problem.query_times + i * K + k;
        require(std::isfinite(*asked) && (k == 0 || asked[-1] <= *asked),
                "queries: those of series " + std::to_string(i) + " must be finite and ascend.");
        const std::int64_t place = problem.positions[i * K + k];
        require(place >= 0 && place < K && owner[static_cast<std::size_t>(place)] != i,
                "positions: those of series " + std::to_string(i) + " must be 0 .. K - 1, each once.");
        owner[static_cast<std::size_t>(place)] = i;
      }
  }

  static std::int64_t next_id() {
    static std::atomic<std::int64_t> issued{0};
    return ++issued;
  }

  const std::int64_t id_ = next_id();
  const std::string field_;
  std::shared_ptr<void> keep_;
};

template <class Real>
void bind_solver(nb::module_& m, const char* name) {
  using P = BoundProblem<Real>;
  nb::class_<P>(m, name)
      .def(nb::init<const std::string&, const BoundMethod&, double, double, std::int64_t,
                    Vector<const std::int64_t>, Vector<const std::int64_t>, Vector<const double>,
                    Matrix<const Real>, Matrix<const Real>, Vector<const double>, Vector<const double>,
                    Matrix<const double>, Matrix<const std::int64_t>, Matrix<const Real>, Matrix<const Real>,
                    Vector<const Real>, Matrix<const Real>, Matrix<const Real>, Matrix<const Real>,
                    Vector<const Real>, bool>(),
           nb::kw_only(), "field"_a, "method"_a, "rtol"_a, "atol"_a, "max_steps"_a, "begins"_a.noconvert(),
           "ends"_a.noconvert(), "times"_a.noconvert(), "values"_a.noconvert(), "slopes"_a.noconvert(),
           "start"_a.noconvert(), "stop"_a.noconvert(), "queries"_a.noconvert(), "positions"_a.noconvert(),
           "h0"_a.noconvert(), "weight_hh"_a.noconvert(), "bias_hh"_a.noconvert(), "weight_in"_a.noconvert(),
           "bias"_a.noconvert(), "weight_out"_a.noconvert(), "bias_out"_a.noconvert(),
           "land_on_knots"_a = false)
      .def("solve", &P::solve, nb::kw_only(), "states"_a.noconvert(), "status"_a.noconvert(),
           "evaluations"_a.noconvert(), "accepted"_a.noconvert(), "rejected"_a.noconvert(),
           "reached"_a.noconvert(), "record"_a, "tape_budget"_a, "threads"_a)
      .def("pull_back", &P::pull_back, nb::kw_only(), "tape"_a, "states"_a.noconvert(),
           "status"_a.noconvert(), "accepted"_a.noconvert(), "weight_hh"_a.noconvert(),
           "bias_hh"_a.noconvert(), "weight_in"_a.noconvert(), "bias"_a.noconvert(),
           "weight_out"_a.noconvert(), "bias_out"_a.noconvert(), "h0"_a.noconvert(),
           "values"_a.noconvert().none() = nb::none(), "slopes"_a.noconvert().none() = nb::none(),
           "threads"_a)
      .def("steps", &P::steps, nb::kw_only(), "tape"_a, "offsets"_a.noconvert(), "times"_a.noconvert(),
           "states"_a.noconvert());
}

}  // namespace

NB_MODULE(_native, m) {
  // A solution that is still alive when Python ends holds its tape; that is no leak.
  nb::set_leak_warnings(false);
  denots::bind_splines(m);
  denots::bind_pooling(m);
  denots::bind_curves(m);
  denots::bind_layers(m);
  denots::bind_rows(m);
  nb::class_<BoundMethod>(m, "Method")
      .def(nb::init<int, double, Vector<const double>, Matrix<const double>, Vector<const double>,
                    Matrix<const double>>(),
           nb::kw_only(), "order"_a, "safety"_a, "nodes"_a.noconvert(), "weights"_a.noconvert(),
           "error"_a.noconvert(), "dense"_a.noconvert());
  nb::class_<BoundTape>(m, "Tape").def_prop_ro("bytes", [](const BoundTape& it) { return it.tape.bytes(); });
  bind_solver<float>(m, "Problem32");
  bind_solver<double>(m, "Problem64");
  m.def("fields", &denots::field_names);
  m.def("target", [] {
    const denots::Choice choice = denots::choose_target();
    return std::make_pair(std::string(denots::target_name(choice.target)), choice.passed_over);
  });
  m.def("supported", [] {
    std::vector<std::string> names;
    for (const denots::Target target : denots::widest_first)
      if (denots::supported(target)) names.emplace_back(denots::target_name(target));
    return names;
  });
  m.def(
      "disagreement",
      [](const std::string& target, double allowed) {
        return denots::disagreement(denots::target_named(target), allowed);
      },
      "target"_a, "allowed"_a);
  m.def(
      "set_fault",
      [](const std::string& target, const std::string& fault) {
        denots::set_fault(denots::target_named(target), fault);
      },
      "target"_a, "fault"_a);
}
