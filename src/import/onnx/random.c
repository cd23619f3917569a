/* Imports random operators as the operator `random` with a key, and compositions of it.
 *
 * If the model gives a seed, it is the key: the bits of a float, or the whole number. Otherwise the
 * key is derived from the name of the node's first result and those of the calls around it. So each
 * node has a stream of its own, and every run of a model gives the same numbers. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "import/onnx/import.h"

static uint64_t random_name_key(const wick_onnx_op *o)
{
  uint64_t h = WICK_HASH_SEED;
  for (const wick_onnx_scope *s = o->c->scope; o; o = s->call, s = s->outer) {
    wick_span name = o->node->output.n ? o->node->output.at[0] : (wick_span){0};
    h = wick_hash_bytes(h, name.at, name.nbytes);
    if (!s->call) break;
  }
  return h;
}

static wick_value random_key(wick_onnx_op *o)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "seed");
  uint64_t key = random_name_key(o);
  if (a && strstr(o->row->attrs, "seed:i")) {
    key = (uint64_t)a->i;
  } else if (a) {
    float seed = (float)wick_onnx_float(o, "seed", 0);
    uint32_t bits;
    memcpy(&bits, &seed, sizeof bits);
    key = bits;
  }
  wick_type type = wick_type_tensor(o->c->module, WICK_U64, 0, NULL);
  return wick_build_const(o->b, type, 0, (int64_t)key);
}

/* Draws floats of that shape, in the arithmetic of type e: f32 or f64. */
static wick_value random_draw(wick_onnx_op *o, int64_t kind, wick_elem e, uint32_t rank,
                              const wick_dim *dim)
{
  wick_value key = random_key(o);
  wick_emit emit = wick_emit_begin(o->b, WICK_OP_random);
  wick_emit_set_int(&emit, "kind", kind);
  wick_type want = wick_type_tensor(o->c->module, wick_elem_storage[e].arith, rank, dim);
  return wick_build(o->b, WICK_OP_random, 1, &key, emit.attr, 1, &want);
}

/* Reads the element type of `dtype`, by default `otherwise`. Returns false after it added a
 * failure. */
static bool random_elem(wick_onnx_op *o, wick_elem otherwise, wick_elem *out)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "dtype");
  *out = otherwise;
  if (!a || (wick_onnx_elem(a->i, out) && *out != WICK_STRING)) return true;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "elements of type %s are not supported",
                 wick_onnx_elem_name(a->i, o->c->tmp));
  return false;
}

static bool random_float_elem(wick_onnx_op *o, wick_elem otherwise, wick_elem *out)
{
  if (!random_elem(o, otherwise, out)) return false;
  if (wick_elem_is_float(*out) && wick_elem_storage[*out].bits >= 16) return true;
  wick_onnx_fail(o, WICK_ETYPE, "random elements of type %s, expected floats",
                 wick_elem_name(*out));
  return false;
}

/* Builds x * factor + term, without a factor of 1 and a term of 0. */
static wick_value random_scaled(wick_onnx_op *o, wick_value x, double factor, double term)
{
  if (factor != 1) x = wick_emit_by(o->b, WICK_OP_mul, x, factor);
  return term != 0 ? wick_emit_by(o->b, WICK_OP_add, x, term) : x;
}

/* The row's `arg` is the kind: 0 for uniform, 1 for normal. */
static void random_filled(wick_onnx_op *o, wick_elem e, uint32_t rank, const wick_dim *dim)
{
  bool normal = o->row->arg;
  double low = wick_onnx_float(o, "low", 0), high = wick_onnx_float(o, "high", 1),
         factor = normal ? wick_onnx_float(o, "scale", 1) : high - low,
         term = normal ? wick_onnx_float(o, "mean", 0) : low;
  wick_value v = random_scaled(o, random_draw(o, normal, e, rank, dim), factor, term);
  o->out[0] = wick_build_cast(o->b, v, e);
}

