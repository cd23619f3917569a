/* Imports Attention and related operators: rotary embedding and linear
 * attention. */
#include <math.h>

#include "import/onnx/attention.h"

/* ---- biases ---- */

/* Pads a mask that is shorter than the keys. The remaining keys are not attended to. */
static wick_value attention_padded(wick_onnx_attention *a, wick_value mask)
{
  wick_onnx_op *o = a->o;
  const wick_type_info *t = wick_built_info(o->b, mask);
  wick_dim less =
      t->rank ? wick_dim_sub(o->c->module->dims, a->nk, t->dim[t->rank - 1]) : wick_dim_const(0);
  if (!t->rank || wick_dim_is(less, 0) || wick_dim_is(t->dim[t->rank - 1], 1)) return mask;
  wick_onnx_not_one(o, t->dim[t->rank - 1]);
  wick_dim pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < 2 * t->rank; k++) pad[k] = wick_dim_const(0);
  pad[2 * t->rank - 1] = less;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * t->rank, pad);
  double fill = t->elem == WICK_BOOL ? 0 : -(double)INFINITY;
  return wick_emit_end2(&e, mask, wick_emit_number(o->b, mask, fill));
}

static void attention_mask(wick_onnx_attention *a, uint32_t i)
{
  wick_onnx_op *o = a->o;
  if (!wick_onnx_has(o, i)) return;
  wick_value mask = attention_padded(a, o->in[i]);
  a->may_be_empty = true;
  wick_onnx_attention_add(a, wick_onnx_info(o, i)->elem == WICK_BOOL
                                 ? wick_onnx_attention_allowed(a, mask)
                                 : wick_build_cast(o->b, mask, a->elem));
}

/* Restricts the keys that a query may attend to, by its position among the keys. `first` is the
 * position of the first query: one number, or one for each batch. */
static void attention_frontier(wick_onnx_attention *a, wick_value first)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  int64_t left = wick_onnx_int(o, "left_window_size", -1),
          right = wick_onnx_int(o, "right_window_size", -1);
  bool causal = wick_onnx_int(o, "is_causal", 0) != 0;
  if (!causal && left < 0 && right < 0) return;
  uint32_t rank = first.id ? 4 : 2;
  wick_value ahead = wick_build2(b, WICK_OP_sub, wick_emit_count_along(o->b, a->nk, rank - 1, rank),
                                 wick_emit_count_along(o->b, a->nq, rank - 2, rank));
  if (first.id) ahead = wick_build2(b, WICK_OP_sub, ahead, first);
  wick_value allowed = {0};
  const struct {
    bool is;
    wick_opcode op;
    int64_t bound;
  } rule[] = {
      {causal, WICK_OP_le, 0}, {left >= 0, WICK_OP_ge, -left}, {right >= 0, WICK_OP_le, right}};
  for (size_t i = 0; i < WICK_COUNT(rule); i++) {
    if (!rule[i].is || b->status) continue;
    wick_value is = wick_emit_by(o->b, rule[i].op, ahead, (double)rule[i].bound);
    allowed = allowed.id ? wick_build2(b, WICK_OP_and, allowed, is) : is;
  }
  wick_onnx_attention_add(a, wick_onnx_attention_allowed(a, allowed));
}

/* Masks padding: keys after a batch's count. The queries are at the end of the counted keys. */
static void attention_padding(wick_onnx_attention *a, uint32_t i, wick_dim past)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  wick_value first = {0};
  bool counted = wick_onnx_has(o, i);
  if (counted) {
    const wick_dim column[] = {wick_built_info(b, a->q)->dim[0], wick_dim_const(1),
                               wick_dim_const(1), wick_dim_const(1)};
    wick_value n = wick_build_reshape(o->b, o->in[i], 4, column);
    wick_value queries = wick_build1(b, WICK_OP_size, wick_emit_count(o->b, a->nq));
    first = wick_build2(b, WICK_OP_sub, n, queries);
    attention_frontier(a, first);
    wick_onnx_attention_add(
        a, wick_onnx_attention_allowed(
               a, wick_build2(b, WICK_OP_lt, wick_emit_count_along(o->b, a->nk, 3, 4), n)));
    a->may_be_empty = true;
    return;
  }
  if (!wick_dim_is(past, 0)) {
    const wick_dim one[] = {wick_dim_const(1), wick_dim_const(1), wick_dim_const(1),
                            wick_dim_const(1)};
    first =
        wick_build_reshape(o->b, wick_build1(b, WICK_OP_size, wick_emit_count(o->b, past)), 4, one);
  }
  a->may_be_empty = a->may_be_empty || wick_onnx_int(o, "left_window_size", -1) >= 0 ||
                    wick_onnx_int(o, "right_window_size", -1) >= 0;
  attention_frontier(a, first);
}

