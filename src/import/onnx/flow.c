/* Imports branches and loops. If a condition is known during the import, only its branch is
 * imported. Loops of few steps, and loops whose values change their types, are unrolled. */
#include "import/onnx/flow.h"

#include <string.h>

enum { FLOW_FEW_STEPS = 4, FLOW_FEW_NODES = 48, FLOW_MOST_STEPS = 4096 };

/* ---- If ---- */

static const wick_onnx_graph *flow_graph(wick_onnx_op *o, const char *name)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  if (!a || !a->g) wick_onnx_fail(o, WICK_EPARSE, "%s is no graph", name);
  return a ? a->g : NULL;
}

static bool flow_same_types(const wick_onnx_op *o, uint32_t n, const wick_value *a,
                            const wick_value *b)
{
  for (uint32_t k = 0; k < n; k++)
    if (!wick_type_eq(wick_built_type(o->b, a[k]), wick_built_type(o->b, b[k]))) return false;
  return true;
}

/* Returns the node that computes a bool, looking through nodes that only move or negate it. */
static const wick_node *flow_source(wick_onnx_op *o, wick_value v, bool *negated)
{
  const wick_node *n = wick_emit_definer(o->b, v);
  while (n && n->nin) {
    bool bit = n->op == WICK_OP_cast && wick_built_info(o->b, n->in[0])->elem == WICK_BOOL;
    if (n->op != WICK_OP_not && n->op != WICK_OP_reshape && !bit) return n;
    *negated = *negated != (n->op == WICK_OP_not);
    n = wick_emit_definer(o->b, n->in[0]);
  }
  return n;
}

/* If types depend on whether two sizes are equal, and their ranges do not decide it, assumes that
 * they are equal and adds a shape constraint. Exporters write a squeeze in this form, where the
 * other case leads to no useful result. */
static bool flow_assumable(wick_onnx_op *o, wick_dim *out_equal, int64_t *out_cond)
{
  bool negated = false;
  const wick_node *n = o->b->status ? NULL : flow_source(o, o->in[0], &negated);
  if (!n || (n->op != WICK_OP_eq && n->op != WICK_OP_ne)) return false;
  for (uint32_t i = 0; i < 2; i++) {
    const wick_value_info *v = &o->b->values.at[n->in[i].id];
    if (v->ncontent != 1) return false;
    out_equal[i] = v->content[0];
  }
  *out_cond = (n->op == WICK_OP_eq) != negated;
  return true;
}

/* Imports one branch in place of the node. */
static void flow_branch(wick_onnx_op *o, const wick_onnx_graph *g)
{
  wick_value *y = wick_new(o->c->tmp, wick_value, g->output.n + 1);
  if (!wick_onnx_subgraph(o, g, 0, NULL, y)) o->failed = true;
  for (uint32_t k = 0; k < o->nout && !o->failed; k++) o->out[k] = y[k];
}

/* Imports the branches of an `if` that was begun, and their results. If `like` is not NULL, maps
 * return only their values, and `like` gets the keys that they have in all branches. If it is NULL,
 * maps return their keys, too. */
static bool flow_if_regions(wick_onnx_op *o, const wick_onnx_graph *const *branch, uint32_t checks,
                            wick_onnx_map *like, wick_value **y, bool *out_alike)
{
  *out_alike = true;
  for (uint32_t r = 0; r < 2; r++) {
    y[r] = wick_new(o->c->tmp, wick_value, branch[r]->output.n + 1);
    wick_region_begin(o->b, 0, NULL);
    if (!wick_onnx_subgraph(o, branch[r], 0, NULL, y[r])) return false;
    if (like) *out_alike = wick_onnx_maps_strip(o, o->nout, y[r], like, r == 0);
    if (!*out_alike) return false;
    wick_value *flat = wick_new(o->c->tmp, wick_value, wick_onnx_flat(o, o->nout, y[r], NULL) + 1u);
    wick_yield(o->b, wick_onnx_flat(o, o->nout, y[r], flat), flat);
    wick_build_open_attr(o->b, r, wick_build_branch_constraints(o->b, checks));
  }
  return true;
}