static void random_shaped(wick_onnx_op *o)
{
  wick_elem e;
  wick_dim dim[WICK_MAX_RANK];
  wick_wire_i64s shape = wick_onnx_ints(o, "shape");
  if (!random_float_elem(o, WICK_F32, &e)) return;
  if (shape.n > WICK_MAX_RANK) {
    wick_onnx_fail(o, WICK_ETYPE, "its rank is %zu, expected at most %d", shape.n, WICK_MAX_RANK);
    return;
  }
  for (size_t k = 0; k < shape.n; k++) {
    dim[k] = wick_dim_const(shape.at[k]);
    if (shape.at[k] >= 0) continue;
    wick_onnx_fail(o, WICK_ERANGE, "dimension %zu is %lld", k, (long long)shape.at[k]);
    return;
  }
  random_filled(o, e, (uint32_t)shape.n, dim);
}

static void random_like(wick_onnx_op *o)
{
  wick_elem e;
  const wick_type_info *x = wick_onnx_info(o, 0);
  if (random_float_elem(o, x->elem, &e)) random_filled(o, e, x->rank, x->dim);
}

/* Returns 1 where a uniform number is below the probability. */
static void random_bernoulli(wick_onnx_op *o)
{
  wick_elem e;
  const wick_type_info *p = wick_onnx_info(o, 0);
  if (!random_elem(o, p->elem, &e)) return;
  wick_elem wide = wick_elem_storage[p->elem].arith;
  wick_value u = random_draw(o, 0, p->elem, p->rank, p->dim);
  wick_value hit = wick_build2(o->b, WICK_OP_lt, u, wick_build_cast(o->b, o->in[0], wide));
  o->out[0] = wick_build_cast(o->b, hit, e);
}

/* Sums the weights of the classes in order, in f64. A sample is the number of sums that do not
 * exceed a uniform fraction of the total. A class of weight 0 is never drawn. */
static void random_multinomial(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_elem e;
  const wick_type_info *x = wick_onnx_info(o, 0);
  int64_t n = wick_onnx_int(o, "sample_size", 1);
  if (!random_elem(o, WICK_I32, &e)) return;
  if (x->rank != 2 || n < 1 || (e != WICK_I32 && e != WICK_I64)) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "rank %u and %lld samples of %s, expected 2 and 1 or more of i32 or i64",
                   x->rank, (long long)n, wick_elem_name(e));
    return;
  }
  wick_dim shape[] = {x->dim[0], wick_dim_const(n), wick_dim_const(1)};
  wick_dim last = wick_dim_sub(o->c->module->dims, x->dim[1], wick_dim_const(1));
  wick_value logits = wick_build_cast(b, o->in[0], WICK_F64);
  wick_value most = wick_emit_reduce1(o->b, WICK_OP_reduce_max, logits, 1, true);
  wick_value weight = wick_build1(b, WICK_OP_exp, wick_build2(b, WICK_OP_sub, logits, most));
  wick_emit scan = wick_emit_begin(o->b, WICK_OP_cumsum);
  wick_emit_set_int(&scan, "axis", 1);
  wick_value sums = wick_emit_end1(&scan, weight);
  wick_value all = wick_emit_slice(o->b, sums, 1, last, wick_dim_const(1)),
             u = random_draw(o, 0, WICK_F64, 3, shape);
  wick_value share = wick_build2(b, WICK_OP_mul, u, wick_emit_unsqueeze(o->b, all, 1));
  wick_value before = wick_build2(b, WICK_OP_le, wick_emit_unsqueeze(o->b, sums, 1), share);
  wick_value at =
      wick_emit_reduce1(o->b, WICK_OP_reduce_sum, wick_build_cast(b, before, WICK_I64), 2, false);
  if (b->status) return;
  wick_value end = wick_build_const(b, wick_type_tensor(o->c->module, WICK_I64, 0, NULL), 0,
                                    wick_dim_is_const(last) ? last.v : INT64_MAX);
  o->out[0] = wick_build_cast(b, wick_build2(b, WICK_OP_min, at, end), e);
}

/* ---- Dropout ---- */

/* Inference keeps all elements. The mask is all ones; from opset 10 on it is bool. */
static void random_kept(wick_onnx_op *o)
{
  o->out[0] = o->in[0];
  wick_type type = wick_built_type(o->b, o->in[0]);
  if (o->opset >= 10) type = wick_type_with_elem(o->c->module, type, WICK_BOOL);
  if (o->nout > 1) o->out[1] = wick_build_const(o->b, type, 1, 1);
}

