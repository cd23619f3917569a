/* The operators of groups: stages, and the operators that read in their bodies. */
#include "ir/op.h"

enum { STAGES_MOST_OWN = 256 };

/* Checks the types of a stage's results. A result ends with one dimension for each axis that is
 * not reduced, in order. Dimensions before these are the result's own: each point of the axes
 * yields all elements along them. */
static wick_status stages_results(const wick_infer *c, const wick_axis *axis, uint32_t naxis,
                                  bool reduce)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < naxis; i++) {
    if (axis[i].reduce && !reduce)
      return wick_infer_fail(c, WICK_ETYPE, "a map has no axis that is reduced");
    kept += !axis[i].reduce;
  }
  for (uint32_t o = 0; o < c->nwant; o++) {
    const wick_type_info *t = wick_type_get(c->module, c->want[o]);
    if (t->kind != WICK_TENSOR)
      return wick_infer_fail(c, WICK_ETYPE, "a stage's result is a tensor");
    if (kept > t->rank)
      return wick_infer_fail(c, WICK_ETYPE, "the result has rank %u, the stage has %u axes",
                             t->rank, kept);
    uint32_t k = t->rank - kept;
    for (uint32_t i = 0; i < k; i++)
      if (!wick_dim_is_const(t->dim[i]) || t->dim[i].v < 1 || t->dim[i].v > STAGES_MOST_OWN)
        return wick_infer_fail(c, WICK_ETYPE,
                               "dimension %u of the result is its own, and not 1 to %d", i,
                               STAGES_MOST_OWN);
    for (uint32_t i = 0; i < naxis; i++) {
      if (axis[i].reduce) continue;
      if (!wick_dim_eq(t->dim[k], axis[i].extent))
        return wick_infer_fail(c, WICK_ETYPE,
                               "dimension %u of the result is not the extent of its axis", k);
      k++;
    }
  }
  return NULL;
}

/* Checks the values that region r yields: all elements of each result's own dimensions, the last
 * dimension fastest. */
static wick_status stages_yield(const wick_infer *c, uint32_t r, uint32_t kept)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->nwant; i++) {
    const wick_type_info *t = wick_type_get(c->module, c->want[i]);
    uint64_t own = 1;
    for (uint32_t k = 0; k + kept < t->rank; k++) own *= (uint64_t)t->dim[k].v;
    for (uint64_t k = 0; k < own && own <= STAGES_MOST_OWN; k++, n++)
      if (n < c->nyield[r] &&
          !wick_type_eq(c->yield[r][n], wick_type_scalar(c->module, t->elem, 1)))
        return wick_infer_fail(c, WICK_ETYPE, "value %u is not one element of its result", n);
    if (own > STAGES_MOST_OWN) n = UINT32_MAX / 2;
  }
  if (c->nyield[r] != n)
    return wick_infer_fail(c, WICK_ETYPE, "the stage yields %u values for %u elements",
                           c->nyield[r], n);
  return NULL;
}

static wick_status map_infer(wick_infer *c)
{
  WICK_TRY(
      stages_results(c, c->attr[WICK_ATTR_map_axes].axes, c->attr[WICK_ATTR_map_axes].n, false));
  if (c->nregionparam[0]) return wick_infer_fail(c, WICK_ETYPE, "a map's region has no parameters");
  return stages_yield(c, 0, c->attr[WICK_ATTR_map_axes].n);
}

const wick_op wick_op_map = {
    .name = "map",
    .doc = "A stage that computes each element of its results independently. A result may have "
           "dimensions of its own before those of the axes: one point then gives all elements "
           "along them. `bound` says how far the results may be from the exact meaning of the "
           "group's text",
    .nout = {1, WICK_ANY},
    .nregion = {1, 1},
    .attr = {{"name", WICK_ATTR_STRING, 0, false, NULL, 0, 0},
             {"axes", WICK_ATTR_AXES, 0, true, NULL, 0, 0},
             {"bound", WICK_ATTR_STRING, 0, false, NULL, 0, 0}},
    .level = WICK_GROUP,
    .stage = true,
    .typed = true,
    .infer = map_infer,
};