/* ---- attention ---- */

/* Reads Q, K and V as heads, and appends K and V to the cache. Returns false after it added a
 * failure. */
static bool attention_operands(wick_onnx_attention *a, bool *out_flat, wick_dim *out_past)
{
  wick_onnx_op *o = a->o;
  uint32_t rank = wick_onnx_info(o, 0)->rank;
  wick_value *const to[] = {&a->q, &a->k, &a->v};
  *out_flat = rank == 3;
  *out_past = wick_dim_const(0);
  for (uint32_t i = 0; i < 3; i++) {
    *to[i] = o->in[i];
    if (rank == 3)
      *to[i] =
          wick_onnx_heads(o, o->in[i], wick_onnx_int(o, i ? "kv_num_heads" : "q_num_heads", 0));
    if (!to[i]->id || wick_built_info(o->b, *to[i])->rank != 4) {
      if (!o->failed) wick_onnx_fail(o, WICK_ETYPE, "input %u has no rank 3 or 4", i);
      return false;
    }
  }
  if (wick_onnx_has(o, 4) != wick_onnx_has(o, 5) ||
      (wick_onnx_has(o, 4) && (wick_onnx_info(o, 4)->rank != 4 || wick_onnx_has(o, 6)))) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "past_key and past_value come together, of rank 4, and without "
                   "nonpad_kv_seqlen");
    return false;
  }
  if (wick_onnx_has(o, 4)) {
    *out_past = wick_onnx_info(o, 4)->dim[2];
    a->k = wick_build_concat(o->b, 2, 2, (wick_value[]){o->in[4], a->k});
    a->v = wick_build_concat(o->b, 2, 2, (wick_value[]){o->in[5], a->v});
  }
  if (o->b->status) return false;
  const wick_type_info *q = wick_built_info(o->b, a->q), *k = wick_built_info(o->b, a->k);
  a->nq = q->dim[2], a->nk = k->dim[2], a->elem = q->elem;
  if (wick_onnx_divides(o, q->dim[1], k->dim[1])) return true;
  wick_onnx_fail(o, WICK_ETYPE,
                 "the number of key heads does not divide the number of query heads");
  return false;
}

/* Scales x by the attribute, or by 1 / sqrt(size of a head), which is a float. `half`: scales by
 * the square root of that factor. */
static wick_value attention_scaled(const wick_onnx_attention *a, wick_value x, bool half)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  wick_dim size = b->status ? wick_dim_const(1) : wick_built_info(b, a->q)->dim[3];
  if (wick_dim_is_const(size) || wick_onnx_attr_find(o, "scale")) {
    double scale = wick_onnx_float(o, "scale", (float)(1 / sqrt((double)size.v)));
    return wick_emit_by(o->b, WICK_OP_mul, x, half ? sqrt(scale) : scale);
  }
  wick_value n = wick_build1(b, WICK_OP_size, wick_emit_count(o->b, size)),
             root = wick_build1(b, WICK_OP_sqrt, wick_build_cast(b, n, WICK_F64));
  if (b->status) return x;
  wick_value scale = wick_build2(b, WICK_OP_div, wick_emit_number(o->b, root, 1), root);
  scale = wick_build_cast(b, wick_build_cast(b, scale, WICK_F32), WICK_F64);
  if (half) scale = wick_build1(b, WICK_OP_sqrt, scale);
  return wick_build2(b, WICK_OP_mul, x, wick_build_cast(b, scale, a->elem));
}

/* Computes products of queries and keys. For narrow floats, each operand is multiplied with the
 * square root of the scale, as ONNX rounds. */