/* Keeps an element where a uniform number is at least the ratio, a tensor of rank 0, and divides
 * it by 1 - ratio. */
static void random_dropped(wick_onnx_op *o, wick_value ratio)
{
  wick_builder *b = o->b;
  const wick_type_info *x = wick_onnx_info(o, 0);
  wick_elem e = x->elem, wide = wick_elem_storage[e].arith;
  ratio = wick_build_cast(b, ratio, wide);
  wick_value u = random_draw(o, 0, e, x->rank, x->dim), data = wick_build_cast(b, o->in[0], wide);
  if (b->status) return;
  wick_value one = wick_emit_number(o->b, data, 1), none = wick_emit_number(o->b, data, 0);
  wick_value scale = wick_build2(b, WICK_OP_div, one, wick_build2(b, WICK_OP_sub, one, ratio)),
             mask = wick_build2(b, WICK_OP_ge, u, ratio);
  wick_value y =
      wick_build3(b, WICK_OP_where, mask, wick_build2(b, WICK_OP_mul, data, scale), none);
  o->out[0] = wick_build_cast(b, y, e);
  if (o->nout > 1) o->out[1] = o->opset >= 10 ? mask : wick_build_cast(b, mask, e);
}

/* It trains unless is_test is set. */
static void random_dropout_1(wick_onnx_op *o)
{
  if (wick_onnx_int(o, "is_test", 0)) {
    random_kept(o);
    return;
  }
  wick_type scalar = wick_type_tensor(o->c->module, WICK_F64, 0, NULL);
  random_dropped(o, wick_build_const(o->b, scalar, wick_onnx_float(o, "ratio", 0.5f), 0));
}

/* If only a run decides whether it trains, a ratio of 0 keeps all elements. */
static void random_dropout(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  const wick_dim *known = wick_onnx_has(o, 2) ? b->values.at[o->in[2].id].content : NULL;
  if (!wick_onnx_has(o, 2) || (known && wick_dim_is(*known, 0))) {
    random_kept(o);
    return;
  }
  wick_type scalar = wick_type_tensor(o->c->module, WICK_F64, 0, NULL);
  wick_value ratio = wick_onnx_has(o, 1) ? wick_build_cast(b, wick_onnx_scalar(o, 1), WICK_F64)
                                         : wick_build_const(b, scalar, 0.5, 0);
  if (!known)
    ratio = wick_build3(b, WICK_OP_where, wick_onnx_scalar(o, 2), ratio,
                        wick_build_const(b, scalar, 0, 0));
  random_dropped(o, ratio);
}

#define RANDOM_UNIFORM "dtype:i high:f low:f seed:f"
#define RANDOM_NORMAL "dtype:i mean:f scale:f seed:f"

const wick_onnx_row wick_onnx_random_rows[] = {
    {"Bernoulli", 15, {1, 1}, 1, "dtype:i seed:f", random_bernoulli, 0, 0},
    {"Dropout", 1, {1, 1}, 2, "is_test:i ratio:f", random_dropout_1, 0, 0},
    {"Dropout", 7, {1, 1}, 2, "ratio:f", random_kept, 0, 0},
    {"Dropout", 12, {1, 3}, 2, "seed:i", random_dropout, 0, 0},
    {"Multinomial", 7, {1, 1}, 1, "dtype:i sample_size:i seed:f", random_multinomial, 0, 0},
    {"RandomNormal", 1, {0, 0}, 1, RANDOM_NORMAL " shape:I!", random_shaped, 0, 1},
    {"RandomNormalLike", 1, {1, 1}, 1, RANDOM_NORMAL, random_like, 0, 1},
    {"RandomUniform", 1, {0, 0}, 1, RANDOM_UNIFORM " shape:I!", random_shaped, 0, 0},
    {"RandomUniformLike", 1, {1, 1}, 1, RANDOM_UNIFORM, random_like, 0, 0},
    {0},
};
