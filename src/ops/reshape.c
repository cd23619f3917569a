/* The same elements in the same order, under another shape. */
#include "ops/ref.h"
#include "ops/tensor.h"

/* The target's dimensions, with 0 and -1 resolved. `rest` is the place of -1, or rank. */
static wick_status reshape_target(const wick_infer *c, const wick_type_info *x, uint32_t n,
                                  const wick_dim *want, wick_dim *dim, uint32_t *rest)
{
  *rest = n;
  for (uint32_t k = 0; k < n; k++) {
    dim[k] = want[k];
    if (wick_dim_is(want[k], 0) && !c->attr[0].i) {
      if (k >= x->rank)
        return wick_infer_fail(c, WICK_ETYPE, "dimension %u is to be copied (0), but x has rank %u",
                               k, x->rank);
      dim[k] = x->dim[k];
    } else if (wick_dim_is(want[k], -1)) {
      if (*rest < n) return wick_infer_fail(c, WICK_ETYPE, "two dimensions are -1");
      *rest = k;
    } else if (wick_dim_is_const(want[k]) && want[k].v < 0) {
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u is %lld", k, (long long)want[k].v);
    }
  }
  return NULL;
}

/* Products of x's and of the target's dimensions, without those that both have: so that symbols
 * cancel. */
static void reshape_products(wick_dims *t, const wick_type_info *x, uint32_t n, const wick_dim *dim,
                             uint32_t rest, wick_dim *out_have, wick_dim *out_want)
{
  bool used[WICK_MAX_RANK] = {false};
  *out_have = *out_want = wick_dim_const(1);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = 0;
    if (k == rest) continue;
    while (i < x->rank && (used[i] || wick_dim_is(dim[k], 0) || !wick_dim_eq(x->dim[i], dim[k])))
      i++;
    if (i < x->rank)
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
  const wick_dim *want;
  wick_dim dim[WICK_MAX_RANK], have_n, want_n;
  wick_dims *t = c->module->dims;
  uint32_t n, rest;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  WICK_TRY(wick_infer_known(c, 1, "shape", &n, &want));
  if (n > WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ELIMIT, "rank %u, at most %d is possible", n, WICK_MAX_RANK);
  WICK_TRY(reshape_target(c, x, n, want, dim, &rest));
  reshape_products(t, x, n, dim, rest, &have_n, &want_n);
  bool zero = wick_dim_is(want_n, 0);
  if (rest < n && !zero) dim[rest] = wick_dim_floordiv(t, have_n, want_n);
  if (rest < n && !zero) want_n = wick_dim_mul(t, want_n, dim[rest]);
  if (!wick_dim_eq(have_n, want_n) || (rest < n && zero)) {
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

const wick_op wick_op_reshape = {
    .name = "reshape",
    .doc = "x's elements in their order under the dimensions that the second operand, a vector of "
           "integers known before the run, gives. -1 (once): what is left; 0: x's size there, or, "
           "with `allow_zero`, 0",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"allow_zero", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .view = true,
    .infer = reshape_infer,
    .ref = reshape_ref,
};