static wick_value attention_scores(wick_onnx_attention *a)
{
  wick_onnx_op *o = a->o;
  wick_value k = wick_build_transpose(o->b, a->k, 4, (const int64_t[]){0, 1, 3, 2});
  bool half = a->elem == WICK_F16 || a->elem == WICK_BF16;
  if (half) k = attention_scaled(a, k, half);
  return wick_onnx_attention_product(a, attention_scaled(a, a->q, half), k);
}

/* False after a failure was added. */
static bool attention_precision(wick_onnx_op *o, wick_elem *precision)
{
  int64_t number = wick_onnx_int(o, "softmax_precision", 0);
  if (!number || (wick_onnx_elem(number, precision) && wick_elem_is_float(*precision))) return true;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "softmax_precision %lld is not supported",
                 (long long)number);
  return false;
}

static void attention_import(wick_onnx_op *o)
{
  wick_onnx_attention a = {.o = o};
  wick_builder *b = o->b;
  bool flat;
  wick_dim past;
  wick_elem precision;
  if (!attention_operands(&a, &flat, &past)) return;
  precision = a.elem;
  if (!attention_precision(o, &precision)) return;
  attention_mask(&a, 3);
  attention_padding(&a, 6, past);
  wick_value raw = attention_scores(&a);
  wick_value capped = wick_onnx_attention_softcap(&a, raw, wick_onnx_float(o, "softcap", 0));
  wick_value scores = a.bias.id ? wick_build2(b, WICK_OP_add, capped, a.bias) : capped;
  wick_value p = wick_build_cast(b, wick_onnx_attention_softmax(&a, scores, precision), a.elem);
  wick_value y = wick_onnx_attention_product(&a, p, a.v);
  const wick_value shown[] = {capped, capped, scores, p};
  int64_t mode = wick_onnx_int(o, "qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    wick_onnx_fail(o, WICK_ERANGE, "qk_matmul_output_mode is %lld", (long long)mode);
    return;
  }
  const wick_value results[] = {flat ? wick_onnx_heads_joined(o, y) : y, a.k, a.v, shown[mode]};
  for (uint32_t i = 0; i < o->nout; i++) o->out[i] = results[i];
}

/* ---- attention with graphs in it ---- */

/* Applies the graph `name`, if it exists, to x. The result has the same type. Returns 0 after it
 * added a failure. */
static wick_value attention_modified(wick_onnx_op *o, const char *name, wick_value x)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  wick_value y = {0};
  if (!a || o->b->status) return x;
  if (!a->g || a->g->output.n != 1) {
    wick_onnx_fail(o, WICK_EPARSE, "%s is not a graph with one output", name);
    return y;
  }
  if (!wick_onnx_subgraph(o, a->g, 1, &x, &y)) return (wick_value){0};
  if (wick_type_eq(wick_built_type(o->b, x), wick_built_type(o->b, y))) return y;
  wick_onnx_fail(o, WICK_ETYPE, "the output of %s differs in type from its input", name);
  return (wick_value){0};
}

static void attention_flex(wick_onnx_op *o)
{
  wick_onnx_attention a = {.o = o};
  wick_builder *b = o->b;
  bool flat;
  wick_dim past;
  if (!attention_operands(&a, &flat, &past)) return;
  if (flat) {
    wick_onnx_fail(o, WICK_ETYPE, "its rank is 3, expected 4");
    return;
  }
  wick_elem precision = a.elem == WICK_F64 ? WICK_F64 : WICK_F32;
  if (!attention_precision(o, &precision)) return;
  wick_value p = wick_build_cast(b, attention_scores(&a), precision);
  p = attention_modified(o, "score_mod", p);
  if (!p.id) return;
  p = attention_modified(o, "prob_mod", wick_onnx_attention_softmax(&a, p, precision));
  if (!p.id) return;
  o->out[0] = wick_onnx_attention_product(&a, wick_build_cast(b, p, a.elem), a.v);
}

/* ---- rotary embedding ---- */

/* Returns cos or sin [batch, length, half], with an axis for heads. Gathers them from a table if
 * there are positions. */
