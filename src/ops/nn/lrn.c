/* Local response normalization, over neighbouring channels. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status lrn_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 2, &x));
  return wick_infer_same(c);
}

static wick_status lrn_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  int64_t size = c->attr[WICK_ATTR_lrn_size].i, channels = x->dim[1],
          inner = wick_ref_product(x, 2, x->rank);
  wick_scalar *v = wick_ref_load(c->mem, x);
  uint64_t at = 0;
  for (int64_t n = 0; n < x->dim[0]; n++)
    for (int64_t ch = 0; ch < channels; ch++)
      for (int64_t i = 0; i < inner; i++, at++) {
        double sum = 0;
        int64_t lo = ch - (size - 1) / 2, hi = lo + size;
        for (int64_t k = wick_max_i64(lo, 0); k < wick_min_i64(hi, channels); k++) {
          double near = v[(n * channels + k) * inner + i].f;
          sum = wick_ref_range(x->elem, sum + wick_ref_range(x->elem, near * near));
        }
        double factor =
            c->attr[WICK_ATTR_lrn_bias].f + c->attr[WICK_ATTR_lrn_alpha].f / (double)size * sum;
        wick_scalar y = {.f = v[at].f / pow(factor, c->attr[WICK_ATTR_lrn_beta].f)};
        wick_ref_write(&c->out[0], at, 1, &y);
      }
  return NULL;
}

/* ---- stages ---- */

static wick_value lrn_number(wick_builder *b, double x, wick_elem e)
{
  return wick_build_const(b, wick_type_scalar(b->module, e, 1), x, 0);
}

/* Builds s^beta. The exponents that networks have are products of square roots, each of which is
 * correctly rounded. This is cheaper and more accurate than pow. */
static wick_value lrn_power(wick_builder *b, wick_value s, double beta, wick_elem e)
{
  if (beta != 0.5 && beta != 0.75) return wick_build2(b, WICK_OP_pow, s, lrn_number(b, beta, e));
  wick_value root = wick_build1(b, WICK_OP_sqrt, s);
  return beta == 0.5 ? root : wick_build2(b, WICK_OP_mul, root, wick_build1(b, WICK_OP_sqrt, root));
}

static void lrn_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_elem elem = x->elem, acc = wick_stage_arith(elem);
  int64_t size = c->attr[WICK_ATTR_lrn_size].i;
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK], near[WICK_MAX_RANK];
  wick_type wide = wick_type_with_elem(b->module, c->out_type[0], acc);
  uint32_t n = wick_axes_of(b, wide, axis);
  for (uint32_t k = 0; k < n; k++) index[k] = near[k] = axis[k].sym;
  axis[n] = wick_make_axis(b, "w", wick_dim_const(size), true);
  near[1] =
      wick_dim_add(b->module->dims, index[1],
                   wick_dim_sub(b->module->dims, axis[n].sym, wick_dim_const((size - 1) / 2)));
  wick_value state = wick_stage_fold(b, "squares", n + 1, axis, wide, WICK_OP_add, acc);
  wick_value zero = size > 1 ? wick_stage_zero(b, elem) : (wick_value){0};
  wick_value v = wick_build_cast(b, wick_read(b, c->in[0], near, 0, NULL, zero), acc);
  state = wick_stage_finish(b, wick_stage_muladd(b, v, v, state), WICK_OP_add);
  wick_value squares = wick_stage_end(b, state, wide);
  n = wick_stage_map(c, 0, "lrn", axis);
  v = wick_build_cast(b, wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}), acc);
  wick_value s = wick_read(b, squares, index, 0, NULL, (wick_value){0});
  s = wick_build2(b, WICK_OP_mul, s,
                  lrn_number(b, c->attr[WICK_ATTR_lrn_alpha].f / (double)size, acc));
  s = wick_build2(b, WICK_OP_add, s, lrn_number(b, c->attr[WICK_ATTR_lrn_bias].f, acc));
  s = lrn_power(b, s, c->attr[WICK_ATTR_lrn_beta].f, acc);
  v = wick_build_cast(b, wick_build2(b, WICK_OP_div, v, s), elem);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_lrn = {
    .name = "lrn",
    .doc = "x / (bias + alpha/size * s)^beta for x [N, C, ...], where s is the sum of squares "
           "over a window of `size` channels that begins (size-1)/2 channels earlier",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"size", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 30},
             {"alpha", WICK_ATTR_FLOAT, 1e-4, false, NULL, 0, 0},
             {"beta", WICK_ATTR_FLOAT, 0.75, false, NULL, 0, 0},
             {"bias", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .elems = WICK_FLOATS,
    .infer = lrn_infer,
    .ref = lrn_ref,
    .compute = lrn_compute,
    .grad = wick_grad_lrn,
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};
