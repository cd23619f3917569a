/* Compiles the model twice with the same outputs, once in f64, and runs both on the same inputs. */
#include "driver/report/error_report.h"

#include <math.h>
#include <string.h>

#include "driver/compile.h"
#include "driver/output_size.h"
#include "ir/element.h"
#include "loop/contract.h"

typedef struct error_report {
  wick_model *model;
  const wick_compile_options *options;
  const void *const *inputs;
  wick_arena *mem;
  uint32_t nshow; /* kernels that approximate, and their clause of the contract */
  wick_shown *show;
  const char **bound;
  wick_compiled *compiled[2]; /* the given one, and one in f64 */
  void **outputs[2];
} error_report;

/* Returns what the kernel's line says about approximations; NULL: nothing. */
static const char *error_report_bound(const error_report *r, const char *contract, const char *name)
{
  size_t n = strlen(name), length;
  for (const char *at = contract; (at = strchr(at, '\n'));) {
    if (strncmp(++at, name, n) != 0 || at[n] != ':') continue;
    const char *bound = wick_contract_approximate(at, &length);
    return bound ? wick_str_dupn(r->mem, bound, length) : NULL;
  }
  return NULL;
}

static void error_report_places(error_report *r, const wick_compiled *k)
{
  uint32_t n = wick_compiled_nkernel(k);
  r->show = wick_new(r->mem, wick_shown, n), r->bound = wick_new(r->mem, const char *, n);
  for (uint32_t i = 0; i < n; i++) {
    wick_kernel_facts facts = wick_compiled_kernel(k, i);
    const char *bound = error_report_bound(r, wick_compiled_contract(k), facts.name);
    if (!bound) continue;
    r->show[r->nshow].location = facts.location;
    r->bound[r->nshow++] = bound;
  }
}

static wick_error *error_report_run(error_report *r, int which)
{
  wick_compile_options o = *r->options;
  o.cache = "";
  if (which) o.precision = "f64", o.strict = true;
  wick_error *e = wick_compile_shown(r->model, &o, r->nshow, r->show, &r->compiled[which]);
  if (e) return e;
  const wick_compiled *k = r->compiled[which];
  wick_session *s = NULL;
  e = wick_session_create(k, NULL, &s);
  r->outputs[which] = wick_new(r->mem, void *, wick_compiled_noutput(k));
  for (uint32_t i = 0; i < wick_compiled_noutput(k); i++)
    r->outputs[which][i] = wick_arena_alloc(r->mem, wick_compiled_output(k, i)->nbytes, 64);
  if (!e) e = wick_run(s, r->inputs, r->outputs[which]);
  wick_session_free(s);
  return e;
}

/* Returns an output's size along an axis in this run. It is less than the declared size if it
 * depends on data. */
static int64_t error_report_dim(const error_report *r, int which, uint32_t output, uint32_t axis)
{
  const wick_compiled *k = r->compiled[which];
  const wick_io *io = wick_compiled_output(k, output);
  uint32_t sized;
  for (uint32_t i = 0; i < wick_compiled_noutput(k); i++)
    if (wick_output_size_is(wick_compiled_output(k, i), io, &sized) && sized == axis)
      return *(const int64_t *)r->outputs[which][i];
  return io->dim[axis];
}

/* Returns the position in memory of the k-th element that the run wrote. */
static uint64_t error_report_at(const wick_io *io, const int64_t *dim, uint64_t k)
{
  uint64_t at = 0, step = 1;
  for (uint32_t axis = io->rank; axis-- > 0; k /= (uint64_t)dim[axis]) {
    at += k % (uint64_t)dim[axis] * step;
    step *= (uint64_t)io->dim[axis];
  }
  return at;
}

/* Adds a line for an output of floats. If the sizes differ, the error is infinite. */
static void error_report_line(const error_report *r, uint32_t output, const char *location,
                              const char *bound, wick_error_report *out)
{
  const wick_io *io = wick_compiled_output(r->compiled[1], output);
  wick_error_line line = {.what = wick_str_dup(r->mem, location), .bound = bound};
  if (!wick_elem_is_float(io->elem)) return;
  uint64_t n = 1;
  double most = 0;
  int64_t dim[WICK_MAX_RANK];
  bool same = true;
  for (uint32_t k = 0; k < io->rank; k++) {
    dim[k] = error_report_dim(r, 1, output, k);
    same = same && dim[k] == error_report_dim(r, 0, output, k);
    n *= (uint64_t)dim[k];
  }
  if (!same) line.largest = line.rms = INFINITY, n = 0;
  for (uint64_t k = 0; k < n; k++) {
    uint64_t at = error_report_at(io, dim, k);
    double x = wick_load_elem(io->elem, r->outputs[0][output], at).f,
           y = wick_load_elem(io->elem, r->outputs[1][output], at).f, d = fabs(x - y);
    if (x == y) d = 0; /* equal infinities */
    line.rms += d * d;
    line.largest = d > line.largest || isnan(d) ? d : line.largest;
    most = fmax(most, fabs(y));
  }
  if (n) line.rms = sqrt(line.rms / (double)n);
  if (most > 0) line.largest /= most, line.rms /= most;
  out->line[out->n++] = line;
}

/* Adds lines for the outputs, then for the kernels. */
static void error_report_lines(const error_report *r, wick_error_report *out)
{
  uint32_t own = r->model->noutput;
  out->line = wick_new(r->mem, wick_error_line, own + r->nshow);
  for (uint32_t i = 0; i < own; i++)
    error_report_line(r, i, wick_compiled_output(r->compiled[1], i)->name, NULL, out);
  for (uint32_t i = 0; i < r->nshow; i++)
    if (r->show[i].output != UINT32_MAX)
      error_report_line(r, r->show[i].output, r->show[i].location, r->bound[i], out);
}

wick_error *wick_error_report_make(wick_model *model, const wick_compile_options *options,
                                   const wick_compiled *compiled, const void *const *inputs,
                                   wick_arena *mem, wick_error_report *out)
{
  wick_compile_options o;
  wick_error *wrong = wick_options_take("wick_compile_options", &o, sizeof o, options);
  if (wrong) return wrong;
  error_report r = {.model = model, .options = &o, .inputs = inputs, .mem = mem};
  *out = (wick_error_report){0};
  error_report_places(&r, compiled);
  wick_error *e = error_report_run(&r, 0);
  if (!e) e = error_report_run(&r, 1);
  if (!e) error_report_lines(&r, out);
  for (int k = 0; k < 2; k++) wick_compiled_free(r.compiled[k]);
  return e;
}