static wick_value attention_angles(wick_onnx_op *o, uint32_t i, uint32_t axis)
{
  wick_value x = o->in[i];
  if (wick_onnx_has(o, 3)) x = wick_emit_gather(o->b, WICK_OP_gather, x, o->in[3], 0);
  return wick_emit_unsqueeze(o->b, x, axis);
}

static void attention_rotary(wick_onnx_op *o)
{
  const wick_type_info *t = wick_onnx_info(o, 0), *cos = wick_onnx_info(o, 1);
  bool flat = t->rank == 3;
  wick_value x = o->in[0];
  if ((!flat && t->rank != 4) || !cos->rank) {
    wick_onnx_fail(o, WICK_ETYPE, "ranks %u and %u, expected 3 or 4, and 1 or more", t->rank,
                   cos->rank);
    return;
  }
  if (flat) { /* [batch, length, heads, size]: no transposition is needed */
    wick_dim n = wick_dim_const(wick_onnx_int(o, "num_heads", 0));
    if (n.v < 1 || !wick_onnx_divides(o, t->dim[2], n)) {
      wick_onnx_fail(o, WICK_ETYPE, "%lld heads do not divide the last size", (long long)n.v);
      return;
    }
    wick_dim size = wick_dim_floordiv(o->c->module->dims, t->dim[2], n);
    x = wick_build_reshape(o->b, x, 4, (const wick_dim[]){t->dim[0], t->dim[1], n, size});
  }
  wick_value c = attention_angles(o, 1, flat ? 2 : 1), s = attention_angles(o, 2, flat ? 2 : 1);
  wick_value y = wick_onnx_rotated(o, x, c, s, wick_onnx_int(o, "interleaved", 0) != 0);
  o->out[0] = flat ? wick_build_reshape(o->b, y, 3, t->dim) : y;
}

/* ---- linear attention ---- */

enum { ATTENTION_STEPS = 4096 }; /* as for recurrent layers: docs/decisions/0007 */

typedef struct attention_state {
  wick_onnx_op *o;
  wick_value q, k, v, decay, beta; /* [batch, heads, steps, size]; 0: none */
  wick_value state;                /* [batch, heads, key size, value size] */
  double scale;
} attention_state;

/* Returns step t of x: [batch, heads, 1, size]. */
static wick_value attention_at(const attention_state *a, wick_value x, int64_t t)
{
  return wick_emit_slice(a->o->b, x, 2, wick_dim_const(t), wick_dim_const(1));
}

static wick_value attention_column(const attention_state *a, wick_value row)
{
  return wick_build_transpose(a->o->b, row, 4, (const int64_t[]){0, 1, 3, 2});
}

/* Computes step t of the recurrence. Returns the row that the query reads from the state. */
static wick_value attention_step(attention_state *a, int64_t t)
{
  wick_builder *b = a->o->b;
  wick_value k = attention_at(a, a->k, t), v = attention_at(a, a->v, t);
  if (a->decay.id)
    a->state =
        wick_build2(b, WICK_OP_mul, a->state,
                    wick_build1(b, WICK_OP_exp, attention_column(a, attention_at(a, a->decay, t))));
  if (a->beta.id)
    v = wick_build2(b, WICK_OP_mul, attention_at(a, a->beta, t),
                    wick_build2(b, WICK_OP_sub, v, wick_build2(b, WICK_OP_matmul, k, a->state)));
  a->state =
      wick_build2(b, WICK_OP_add, a->state, wick_build2(b, WICK_OP_mul, attention_column(a, k), v));
  wick_onnx_attention read = {.o = a->o};
  return wick_emit_by(a->o->b, WICK_OP_mul,
                      wick_onnx_attention_product(&read, attention_at(a, a->q, t), a->state),
                      a->scale);
}

/* Reads a gate, operand i: one number for each head, or for each of the head's keys. */
static wick_value attention_gate(wick_onnx_op *o, uint32_t i, int64_t heads)
{
  if (!wick_onnx_has(o, i)) return (wick_value){0};
  const wick_type_info *t = wick_onnx_info(o, i);
  int64_t n = t->rank == 3 && wick_dim_is(t->dim[2], 1) ? 1 : heads;
  return wick_build_cast(o->b, wick_onnx_heads(o, o->in[i], n), WICK_F32);
}

