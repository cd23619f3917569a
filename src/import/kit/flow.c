/* Branches and loops. Where a condition is known during the import, only its branch is imported.
 * Loops of few known steps, and loops whose values change their types, are unrolled. */
#include "import/kit/import.h"

#include <string.h>

enum { FLOW_FEW_STEPS = 4, FLOW_FEW_NODES = 64, FLOW_MOST_STEPS = 4096, FLOW_DEPTH = 64 };

/* The state of an import before a body, so that the body can be undone. */
typedef struct flow_trial {
  wick_errors errors;
  uint32_t misfits, unknown, sizes, bounded, nodes, values, open, checks, branch_checks;
  uint32_t problems, twins;
} flow_trial;

static flow_trial flow_begin(const wick_import *c)
{
  return (flow_trial){.errors = c->errors,
                      .misfits = c->misfits,
                      .unknown = c->unknown,
                      .sizes = c->sizes,
                      .bounded = c->bounded.n,
                      .twins = c->twin.n,
                      .nodes = c->b.nodes.n,
                      .values = c->b.values.n,
                      .open = c->b.open.n,
                      .checks = c->b.constraints.n,
                      .branch_checks = c->b.branch_constraints.n,
                      .problems = c->options->problems ? c->options->problems->n : 0};
}

static void flow_undo(wick_import_node *n, const flow_trial *t)
{
  wick_import *c = n->c;
  if (c->over) return;
  c->errors.list.n = t->errors.list.n, c->errors.more = t->errors.more;
  c->misfits = t->misfits, c->unknown = t->unknown, c->sizes = t->sizes;
  c->bounded.n = t->bounded;
  c->twin.n = t->twins;
  c->b.nodes.n = t->nodes, c->b.values.n = t->values, c->b.open.n = t->open;
  c->b.constraints.n = t->checks, c->b.branch_constraints.n = t->branch_checks;
  c->b.status = NULL;
  n->failed = false;
  if (c->options->problems) c->options->problems->n = t->problems;
}

/* Keeps the errors and closes the open regions: the node has failed. */
static void flow_stop(wick_import_node *n, const flow_trial *t)
{
  wick_import *c = n->c;
  if (c->b.status) wick_import_add(c, n, c->b.status, n->location);
  c->b.status = NULL;
  c->b.open.n = t->open;
  n->failed = true;
}

/* Imports a body. Returns false after an error. */
static bool flow_body(wick_import_node *n, wick_import_body *body, void *arg, uint32_t nin,
                      const wick_value *in, uint32_t nout, wick_value *out)
{
  wick_import *c = n->c;
  if (c->depth >= FLOW_DEPTH) {
    if (!c->over)
      wick_import_error(c, WICK_ELIMIT, n->location, "bodies are nested more than %d deep",
                        FLOW_DEPTH);
    c->over = true;
    return false;
  }
  uint32_t before = c->errors.list.n + c->errors.more;
  const char *outer = c->outer;
  c->outer = n->location;
  c->depth++;
  bool good = body(n, arg, nin, in, nout, out);
  c->depth--;
  c->outer = outer;
  c->b.loc = wick_loc_add(c->module, n->location);
  good =
      good && !c->over && !n->failed && !c->b.status && c->errors.list.n + c->errors.more == before;
  for (uint32_t k = 0; k < nout && good; k++) {
    good = out[k].id != 0;
    if (good && wick_import_bounded_find(c, out[k])) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "the size of output %u of its body depends on data",
                       k);
      good = false;
    }
  }
  return good;
}

static bool flow_same_types(const wick_import_node *n, uint32_t count, const wick_value *a,
                            const wick_value *b)
{
  for (uint32_t k = 0; k < count; k++)
    if (!wick_type_eq(wick_built_type(n->b, a[k]), wick_built_type(n->b, b[k]))) return false;
  return true;
}

static wick_value flow_scalar(wick_import_node *n, wick_value x)
{
  return wick_built_info(n->b, x)->rank ? wick_build_reshape(n->b, x, 0, NULL) : x;
}

static wick_value flow_number(wick_import_node *n, wick_elem e, int64_t i)
{
  return wick_build_const(n->b, wick_type_tensor(n->c->module, e, 0, NULL), 0, i);
}

/* ---- If ---- */