/* Regions: init() -> S, step(S) -> S, merge(S, S) -> S, finish(S) -> results. */
static wick_status fold_infer(wick_infer *c)
{
  WICK_TRY(
      stages_results(c, c->attr[WICK_ATTR_fold_axes].axes, c->attr[WICK_ATTR_fold_axes].n, true));
  uint32_t n = c->nyield[0], want_param[4] = {0, n, 2 * n, n};
  for (uint32_t r = 0; r < 4; r++) {
    if (c->nregionparam[r] != want_param[r])
      return wick_infer_fail(c, WICK_ETYPE, "region %u takes %u values, expected %u", r,
                             c->nregionparam[r], want_param[r]);
    for (uint32_t i = 0; i < want_param[r]; i++)
      if (!wick_type_eq(c->param[r][i], c->yield[0][i % n]))
        return wick_infer_fail(c, WICK_ETYPE, "region %u takes a state of another type", r);
    if (r == 3) break;
    if (c->nyield[r] != n)
      return wick_infer_fail(c, WICK_ETYPE, "region %u yields %u values, the state has %u", r,
                             c->nyield[r], n);
    for (uint32_t i = 0; i < n; i++)
      if (!wick_type_eq(c->yield[r][i], c->yield[0][i]))
        return wick_infer_fail(c, WICK_ETYPE, "region %u yields a state of another type", r);
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->attr[WICK_ATTR_fold_axes].n; i++)
    kept += !c->attr[WICK_ATTR_fold_axes].axes[i].reduce;
  return stages_yield(c, 3, kept);
}

const wick_op wick_op_fold = {
    .name = "fold",
    .doc = "A stage that folds its reduced axes into a state, by four regions: init, step, merge "
           "and finish",
    .nout = {1, WICK_ANY},
    .nregion = {4, 4},
    .attr = {{"name", WICK_ATTR_STRING, 0, false, NULL, 0, 0},
             {"axes", WICK_ATTR_AXES, 0, true, NULL, 0, 0}},
    .level = WICK_GROUP,
    .stage = true,
    .typed = true,
    .infer = fold_infer,
};

wick_status wick_infer_place(wick_infer *c, uint32_t behind, wick_type *out_element)
{
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  if (c->attr[WICK_ATTR_read_index].n != t->rank)
    return wick_infer_fail(c, WICK_ETYPE, "%u indices into a tensor of rank %u",
                           c->attr[WICK_ATTR_read_index].n, t->rank);
  uint32_t nany = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    nany += wick_dim_eq(c->attr[WICK_ATTR_read_index].dims[i], WICK_DIM_ANY);
  if (c->nin != 1 + nany + behind)
    return wick_infer_fail(c, WICK_ETYPE, "%u operands, expected %u", c->nin, 1 + nany + behind);
  for (uint32_t i = 1; i <= nany; i++)
    if (!wick_type_eq(c->in[i]->type, wick_type_scalar(c->module, WICK_I64, 1)))
      return wick_infer_fail(c, WICK_ETYPE, "run-time index %u is not an i64", i - 1);
  *out_element = wick_type_scalar(c->module, t->elem, 1);
  return NULL;
}

static wick_status read_infer(wick_infer *c)
{
  wick_type element;
  bool guard = c->attr[WICK_ATTR_read_guard].i;
  if (wick_type_get(c->module, c->in[0]->type)->kind != WICK_TENSOR)
    return wick_infer_fail(c, WICK_ETYPE, "the operand that is read is not a tensor");
  WICK_TRY(wick_infer_place(c, guard, &element));
  if (guard && !wick_type_eq(c->in[c->nin - 1]->type, element))
    return wick_infer_fail(c, WICK_ETYPE, "the value outside is not one element");
  c->out[0].type = element;
  return NULL;
}

const wick_op wick_op_read = {
    .name = "read",
    .doc = "One element of a tensor. With `guard`, an index out of bounds gives the last operand; "
           "without it the index is in bounds",
    .nin = {1, WICK_ANY},
    .nout = {1, 1},
    .attr = {{"index", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"guard", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GROUP,
    .infer = read_infer,
};

static wick_status index_infer(wick_infer *c)
{
  if (c->attr[WICK_ATTR_index_expr].n != 1)
    return wick_infer_fail(c, WICK_ETYPE, "one expression is expected");
  c->out[0].type = wick_type_scalar(c->module, WICK_I64, 1);
  return NULL;
}

const wick_op wick_op_index = {
    .name = "index",
    .doc = "The value of an expression of the axes, as an i64",
    .nout = {1, 1},
    .attr = {{"expr", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GROUP,
    .infer = index_infer,
};
