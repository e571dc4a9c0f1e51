#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "denots.h"
#include "denots/solve.h"

namespace {

// Owren and Zennaro of fourth order, as `denots.tableaus` has it.
constexpr double nodes[] = {0.0, 1. / 6, 11. / 37, 11. / 17, 13. / 15, 1.0};
constexpr double weights[6][6] = {{},
                                  {1. / 6},
                                  {44. / 1369, 363. / 1369},
                                  {3388. / 4913, -8349. / 4913, 8140. / 4913},
                                  {-36764. / 408375, 767. / 1125, -32708. / 136125, 210392. / 408375},
                                  {1697. / 18876, 0, 50653. / 116160, 299693. / 1626240, 3375. / 11648}};
constexpr double error[] = {-553. / 3146,  0,         483257. / 1006720, -1666663. / 3252480,
                            3375. / 23296, 79. / 1248};
constexpr double dense[6][4] = {{1, -104217. / 37466, 1806901. / 618189, -866577. / 824252},
                                {},
                                {0, 861101. / 230560, -2178079. / 380424, 12308679. / 5072320},
                                {0, -63869. / 293440, 6244423. / 5325936, -7816583. / 10144640},
                                {0, -1522125. / 762944, 982125. / 190736, -624375. / 217984},
                                {0, 165. / 131, -461. / 131, 296. / 131}};
constexpr denots::Method owrenzen4{6, 4, 4, nodes, weights[0], error, dense[0], 0.7};

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

void check(const denots_problem& p, int threads) {
  require(p.series >= 0 && p.channels >= 1 && p.states >= 1 && p.queries >= 1,
          "channels, states and queries must not be empty.");
  require(p.rtol >= 0 && p.atol >= 0 && p.rtol + p.atol > 0,
          "tolerances must not be negative, nor both zero.");
  require(p.max_steps >= 1 && threads >= 1, "max_steps and threads must be at least 1.");
  for (std::int64_t i = 0; i < p.series; ++i) {
    const std::string name = "series " + std::to_string(i);
    require(0 <= p.begins[i] && p.begins[i] < p.ends[i] && p.ends[i] <= p.knots,
            name + " needs knots, inside the signal.");
    for (std::int64_t k = 0; k < p.queries; ++k) {
      const double* const asked = p.at + i * p.queries + k;
      require(std::isfinite(*asked) && (k == 0 ? p.start[i] : asked[-1]) <= *asked,
              name + ": its queries must be finite, ascend, and not lie before its start.");
    }
  }
}

void solve(const denots_problem& p, double* states, std::int64_t* status, int threads) {
  check(p, threads);
  const auto n = static_cast<std::size_t>(p.series);
  std::vector<std::int64_t> positions(n * static_cast<std::size_t>(p.queries));
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i) % p.queries;
  std::vector<double> stop(n), reached(n);
  for (std::size_t i = 0; i < n; ++i) stop[i] = p.times[p.ends[i] - 1];
  std::vector<std::int64_t> counts(3 * n);
  const denots::Problem<double> posed{
      p.field,     owrenzen4, p.rtol,      p.atol,      p.max_steps,  p.series,         p.channels,
      p.states,    p.queries, 1,           p.knots,     p.begins,     p.ends,           p.times,
      p.values,    p.slopes,  p.start,     stop.data(), p.at,         positions.data(), p.h0,
      p.weight_hh, p.bias_hh, p.weight_ih, p.bias_ih,   p.weight_out, p.bias_out};
  denots::solve<double>(
      posed, {states, status, counts.data(), counts.data() + n, counts.data() + 2 * n, reached.data()},
      nullptr, threads, denots::choose_target().target);
}

}  // namespace

int denots_solve(const denots_problem* problem, double* states, int64_t* status, int threads, char* reason,
                 size_t reason_size) {
  try {
    solve(*problem, states, status, threads);
    return 0;
  } catch (const std::exception& fault) {
    std::snprintf(reason, reason_size, "%s", fault.what());
    return 1;
  }
}