/* Imports both branches. A shape constraint of one branch alone is checked on entry to that branch.
 * A known condition may avoid errors and types that differ. */
static void flow_if_both(wick_onnx_op *o, const wick_onnx_graph *const *branch)
{
  wick_onnx_trial t = wick_onnx_trial_begin(o);
  wick_value cond = wick_onnx_scalar(o, 0), *y[2];
  wick_onnx_map *like = wick_new(o->c->tmp, wick_onnx_map, o->nout + 1);
  bool alike;
  wick_build_open(o->b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
  bool good = flow_if_regions(o, branch, t.checks, like, y, &alike);
  if (!alike) { /* then keys are results, too */
    wick_onnx_trial_undo(o, &t);
    memset(like, 0, o->nout * sizeof *like);
    cond = wick_onnx_scalar(o, 0);
    wick_build_open(o->b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
    good = flow_if_regions(o, branch, t.checks, NULL, y, &alike);
  }
  if (good && flow_same_types(o, o->nout, y[0], y[1])) {
    wick_onnx_unflat(o, o->nout, y[0], wick_build_close(o->b), o->out);
    wick_onnx_maps_dress(o, o->nout, like, o->out);
    return;
  }
  wick_dim assumed[2];
  int64_t taken;
  if (flow_assumable(o, assumed, &taken)) {
    wick_onnx_trial_undo(o, &t);
    wick_build_shape_constraint(o->b, assumed[0], assumed[1], o->b->loc);
    flow_branch(o, branch[!taken]);
    return;
  }
  if (good)
    wick_onnx_unknown(o, 0, "the condition, on which shapes depend,");
  else
    wick_onnx_want(o, o->in[0]);
  wick_onnx_trial_stop(o, &t);
}

static void flow_if(wick_onnx_op *o)
{
  const wick_onnx_graph *branch[2] = {flow_graph(o, "then_branch"), flow_graph(o, "else_branch")};
  int64_t cond;
  if (o->failed) return;
  for (uint32_t r = 0; r < 2; r++)
    if (branch[r]->output.n < o->nout)
      wick_onnx_fail(o, WICK_EPARSE, "a branch has %zu outputs, expected %u", branch[r]->output.n,
                     o->nout);
  if (o->failed) return;
  if (!wick_onnx_known_int(o->c, o->in[0], &cond)) {
    flow_if_both(o, branch);
    return;
  }
  flow_branch(o, branch[!cond]);
}

/* ---- loops ---- */

static wick_value flow_number(wick_onnx_op *o, wick_elem e, int64_t i)
{
  return wick_build_const(o->b, wick_type_tensor(o->c->module, e, 0, NULL), 0, i);
}

/* Returns the number of the body's stacked results, after its condition and the carried values. */
static uint32_t flow_nstacked(const wick_onnx_loop *l)
{
  return (uint32_t)l->body->output.n - l->conditional - l->ncarried;
}

void wick_onnx_loop_counted(wick_onnx_op *o, wick_dim n, wick_onnx_loop *l)
{
  l->most = wick_dim_max(o->c->module->dims, n, wick_dim_const(0));
  bool known = wick_dim_is_const(l->most);
  l->steps = known ? l->most.v : -1;
  l->count = known ? flow_number(o, WICK_I64, l->steps)
                   : wick_build1(o->b, WICK_OP_size, wick_emit_count(o->b, l->most));
}

/* Gives the index or the condition the shape that the body declares, which may be [1]. */
static wick_value flow_declared(wick_onnx_op *o, const wick_onnx_value_info *v, wick_value x)
{
  const wick_onnx_tensor_type *t = v->type ? v->type->tensor_type : NULL;
  wick_dim one = wick_dim_const(1);
  return t && t->shape && t->shape->dim.n == 1 ? wick_build_reshape(o->b, x, 1, &one) : x;
}

static wick_value flow_plain(wick_onnx_op *o, wick_value x)
{
  return wick_built_info(o->b, x)->rank ? wick_build_reshape(o->b, x, 0, NULL) : x;
}

/* Imports the body at an index. Its operands are the index and the condition as it declares them,
 * the carried values, and the scanned slices. */
static bool flow_body(wick_onnx_op *o, const wick_onnx_loop *l, wick_value index,
                      const wick_value *carried, wick_value *out)
{
  uint32_t n = 0;
  wick_value *in = wick_new(o->c->tmp, wick_value, 2 + l->ncarried + l->nscan);
  if (l->conditional) {
    if (l->body->input.n < 2) {
      wick_onnx_fail(o, WICK_EPARSE, "its body has %zu inputs, expected 2 or more",
                     l->body->input.n);
      return false;
    }
    in[n++] = flow_declared(o, &l->body->input.at[0], index);
    in[n++] = flow_declared(o, &l->body->input.at[1], flow_number(o, WICK_BOOL, 1));
  }
  for (uint32_t k = 0; k < l->ncarried; k++) in[n++] = carried[k];
  for (uint32_t k = 0; k < l->nscan; k++) {
    wick_emit e = wick_emit_begin(o->b, WICK_OP_dynamic_index);
    wick_emit_set_int(&e, "axis", l->scan[k].axis);
    wick_emit_set_int(&e, "reverse", l->scan[k].reverse);
    in[n++] = wick_emit_end2(&e, l->scan[k].x, index);
  }
  if (!wick_onnx_subgraph(o, l->body, n, in, out)) return false;
  if (l->conditional) out[0] = flow_plain(o, out[0]);
  return !o->b->status;
}

/* Builds a loop. Sets *out_changed if values change their types from one step to the next. */
static bool flow_loop_region(wick_onnx_op *o, const wick_onnx_loop *l, bool *out_changed)
{
  wick_module *m = o->c->module;
  uint32_t nstacked = flow_nstacked(l);
  uint32_t nflat = wick_onnx_flat(o, l->ncarried, l->carried, NULL);
  wick_value *in = wick_new(o->c->tmp, wick_value, 1 + nflat),
             *y = wick_new(o->c->tmp, wick_value, l->body->output.n + 1),
             *carried = wick_new(o->c->tmp, wick_value, l->ncarried + 1);
  wick_type *type = wick_new(o->c->tmp, wick_type, 1 + nflat);
  in[0] = l->count, type[0] = wick_type_tensor(m, WICK_I64, 0, NULL);
  wick_onnx_flat(o, l->ncarried, l->carried, in + 1);
  for (uint32_t k = 1; k <= nflat; k++) type[k] = wick_built_type(o->b, in[k]);
  wick_attr attr[] = {[WICK_ATTR_loop_stacked] = {.i = nstacked},
                      [WICK_ATTR_loop_most] = {.n = nstacked > 0, .dims = &l->most}};
  wick_build_open(o->b, WICK_OP_loop, 1 + nflat, in, attr, 0, NULL);
  wick_value index = wick_region_begin(o->b, 1 + nflat, type);
  if (o->b->status) return false;
  wick_onnx_unflat(o, l->ncarried, l->carried, (wick_value){index.id + 1}, carried);
  wick_value *results = l->conditional ? y : y + 1;
  if (!flow_body(o, l, index, carried, results)) return false;
  if (!l->conditional) y[0] = flow_number(o, WICK_BOOL, 1);
  *out_changed = !flow_same_types(o, l->ncarried, l->carried, y + 1);
  int64_t on;
  if (nstacked && l->conditional && !*out_changed &&
      (!wick_onnx_known_int(o->c, y[0], &on) || !on)) {
    wick_onnx_unknown(o, 1, "the loop's condition, on which shapes depend,");
    return false;
  }
  if (*out_changed) return false;
  wick_value *out = wick_new(o->c->tmp, wick_value, 1 + nflat + nstacked);
  out[0] = y[0];
  wick_onnx_flat(o, l->ncarried, y + 1, out + 1);
  for (uint32_t k = 0; k < nstacked; k++) out[1 + nflat + k] = y[1 + l->ncarried + k];
  wick_yield(o->b, 1 + nflat + nstacked, out);
  wick_value first = wick_build_close(o->b);
  wick_onnx_unflat(o, l->ncarried, l->carried, first, l->result);
  for (uint32_t k = 0; k < nstacked; k++)
    l->result[l->ncarried + k] = (wick_value){first.id + nflat + k};
  return !o->b->status;
}

/* Unrolls the loop. Returns false if it is not known when the loop ends. */
static bool flow_loop_unrolled(wick_onnx_op *o, const wick_onnx_loop *l)
{
  uint32_t nstacked = flow_nstacked(l), noutput = (uint32_t)l->body->output.n;
  wick_value *y = wick_new(o->c->tmp, wick_value, noutput + 1),
             *row = wick_new(o->c->tmp, wick_value, (size_t)l->steps * nstacked + 1);
  int64_t n = 0;
  for (uint32_t k = 0; k < l->ncarried; k++) l->result[k] = l->carried[k];
  for (int64_t on = l->steps > 0; on && n < l->steps; n++) {
    if (!flow_body(o, l, flow_number(o, WICK_I64, n), l->result, y)) return false;
    for (uint32_t k = 0; k < l->ncarried; k++) l->result[k] = y[l->conditional + k];
    for (uint32_t k = 0; k < nstacked; k++)
      row[(uint64_t)n * nstacked + k] =
          wick_emit_unsqueeze(o->b, y[l->conditional + l->ncarried + k], 0);
    if (l->conditional && !wick_onnx_known_int(o->c, y[0], &on)) return false;
  }
  wick_value *part = wick_new(o->c->tmp, wick_value, (size_t)n + 1);
  for (uint32_t k = 0; k < nstacked; k++) {
    for (int64_t i = 0; i < n; i++) part[i] = row[(uint64_t)i * nstacked + k];
    l->result[l->ncarried + k] = n == 1 ? part[0] : wick_build_concat(o->b, 0, (uint32_t)n, part);
  }
  return n > 0 && !o->b->status;
}

bool wick_onnx_loop_build(wick_onnx_op *o, const wick_onnx_loop *l)
{
  if (l->body->output.n < l->conditional + l->ncarried) {
    wick_onnx_fail(o, WICK_EPARSE, "its body has %zu outputs, expected %u or more",
                   l->body->output.n, l->conditional + l->ncarried);
    return false;
  }
  wick_onnx_trial t = wick_onnx_trial_begin(o);
  bool finite = l->steps > 0 && l->steps <= FLOW_MOST_STEPS, changed = false, small;
  small = l->steps <= FLOW_FEW_STEPS && (size_t)l->steps * l->body->node.n <= FLOW_FEW_NODES;
  for (uint32_t k = 0; k < l->ncarried; k++) /* a program has no values that are sequences */
    small = small || wick_built_info(o->b, l->carried[k])->kind != WICK_TENSOR;
  if (l->steps == 0 && !flow_nstacked(l)) {
    for (uint32_t k = 0; k < l->ncarried; k++) l->result[k] = l->carried[k];
    return true;
  }
  if (finite && small) {
    if (flow_loop_unrolled(o, l)) return true;
    wick_onnx_trial_undo(o, &t);
  }
  if (flow_loop_region(o, l, &changed)) return true;
  if (finite) { /* a constant index makes more values known */
    wick_onnx_trial_undo(o, &t);
    if (flow_loop_unrolled(o, l)) return true;
    if (!wick_onnx_trial_good(o, &t)) return wick_onnx_trial_stop(o, &t), false;
    wick_onnx_trial_undo(o, &t);
    if (flow_loop_region(o, l, &changed)) return true;
  }
  if (changed) wick_onnx_unknown(o, 0, "the count of a loop whose values change their shapes");
  for (uint32_t i = 0; i < o->nin; i++) wick_onnx_want(o, o->in[i]);
  wick_onnx_trial_stop(o, &t);
  return false;
}

/* ---- Loop ---- */

static void flow_loop(wick_onnx_op *o)
{
  int64_t on = 1, most = INT64_MAX;
  wick_onnx_loop l = {.body = flow_graph(o, "body"), .conditional = true, .steps = -1};
  if (o->nin < 2) wick_onnx_fail(o, WICK_EPARSE, "it has %u inputs, expected 2 or more", o->nin);
  if (o->failed) return;
  l.ncarried = o->nin - 2;
  l.carried = o->in + 2;
  for (uint32_t k = 0; k < l.ncarried; k++)
    if (!l.carried[k].id) {
      wick_onnx_fail(o, WICK_EPARSE, "input %u is missing", 2 + k);
      return;
    }
  bool counted = !wick_onnx_has(o, 0) || wick_onnx_known_int(o->c, o->in[0], &most),
       begins = !wick_onnx_has(o, 1) || wick_onnx_known_int(o->c, o->in[1], &on);
  const wick_value_info *trips = wick_onnx_has(o, 0) ? &o->b->values.at[o->in[0].id] : NULL;
  bool stacks = l.body->output.n > 1 + l.ncarried,
       open = stacks && !counted && begins && on && trips->ncontent == 1;
  if (open) wick_onnx_loop_counted(o, trips->content[0], &l);
  if (!open) l.count = counted ? flow_number(o, WICK_I64, most) : wick_onnx_scalar(o, 0);
  if (begins && !on)
    l.count = flow_number(o, WICK_I64, 0), most = 0;
  else if (!begins)
    l.count = wick_build3(o->b, WICK_OP_where, wick_onnx_scalar(o, 1), l.count,
                          flow_number(o, WICK_I64, 0));
  most = most < 0 ? 0 : most;
  if (counted && begins && wick_onnx_has(o, 0)) l.steps = most;
  if (!open) l.most = wick_dim_const(most);
  l.result = wick_new(o->c->tmp, wick_value, l.ncarried + l.body->output.n + 1);
  if (stacks && !open && (!counted || !begins || !wick_onnx_has(o, 0))) {
    wick_onnx_unknown(o, counted ? 1 : 0, "the number of iterations, on which shapes depend,");
    return;
  }
  if (l.body->output.n < 1 + (size_t)o->nout)
    wick_onnx_fail(o, WICK_EPARSE, "it has %u outputs, but its body has fewer", o->nout);
  if (o->failed || o->b->status || !wick_onnx_loop_build(o, &l)) return;
  for (uint32_t k = 0; k < o->nout; k++) o->out[k] = l.result[k];
}

const wick_onnx_row wick_onnx_flow_rows[] = {
    {"If", 1, {1, 1}, WICK_ANY, "then_branch:g! else_branch:g!", flow_if, WICK_OP_if, 0},
    {"Loop", 1, {0, WICK_ANY}, WICK_ANY, "body:g!", flow_loop, WICK_OP_loop, 0},
    {"Scan",
     8,
     {0, WICK_ANY},
     WICK_ANY,
     "body:g! num_scan_inputs:i! directions:I",
     wick_onnx_scan_batched,
     WICK_OP_loop,
     0},
    {"Scan",
     9,
     {1, WICK_ANY},
     WICK_ANY,
     "body:g! num_scan_inputs:i! scan_input_axes:I scan_input_directions:I scan_output_axes:I "
     "scan_output_directions:I",
     wick_onnx_scan,
     WICK_OP_loop,
     0},
    {NULL, 0, {0, 0}, 0, NULL, NULL, WICK_OP_none, 0},
};