static void attention_linear(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  int64_t nq = wick_onnx_int(o, "q_num_heads", 0), nkv = wick_onnx_int(o, "kv_num_heads", 0);
  int rule = wick_onnx_word(o, "update_rule", "gated_delta linear gated delta");
  bool gated = rule == 0 || rule == 2, delta = rule == 0 || rule == 3;
  if (gated != wick_onnx_has(o, 4) || delta != wick_onnx_has(o, 5)) {
    wick_onnx_fail(o, WICK_ETYPE, "its inputs decay and beta do not fit its update rule");
    return;
  }
  attention_state a = {.o = o, .q = wick_onnx_heads(o, o->in[0], nq)};
  a.k = wick_onnx_heads(o, o->in[1], nkv);
  a.v = wick_onnx_heads(o, o->in[2], nkv);
  a.decay = attention_gate(o, 4, nkv);
  a.beta = attention_gate(o, 5, nkv);
  if (o->failed || b->status) return;
  const wick_type_info *q = wick_built_info(b, a.q), *k = wick_built_info(b, a.k);
  const wick_dim steps = k->dim[2], size = k->dim[3];
  const wick_dim shape[] = {k->dim[0], k->dim[1], size, wick_built_info(b, a.v)->dim[3]};
  wick_elem elem = q->elem, kept = wick_onnx_has(o, 3) ? wick_onnx_info(o, 3)->elem : elem;
  if (!wick_dim_is_const(steps) || !wick_dim_is_const(size)) {
    wick_onnx_must_be_known(o, "its length and the size of a head",
                            wick_dim_add(o->c->module->dims, steps, size));
    return;
  }
  if (steps.v < 1 || steps.v > ATTENTION_STEPS) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "its length is %lld, expected 1 to %d", (long long)steps.v,
                   ATTENTION_STEPS);
    return;
  }
  double scale = wick_onnx_float(o, "scale", 0);
  a.scale = scale != 0 ? scale : 1 / sqrt((double)size.v);
  a.q = wick_build_cast(b, a.q, WICK_F32);
  a.k = wick_build_cast(b, a.k, WICK_F32);
  a.v = wick_build_cast(b, a.v, WICK_F32);
  if (b->status) return;
  a.state = wick_onnx_has(o, 3) ? wick_build_cast(b, o->in[3], WICK_F32)
                                : wick_emit_expand(o->b, wick_emit_number(o->b, a.q, 0), 4, shape);
  wick_value *row = wick_new(o->c->tmp, wick_value, (size_t)steps.v);
  for (int64_t t = 0; t < steps.v && !b->status; t++) row[t] = attention_step(&a, t);
  if (b->status) return;
  wick_value y = steps.v > 1 ? wick_build_concat(o->b, 2, (uint32_t)steps.v, row) : row[0];
  o->out[0] = wick_build_cast(b, wick_onnx_heads_joined(o, y), elem);
  o->out[1] = wick_build_cast(b, a.state, kept);
}

#define ATTENTION_ATTRS                                                                            \
  "is_causal:i kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f "            \
  "softmax_precision:i"

const wick_onnx_row wick_onnx_attention_rows[] = {
    {"Attention", 23, {3, 6}, 4, ATTENTION_ATTRS, attention_import, 0, 0},
    {"Attention", 24, {3, 7}, 4, ATTENTION_ATTRS, attention_import, 0, 0},
    {"Attention",
     25,
     {3, 7},
     4,
     ATTENTION_ATTRS " left_window_size:i right_window_size:i",
     attention_import,
     0,
     0},
    {"ai.onnx.preview.FlexAttention",
     1,
     {3, 3},
     1,
     "prob_mod:g scale:f score_mod:g softmax_precision:i",
     attention_flex,
     0,
     0},
    {"LinearAttention",
     27,
     {3, 6},
     2,
     "chunk_size:i kv_num_heads:i! q_num_heads:i! scale:f update_rule:s",
     attention_linear,
     0,
     0},
    {"RotaryEmbedding",
     23,
     {3, 4},
     1,
     "interleaved:i num_heads:i rotary_embedding_dim:i",
     attention_rotary,
     0,
     0},
    {0},
};
