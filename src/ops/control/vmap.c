/* vmap: a function of many rows at once. graph/vmap builds its nodes. */
#include "ir/build.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/tensor.h"

/* Finds the number of rows: the attribute, or the size of the dimensions that `axes` names, which
 * are all equal. */
static wick_status vmap_rows(const wick_infer *c, wick_dim *out_n)
{
  const wick_attr *axes = &c->attr[WICK_ATTR_vmap_axes], *n = &c->attr[WICK_ATTR_vmap_n];
  uint32_t first = c->nin;
  if (axes->n && axes->n != c->nin)
    return wick_infer_fail(c, WICK_ETYPE, "axes has %u numbers for %u operands", axes->n, c->nin);
  if (n->n > 1) return wick_infer_fail(c, WICK_ETYPE, "n has %u numbers, expected 1", n->n);
  if (n->n) *out_n = n->dims[0];
  for (uint32_t k = 0; k < c->nin; k++) {
    int64_t axis = axes->n ? axes->ints[k] : 0;
    const wick_type_info *t = wick_type_get(c->module, c->in[k]->type);
    if (axis < 0) continue;
    if (t->kind != WICK_TENSOR || axis >= t->rank)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u has no dimension %lld", k, (long long)axis);
    if (first == c->nin && !n->n) *out_n = t->dim[axis];
    if (first == c->nin) first = k;
    if (!wick_infer_equal(c, *out_n, t->dim[axis]))
      return wick_infer_fail(c, WICK_ETYPE, "operand %u has %s rows, %s has %s", k,
                             wick_infer_dim_text(c, t->dim[axis]),
                             n->n ? "n" : wick_str_printf(c->mem, "operand %u", first),
                             wick_infer_dim_text(c, *out_n));
  }
  if (first == c->nin && !n->n)
    return wick_infer_fail(c, WICK_ETYPE, "no operand has rows, and n is not given");
  return NULL;
}

/* Returns whether a value of type `all` has rows of type `row` along an axis. */
static bool vmap_is(const wick_infer *c, wick_type row, wick_type all, uint32_t axis, wick_dim n)
{
  const wick_type_info *t = wick_type_get(c->module, row), *u = wick_type_get(c->module, all);
  if (t->kind != WICK_TENSOR || u->kind != WICK_TENSOR || u->rank != t->rank + 1u) return false;
  bool same = t->elem == u->elem && wick_dim_eq(u->dim[axis], n);
  for (uint32_t k = 0; k < t->rank; k++)
    same = same && wick_dim_eq(t->dim[k], u->dim[k < axis ? k : k + 1]);
  return same;
}

static wick_status vmap_infer(wick_infer *c)
{
  const wick_func *f = c->callee;
  const wick_attr *axes = &c->attr[WICK_ATTR_vmap_axes];
  wick_dim n = wick_dim_const(0);
  WICK_TRY(vmap_rows(c, &n));
  /* A function that is defined later in the text: the verifier checks the node. */
  if (!f) return NULL;
  const wick_node *r = wick_return(f);
  if (f->nparam != c->nin || r->nin != c->nwant)
    return wick_infer_fail(c, WICK_ETYPE, "@%s has %u parameters and %u results, not %u and %u",
                           f->name, f->nparam, r->nin, c->nin, c->nwant);
  for (uint32_t k = 0; k < c->nin; k++) {
    int64_t axis = axes->n ? axes->ints[k] : 0;
    wick_type own = f->value[k + 1].type;
    if (axis < 0 ? !wick_type_eq(own, c->in[k]->type)
                 : !vmap_is(c, own, c->in[k]->type, (uint32_t)axis, n))
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is %s, @%s takes %s", k,
                             wick_infer_type_text(c, c->in[k]->type), f->name,
                             wick_infer_type_text(c, own));
  }
  for (uint32_t k = 0; k < r->nin; k++)
    if (!vmap_is(c, wick_type_of(f, r->in[k]), c->want[k], 0, n))
      return wick_infer_fail(c, WICK_ETYPE, "result %u is %s, @%s returns %s", k,
                             wick_infer_type_text(c, c->want[k]), f->name,
                             wick_infer_type_text(c, wick_type_of(f, r->in[k])));
  return NULL;
}

const wick_op wick_op_vmap = {
    .name = "vmap",
    .doc = "Calls a function for each of `n` rows of its operands, and stacks its results along a "
           "new first dimension. `axes` has a dimension for each operand whose elements are the "
           "rows, or -1 for one that is the same in all of them; by default it is the first one of "
           "each. A pass replaces it by operators on all rows",
    .nin = {0, WICK_ANY},
    .nout = {0, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0},
             {"axes", WICK_ATTR_INTS, 0, false, NULL, -1, WICK_MAX_RANK},
             {"n", WICK_ATTR_DIMS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .objects = true,
    .effect = WICK_MAY_FAIL,
    .typed = true,
    .infer = vmap_infer,
    .grad = wick_grad_none,
    .batch.run = wick_batch_rows,
};
