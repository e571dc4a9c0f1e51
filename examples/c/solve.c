/* Two series through a field of two states, without Python: `cmake -S cpp -B build/c && cmake --build
   build/c`, then `build/c/solve`. A line for each series and time: the series, the time, and the state. */
#include <stdio.h>

#include "denots.h"

int main(void) {
  /* A signal of one channel: from 0 to 1 and back for the first series, a constant 0.5 for the second. */
  const int64_t begins[] = {0, 3}, ends[] = {3, 5};
  const double times[] = {0, 1, 2, 0, 2}, values[] = {0, 1, 0, 0.5, 0.5}, slopes[] = {1, 0, -1, 0, 0};
  const double start[] = {0, 0}, at[] = {0.5, 1, 2, 0.5, 1, 2}, h0[] = {0, 0, 0, 0};
  const double weight_ih[] = {1, -1}, bias_ih[] = {0, 0.5}, weight_hh[] = {0, 1, -1, 0}, bias_hh[] = {0, 0};
  const double weight_out[] = {1, 0.5, -0.5, 1}, bias_out[] = {0.1, -0.1};
  const denots_problem problem = {.field = "mlp-tanh",
                                  .series = 2,
                                  .channels = 1,
                                  .states = 2,
                                  .queries = 3,
                                  .knots = 5,
                                  .begins = begins,
                                  .ends = ends,
                                  .times = times,
                                  .values = values,
                                  .slopes = slopes,
                                  .start = start,
                                  .at = at,
                                  .h0 = h0,
                                  .weight_ih = weight_ih,
                                  .bias_ih = bias_ih,
                                  .weight_hh = weight_hh,
                                  .bias_hh = bias_hh,
                                  .weight_out = weight_out,
                                  .bias_out = bias_out,
                                  .rtol = 1e-8,
                                  .atol = 1e-8,
                                  .max_steps = 10000};
  double states[2 * 3 * 2];
  int64_t status[2];
  char reason[200];
  if (denots_solve(&problem, states, status, 1, reason, sizeof reason)) {
    fprintf(stderr, "not solved: %s\n", reason);
    return 1;
  }
  for (int i = 0; i < 6; ++i)
    printf("%d %.17g %.17g %.17g\n", i / 3, at[i], states[2 * i], states[2 * i + 1]);
  return status[0] != DENOTS_OK || status[1] != DENOTS_OK;
}
