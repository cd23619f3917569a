/* Local response normalization, over neighbouring channels. */
#include <math.h>

#include "ops/ref.h"
#include "ops/tensor.h"

enum { LRN_SIZE, LRN_ALPHA, LRN_BETA, LRN_BIAS };

static wick_status lrn_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 2, &x));
  return wick_infer_same(c);
}

static wick_status lrn_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  int64_t size = c->attr[LRN_SIZE].i, channels = x->dim[1], inner = wick_ref_product(x, 2, x->rank);
  wick_scalar *v = wick_ref_load(c->mem, x);
  uint64_t at = 0;
  for (int64_t n = 0; n < x->dim[0]; n++)
    for (int64_t ch = 0; ch < channels; ch++)
      for (int64_t i = 0; i < inner; i++, at++) {
        double sum = 0;
        int64_t lo = ch - (size - 1) / 2, hi = lo + size;
        for (int64_t k = wick_max_i64(lo, 0); k < wick_min_i64(hi, channels); k++) {
          double near = v[(n * channels + k) * inner + i].f;
          sum += near * near;
        }
        double factor = c->attr[LRN_BIAS].f + c->attr[LRN_ALPHA].f / (double)size * sum;
        wick_scalar y = {.f = v[at].f / pow(factor, c->attr[LRN_BETA].f)};
        wick_ref_write(&c->out[0], at, 1, &y);
      }
  return NULL;
}

const wick_op wick_op_lrn = {
    .name = "lrn",
    .doc = "x / (bias + alpha/size * s)^beta for x [N, C, ...], where s is the sum of squares over "
           "`size` channels, (size-1)/2 of them before",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"size", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 30},
             {"alpha", WICK_ATTR_FLOAT, 1e-4, false, NULL, 0, 0},
             {"beta", WICK_ATTR_FLOAT, 0.75, false, NULL, 0, 0},
             {"bias", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = lrn_infer,
    .ref = lrn_ref,
};
