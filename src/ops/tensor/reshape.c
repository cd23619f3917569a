/* reshape: the same elements in the same order, with another shape. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* Multiplies x's and the target's dimensions, except those that both have, so that symbols
 * cancel. Zeros cancel only if there is a -1, whose size is then the same as for any other value
 * of these dimensions. */
static void reshape_products(wick_dims *t, const wick_type_info *x, uint32_t n, const wick_dim *dim,
                             uint32_t rest, wick_dim *out_have, wick_dim *out_want)
{
  bool used[WICK_MAX_RANK] = {false};
  *out_have = *out_want = wick_dim_const(1);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = 0;
    if (k == rest) continue;
    while (i < x->rank && (used[i] || !wick_dim_eq(x->dim[i], dim[k]))) i++;
    if (i < x->rank && (rest < n || !wick_dim_is(dim[k], 0)))
      used[i] = true;
    else
      *out_want = wick_dim_mul(t, *out_want, dim[k]);
  }
  for (uint32_t i = 0; i < x->rank; i++)
    if (!used[i]) *out_have = wick_dim_mul(t, *out_have, x->dim[i]);
}

static wick_status reshape_infer(wick_infer *c)
{
  const wick_type_info *x;
  const wick_dim *want = c->attr[WICK_ATTR_reshape_shape].dims;
  wick_dim dim[WICK_MAX_RANK], have_n, want_n;
  wick_dims *t = c->module->dims;
  uint32_t n = c->attr[WICK_ATTR_reshape_shape].n, rest = n;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (n > WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ELIMIT, "rank %u, at most %d is possible", n, WICK_MAX_RANK);
  for (uint32_t k = 0; k < n; k++) {
    dim[k] = want[k];
    if (!wick_dim_is(want[k], -1)) continue;
    if (rest < n) return wick_infer_fail(c, WICK_ETYPE, "two dimensions are -1");
    rest = k;
  }
  reshape_products(t, x, n, dim, rest, &have_n, &want_n);
  bool zero = wick_dim_is(want_n, 0);
  if (rest < n && !zero) dim[rest] = wick_dim_floordiv(t, have_n, want_n);
  if (rest < n && !zero) want_n = wick_dim_mul(t, want_n, dim[rest]);
  if ((rest < n && zero) || !wick_infer_equal(c, have_n, want_n)) {
    bool known = wick_dim_is_const(have_n) && wick_dim_is_const(want_n);
    wick_text text = wick_text_begin(c->mem);
    for (uint32_t k = 0; k < n; k++) {
      if (k) wick_text_char(&text, ',');
      wick_dim_print(t, want[k], &text);
    }
    return wick_infer_fail(c, WICK_ETYPE, "%s %s [%s]", wick_infer_type_text(c, c->in[0]->type),
                           known ? "does not fill" : "is not known to fill", text.at);
  }
  wick_infer_out(c, 0, x->elem, n, dim);
  wick_infer_moved(c, 1);
  return NULL;
}

static wick_status reshape_ref(wick_ref *c)
{
  uint64_t n = wick_ref_numel(&c->out[0]);
  for (uint64_t i = 0; i < n; i++) wick_ref_move(&c->out[0], i, &c->in[0], i);
  return NULL;
}

/* Dimensions that are equal at both ends keep their index. Those between go through one linear
 * index. */
static void reshape_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], linear = wick_dim_const(0);
  uint32_t n = wick_stage_map(c, 0, "reshape", axis), lead = 0, tail = 0;
  while (lead < n && lead < x->rank && wick_dim_eq(axis[lead].extent, x->dim[lead])) lead++;
  while (tail + lead < n && tail + lead < x->rank &&
         wick_dim_eq(axis[n - 1 - tail].extent, x->dim[x->rank - 1 - tail]))
    tail++;
  for (uint32_t k = 0; k < lead; k++) index[k] = axis[k].sym;
  for (uint32_t k = 0; k < tail; k++) index[x->rank - 1 - k] = axis[n - 1 - k].sym;
  for (uint32_t k = lead; k < n - tail; k++)
    linear = wick_dim_add(t, wick_dim_mul(t, linear, axis[k].extent), axis[k].sym);
  for (uint32_t k = x->rank - tail; k-- > lead;) {
    index[k] = k == lead ? linear : wick_dim_mod(t, linear, x->dim[k]);
    linear = wick_dim_floordiv(t, linear, x->dim[k]);
  }
  wick_value v = wick_read(b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_reshape = {
    .name = "reshape",
    .doc = "The elements of x, in their order, with the dimensions `shape`. One dimension may be "
           "-1: it is inferred",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"shape", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .rearranges = true,
    .view_of = {.kind = WICK_VIEW_SAME},
    .simplify = wick_simplify_reshape,
    .infer = reshape_infer,
    .ref = reshape_ref,
    .compute = reshape_compute,
    .grad = wick_grad_reshape_row,
    .linear = {1},
    .batch.run = wick_batch_axes,
};