static void flow_if_both(wick_import_node *n, wick_value cond, wick_import_body *const *body,
                         void *const *arg, uint32_t nin, const wick_value *in)
{
  flow_trial t = flow_begin(n->c);
  wick_value *y[2];
  bool good = true;
  cond = flow_scalar(n, cond);
  wick_build_open(n->b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
  for (uint32_t r = 0; r < 2 && good; r++) {
    y[r] = wick_new(n->c->tmp, wick_value, n->nout + 1u);
    wick_region_begin(n->b, 0, NULL);
    good = flow_body(n, body[r], arg[r], nin, in, n->nout, y[r]);
    if (!good) break;
    wick_yield(n->b, n->nout, y[r]);
    wick_build_open_attr(n->b, r, wick_build_branch_constraints(n->b, t.checks));
  }
  if (good && flow_same_types(n, n->nout, y[0], y[1])) {
    wick_value first = wick_build_close(n->b);
    for (uint32_t k = 0; k < n->nout; k++) n->out[k] = (wick_value){first.id + k};
    return;
  }
  if (good) wick_import_unknown(n, cond, "the condition, on which shapes depend,");
  flow_stop(n, &t);
}

void wick_import_if(wick_import_node *n, wick_value cond, wick_import_body *yes, void *yes_arg,
                    wick_import_body *no, void *no_arg, uint32_t nin, const wick_value *in)
{
  int64_t known;
  if (wick_import_known_int(n->c, cond, &known)) {
    if (!flow_body(n, known ? yes : no, known ? yes_arg : no_arg, nin, in, n->nout, n->out))
      n->failed = true;
    return;
  }
  wick_import_body *const body[] = {yes, no};
  void *const arg[] = {yes_arg, no_arg};
  flow_if_both(n, cond, body, arg, nin, in);
}

typedef struct flow_case {
  wick_value index;
  uint32_t at, nbranch;
  wick_import_body *branch;
  void *const *arg;
} flow_case;

/* The branches from `at` on: branch[at] if the index is `at`, else the later ones. */
static bool flow_case_rest(wick_import_node *n, void *arg, uint32_t nin, const wick_value *in,
                           uint32_t nout, wick_value *out)
{
  flow_case *c = arg, rest = *c;
  if (c->at + 1 >= c->nbranch) return c->branch(n, c->arg[c->at], nin, in, nout, out);
  rest.at++;
  wick_value number = wick_emit_number(n->b, c->index, c->at);
  wick_value cond = wick_build2(n->b, WICK_OP_eq, c->index, number), *outer = n->out;
  n->out = out;
  wick_import_if(n, cond, c->branch, c->arg[c->at], flow_case_rest, &rest, nin, in);
  n->out = outer;
  return !n->failed;
}

void wick_import_case(wick_import_node *n, wick_value index, uint32_t nbranch,
                      wick_import_body *branch, void *const *arg, uint32_t nin,
                      const wick_value *in)
{
  int64_t known;
  if (!nbranch) {
    wick_import_fail(n, WICK_EPARSE, "it has no branches");
    return;
  }
  if (wick_import_known_int(n->c, index, &known)) {
    uint32_t at = known < 0 || known >= nbranch ? nbranch - 1 : (uint32_t)known;
    if (!flow_body(n, branch, arg[at], nin, in, n->nout, n->out)) n->failed = true;
    return;
  }
  flow_case all = {flow_scalar(n, index), 0, nbranch, branch, arg};
  if (!flow_case_rest(n, &all, nin, in, n->nout, n->out)) n->failed = true;
}

/* ---- While ---- */

typedef struct flow_while {
  wick_import_body *test, *body;
  void *test_arg, *body_arg;
  uint32_t ncarried;
  const wick_value *carried;
} flow_while;

/* Imports the test on the values; *out is a bool of rank 0. */
static bool flow_test(wick_import_node *n, const flow_while *w, const wick_value *v,
                      wick_value *out)
{
  if (!flow_body(n, w->test, w->test_arg, w->ncarried, v, 1, out)) return false;
  if (wick_built_info(n->b, *out)->elem != WICK_BOOL) {
    wick_import_fail(n, WICK_ETYPE, "the condition is %s, expected bool",
                     wick_elem_name(wick_built_info(n->b, *out)->elem));
    return false;
  }
  *out = flow_scalar(n, *out);
  return !n->b->status;
}

/* Unrolls at most `most` steps. Returns false if the loop's end is not known, or after an error. */
static bool flow_unrolled(wick_import_node *n, const flow_while *w, int64_t most)
{
  wick_value *v = wick_new(n->c->tmp, wick_value, w->ncarried + 1),
             *next = wick_new(n->c->tmp, wick_value, w->ncarried + 1), cond;
  if (w->ncarried) memcpy(v, w->carried, w->ncarried * sizeof *v);
  for (int64_t step = 0; step <= most; step++) {
    int64_t on;
    if (!flow_test(n, w, v, &cond) || !wick_import_known_int(n->c, cond, &on)) return false;
    if (!on) {
      for (uint32_t k = 0; k < n->nout; k++) n->out[k] = v[k];
      return true;
    }
    if (step == most || !flow_body(n, w->body, w->body_arg, w->ncarried, v, w->ncarried, next))
      return false;
    if (w->ncarried) memcpy(v, next, w->ncarried * sizeof *v);
  }
  return false;
}

/* Builds a loop. Sets *changed if values change their types from one step to the next. */
static bool flow_region(wick_import_node *n, const flow_while *w, bool *changed)
{
  wick_module *m = n->c->module;
  wick_value *in = wick_new(n->c->tmp, wick_value, w->ncarried + 1),
             *v = wick_new(n->c->tmp, wick_value, w->ncarried + 1),
             *y = wick_new(n->c->tmp, wick_value, w->ncarried + 1), cond;
  wick_type *type = wick_new(n->c->tmp, wick_type, w->ncarried + 1);
  if (!flow_test(n, w, w->carried, &cond)) return false;
  wick_value many = flow_number(n, WICK_I64, INT64_MAX), none = flow_number(n, WICK_I64, 0);
  in[0] = wick_build3(n->b, WICK_OP_where, cond, many, none);
  type[0] = wick_type_tensor(m, WICK_I64, 0, NULL);
  for (uint32_t k = 0; k < w->ncarried; k++) {
    in[1 + k] = w->carried[k];
    type[1 + k] = wick_built_type(n->b, w->carried[k]);
  }
  wick_build_open(n->b, WICK_OP_loop, 1 + w->ncarried, in, NULL, 0, NULL);
  wick_value index = wick_region_begin(n->b, 1 + w->ncarried, type);
  if (n->b->status) return false;
  for (uint32_t k = 0; k < w->ncarried; k++) v[k] = (wick_value){index.id + 1 + k};
  if (!flow_body(n, w->body, w->body_arg, w->ncarried, v, w->ncarried, y + 1)) return false;
  *changed = !flow_same_types(n, w->ncarried, w->carried, y + 1);
  if (*changed || !flow_test(n, w, y + 1, &y[0])) return false;
  wick_yield(n->b, 1 + w->ncarried, y);
  wick_value first = wick_build_close(n->b);
  for (uint32_t k = 0; k < n->nout; k++) n->out[k] = (wick_value){first.id + k};
  return !n->b->status;
}

void wick_import_while(wick_import_node *n, wick_import_body *test, void *test_arg,
                       wick_import_body *body, void *body_arg, uint32_t ncarried,
                       const wick_value *carried)
{
  const flow_while w = {test, body, test_arg, body_arg, ncarried, carried};
  flow_trial t = flow_begin(n->c);
  bool changed = false;
  if (n->nout > ncarried) {
    wick_import_fail(n, WICK_EPARSE, "it has %u outputs and carries %u values", n->nout, ncarried);
    return;
  }
  if (flow_unrolled(n, &w, FLOW_FEW_STEPS) && n->b->nodes.n - t.nodes <= FLOW_FEW_NODES) return;
  flow_undo(n, &t);
  if (flow_region(n, &w, &changed)) return;
  flow_undo(n, &t); /* a known index makes more values known, and lets types change */
  if (flow_unrolled(n, &w, FLOW_MOST_STEPS)) return;
  flow_undo(n, &t);
  if (flow_region(n, &w, &changed)) return; /* for its errors */
  if (changed)
    wick_import_unknown(n, ncarried ? carried[0] : (wick_value){0},
                        "the number of steps of a loop whose values change their shapes");
  flow_stop(n, &t);
}
