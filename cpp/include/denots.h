/* The solver from C: dh/dt = f(x(t), h) for many series, each with its own adaptive steps, along piecewise
   cubics. Arrays in, states out, in double precision, with the bits of `denots.solve(...,
   method="owrenzen4")` in Python. */
#ifndef DENOTS_H
#define DENOTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All arrays are dense, rows first, and belong to the caller; their sizes are taken on trust. Weights are
   named and shaped as in PyTorch: G is 3 states for a "gru-..." field and states for an "mlp-..." field,
   which alone has an outer layer. */
typedef struct {
  const char* field; /* "gru-anti", "gru-sync", "gru-none", "mlp-tanh" or "mlp-relu" */
  int64_t series, channels, states, queries, knots;
  /* [series]: series i owns the knots begins[i] up to ends[i] */
  const int64_t *begins, *ends;
  /* [knots], ascending in each series; a kink or a jump is two knots at one time */
  const double* times;
  /* [knots, channels]: the signal, held before the first knot of a series and after its last */
  const double *values, *slopes;
  const double* start;                 /* [series]: where integration begins */
  const double* at;                    /* [series, queries], ascending, not before the start */
  const double* h0;                    /* [series, states] */
  const double *weight_ih, *bias_ih;   /* [G, channels], [G] */
  const double *weight_hh, *bias_hh;   /* [G, states], [G] */
  const double *weight_out, *bias_out; /* [states, states], [states]; else NULL */
  double rtol, atol;                   /* allowed error of a step, relative and absolute */
  int64_t max_steps;                   /* attempts after which a series is given up */
} denots_problem;

enum denots_status { DENOTS_OK = 0, DENOTS_MAX_STEPS = 1, DENOTS_STEP_UNDERFLOW = 2, DENOTS_NOT_FINITE = 3 };

/* Fill states [series, queries, states], NaN for a series that failed, and what became of each, status
   [series]. Returns 0; or 1, with nothing filled and the reason as text, cut to so many bytes. Threads change
   no bit. */
__attribute__((visibility("default"))) int denots_solve(const denots_problem* problem, double* states,
                                                        int64_t* status, int threads, char* reason,
                                                        size_t reason_size);

#ifdef __cplusplus
}
#endif

#endif
