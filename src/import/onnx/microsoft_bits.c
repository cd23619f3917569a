/* Imports com.microsoft's operators on weights of few bits: products, tables of embeddings, mixtures of
 * experts. Weights that are constants stay as they are in the file, with another element type. */
#include <math.h>

#include "import/onnx/microsoft.h"
#include "ir/element.h"

/* ---- bits in bytes ---- */

static bool bits_elem(wick_onnx_op *o, int64_t bits, wick_elem *out)
{
  *out = bits == 2 ? WICK_U2 : bits == 4 ? WICK_U4 : WICK_U8;
  if (bits == 2 || bits == 4 || bits == 8) return true;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "%lld bits are not supported, only 2, 4 and 8",
                 (long long)bits);
  return false;
}

/* Makes a constant of bytes [..., n] one of [..., n * 8 / bits], on the same memory. */
static wick_value bits_constant(wick_onnx_op *o, const wick_node *n, wick_elem to)
{
  wick_module *m = o->c->module;
  const wick_imm *imm = wick_const_imm(n);
  if (!imm->constant) return (wick_value){0};
  const wick_constant k = *wick_constant_get(m, imm->constant);
  const wick_type_info *t = wick_type_get(m, k.type);
  wick_dim dim[WICK_MAX_RANK];
  int64_t per = 8 / wick_elem_storage[to].bits;
  if (!k.data) return (wick_value){0};
  for (uint32_t d = 0; d < t->rank; d++) dim[d] = t->dim[d];
  dim[t->rank - 1] = wick_dim_const(dim[t->rank - 1].v * per);
  wick_type type = wick_type_tensor(m, to, t->rank, dim);
  return wick_build_constant(o->b, wick_constant_add(m, k.name, type, k.data, k.nbytes));
}

/* Returns the numbers in the bytes of x, the lowest bits first, along its last axis: constants in their
 * own element type, other values as bytes. */
static wick_value bits_unpacked(wick_onnx_op *o, wick_value x, int64_t bits)
{
  wick_builder *b = o->b;
  wick_elem to;
  if (!x.id || b->status || !bits_elem(o, bits, &to) || bits == 8) return x;
  const wick_type_info *t = wick_built_info(b, x);
  if (t->elem != WICK_U8 || !t->rank || t->rank == WICK_MAX_RANK) return x;
  const wick_node *n = wick_emit_definer(b, x);
  wick_value known = n && n->op == WICK_OP_const ? bits_constant(o, n, to) : (wick_value){0};
  if (known.id) return known;
  uint32_t rank = t->rank, per = (uint32_t)(8 / bits);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) dim[k] = t->dim[k];
  dim[rank - 1] = wick_dim_mul(o->c->module->dims, dim[rank - 1], wick_dim_const(per));
  wick_value part[4], bytes = wick_emit_unsqueeze(o->b, x, rank);
  for (uint32_t k = 0; k < per; k++) {
    part[k] = wick_emit_by(o->b, WICK_OP_shift_right, bytes, (double)(k * (uint32_t)bits));
    part[k] = wick_emit_by(o->b, WICK_OP_bit_and, part[k], (double)((1 << bits) - 1));
  }
  return wick_build_reshape(o->b, wick_build_concat(o->b, rank, per, part), rank, dim);
}

/* Takes the first n elements of the last axis, if there are more. */
static wick_value bits_first(wick_onnx_op *o, wick_value x, wick_dim n)
{
  if (o->b->status || !x.id) return x;
  const wick_type_info *t = wick_built_info(o->b, x);
  if (wick_dim_eq(t->dim[t->rank - 1], n)) return x;
  return wick_emit_slice(o->b, x, t->rank - 1, wick_dim_const(0), n);
}

static wick_value bits_number(wick_onnx_op *o, wick_value like, double number)
{
  return o->b->status ? like : wick_emit_number(o->b, like, number);
}

/* (q - zero) * scale in blocks along the last axis of q [..., blocks * block]. scale and zero are [...,
 * blocks]; zero is 0 for none. The element type is the scale's. */
static wick_value bits_widened(wick_onnx_op *o, wick_value q, wick_value scale, wick_value zero,
                               wick_dim block)
{
  wick_builder *b = o->b;
  if (b->status || !q.id) return q;
  const wick_type_info *t = wick_built_info(b, q);
  wick_elem to = wick_built_info(b, scale)->elem;
  uint32_t rank = t->rank;
  wick_dim split[WICK_MAX_RANK], whole[WICK_MAX_RANK];
  if (rank == WICK_MAX_RANK) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "rank %u is not supported", rank);
    return q;
  }
  for (uint32_t k = 0; k < rank; k++) split[k] = whole[k] = t->dim[k];
  split[rank - 1] = wick_dim_floordiv(o->c->module->dims, whole[rank - 1], block);
  split[rank] = block;
  wick_value v = wick_build_reshape(o->b, q, rank + 1, split);
  if (zero.id && wick_elem_is_int(wick_built_info(b, zero)->elem)) {
    v = wick_build_cast(b, v, WICK_I32);
    zero = wick_build_cast(b, wick_emit_unsqueeze(o->b, zero, rank), WICK_I32);
    v = wick_build_cast(b, wick_build2(b, WICK_OP_sub, v, zero), to);
  } else {
    v = wick_build_cast(b, v, to);
    if (zero.id) v = wick_build2(b, WICK_OP_sub, v, wick_emit_unsqueeze(o->b, zero, rank));
  }
  v = wick_build2(b, WICK_OP_mul, v, wick_emit_unsqueeze(o->b, scale, rank));
  return wick_build_reshape(o->b, v, rank, whole);
}

/* ---- products ---- */

/* Weights [N, blocks, bytes of a block] with scales [N, blocks], or as one row of all, become [N, K]. */
static wick_value bits_weights(wick_onnx_op *o, int64_t bits, int64_t block)
{
  wick_dim n = wick_dim_const(wick_onnx_int(o, "N", 0)),
           k = wick_dim_const(wick_onnx_int(o, "K", 0));
  if (n.v < 1 || k.v < 1 || block < 1 || (block * bits) % 8) {
    wick_onnx_fail(o, WICK_ERANGE, "N %lld, K %lld and block_size %lld do not fit", (long long)n.v,
                   (long long)k.v, (long long)block);
    return (wick_value){0};
  }
  wick_dim blocks = wick_dim_const(k.v / block + (k.v % block != 0));
  const wick_dim scales[] = {n, blocks};
  wick_elem to;
  if (!bits_elem(o, bits, &to)) return (wick_value){0};
  wick_value q = wick_build_reshape(o->b, bits_unpacked(o, o->in[1], bits), 2,
                                    (const wick_dim[]){n, wick_dim_const(blocks.v * block)});
  wick_value zero = wick_microsoft_optional(o, 3);
  if (zero.id && wick_onnx_info(o, 3)->elem == WICK_U8) {
    int64_t row = (blocks.v * bits + 7) / 8;
    zero = wick_build_reshape(o->b, zero, 2, (const wick_dim[]){n, wick_dim_const(row)});
    zero = bits_first(o, bits_unpacked(o, zero, bits), blocks);
  } else if (zero.id) {
    zero = wick_build_reshape(o->b, zero, 2, scales);
  } else {
    wick_type one = wick_type_tensor(o->c->module, to, 2, scales);
    zero = wick_build_const(o->b, one, 0, (int64_t)1 << (bits - 1));
  }
  wick_value w = bits_widened(o, q, wick_build_reshape(o->b, o->in[2], 2, scales), zero,
                              wick_dim_const(block));
  return bits_first(o, w, k);
}

static void bits_matmul(wick_onnx_op *o)
{
  if (wick_onnx_int(o, "weight_prepacked", 0) || wick_onnx_has(o, 4)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "prepacked weights and g_idx are not supported");
    return;
  }
  wick_value w = bits_weights(o, wick_onnx_int(o, "bits", 4), wick_onnx_int(o, "block_size", 0));
  if (!w.id || o->failed || o->b->status) return;
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  w = wick_build_swap(o->b, wick_build_cast(o->b, w, elem));
  wick_value y = wick_build2(o->b, WICK_OP_matmul, o->in[0], w);
  o->out[0] = wick_microsoft_biased(o, y, 5);
}

/* The 16 numbers of bitsandbytes' 4-bit types: fp4 (its values divided by 12) and nf4, quantiles of a
 * normal distribution (Dettmers et al. 2023, arXiv:2305.14314, appendix E). */
static const double bits_tables[2][16] = {
    {0.0, 5.208333333e-03, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25, -0.0,
     -5.208333333e-03, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25},
    {-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
     -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
     0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
     0.7229568362236023, 1.0}};

/* Weights are indices into a table of 16 numbers, two in a byte with the first one above, times the
 * largest number of each block. */
static void bits_matmul_table(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  int64_t kind = wick_onnx_int(o, "quant_type", 0), block = wick_onnx_int(o, "block_size", 0),
          n = wick_onnx_int(o, "N", 0), k = wick_onnx_int(o, "K", 0), numel;
  if (kind < 0 || kind > 1 || n < 1 || k < 1 || block < 1 || __builtin_mul_overflow(n, k, &numel) ||
      numel % block || numel % 2) {
    wick_onnx_fail(o, WICK_ERANGE, "quant_type %lld, N %lld, K %lld and block_size %lld do not fit",
                   (long long)kind, (long long)n, (long long)k, (long long)block);
    return;
  }
  wick_value bytes = wick_emit_unsqueeze(o->b, o->in[1], 1);
  wick_value high = wick_emit_by(o->b, WICK_OP_shift_right, bytes, 4);
  wick_value low = wick_emit_by(o->b, WICK_OP_bit_and, bytes, 15);
  wick_value index = wick_build_concat(o->b, 1, 2, (wick_value[]){high, low});
  index = wick_build_cast(b, index, WICK_I64);
  index = wick_build_reshape(
      o->b, index, 2, (const wick_dim[]){wick_dim_const(numel / block), wick_dim_const(block)});
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  wick_value table = wick_onnx_table(o, elem, 1, (const int64_t[]){16}, bits_tables[kind]);
  wick_value w = wick_emit_gather(o->b, WICK_OP_gather, table, index, 0);
  wick_value most = wick_emit_unsqueeze(o->b, o->in[2], 1);
  w = wick_build2(b, WICK_OP_mul, w, wick_build_cast(b, most, elem));
  w = wick_build_reshape(o->b, w, 2, (const wick_dim[]){wick_dim_const(n), wick_dim_const(k)});
  if (wick_onnx_int(o, "transB", 1)) w = wick_build_swap(b, w);
  o->out[0] = wick_build2(b, WICK_OP_matmul, o->in[0], w);
}

/* Numbers of 4 bits in blocks of 32 rows of a column: a scale in f32, the zero point if blk_quant_type is
 * 1 (else it is 8), then 16 bytes with rows k and k + 16. Source: ONNX Runtime's mlas/lib/q4common.h. */
static void bits_matmul_blob(wick_onnx_op *o)
{
  enum { ROWS = 32, SCALE = 4, HALF = ROWS / 2 };
  wick_builder *b = o->b;
  int64_t kind = wick_onnx_int(o, "blk_quant_type", 1);
  uint32_t nshape;
  const int64_t *shape;
  if (!wick_onnx_numbers(o, 2, "B_shape", &nshape, &shape)) return;
  if (kind < 0 || kind > 1 || nshape != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > INT32_MAX ||
      shape[1] > INT32_MAX) {
    wick_onnx_fail(o, WICK_ERANGE, "blk_quant_type %lld with a B_shape of %u numbers does not fit",
                   (long long)kind, nshape);
    return;
  }
  wick_dim k = wick_dim_const(shape[0]), n = wick_dim_const(shape[1]);
  const wick_dim one = wick_dim_const(1), half = wick_dim_const(HALF);
  wick_dim blocks = wick_dim_const((k.v + ROWS - 1) / ROWS);
  const wick_dim all[] = {n, blocks, wick_dim_const(SCALE + kind + HALF)};
  wick_value blob = wick_build_reshape(b, o->in[1], 3, all), scale = {0};
  for (uint32_t i = 0; i < SCALE; i++) {
    wick_value byte = wick_emit_slice(b, blob, 2, wick_dim_const(i), one);
    byte = wick_emit_by(b, WICK_OP_shift_left, wick_build_cast(b, byte, WICK_U32), 8 * i);
    scale = scale.id ? wick_build2(b, WICK_OP_bit_or, scale, byte) : byte;
  }
  scale = wick_build_reshape(b, wick_emit_bits(b, scale, WICK_F32), 2, all);
  wick_value bytes = wick_emit_slice(b, blob, 2, wick_dim_const(SCALE + kind), half);
  wick_value part[2] = {wick_emit_by(b, WICK_OP_bit_and, bytes, 15), {0}};
  part[1] = wick_emit_by(b, WICK_OP_shift_right, bytes, 4);
  wick_value q = wick_build_concat(b, 2, 2, part), zero;
  q = wick_build_reshape(b, q, 2, (wick_dim[]){n, wick_dim_const(blocks.v * ROWS)});
  if (kind)
    zero = wick_build_reshape(b, wick_emit_slice(b, blob, 2, wick_dim_const(SCALE), one), 2, all);
  else
    zero = wick_build_const(b, wick_type_tensor(o->c->module, WICK_U8, 2, all), 0, 8);
  wick_value w = bits_first(o, bits_widened(o, q, scale, zero, wick_dim_const(ROWS)), k);
  if (b->status || o->failed) return;
  w = wick_build_cast(b, wick_build_swap(b, w), wick_onnx_info(o, 0)->elem);
  o->out[0] = wick_build2(b, WICK_OP_matmul, o->in[0], w);
}

/* ---- tables ---- */

/* Gathers rows of numbers, of their scales and of their zero points, then widens the rows. */
static void bits_gather(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  const wick_type_info *t = wick_onnx_info(o, 0);
  int64_t bits = t->elem == WICK_U8 ? wick_onnx_int(o, "bits", 4) : wick_elem_storage[t->elem].bits,
          block = wick_onnx_int(o, "block_size", 128);
  uint32_t axis, along;
  if (!wick_onnx_axis(o, wick_onnx_int(o, "gather_axis", 0), t->rank, &axis) ||
      !wick_onnx_axis(o, wick_onnx_int(o, "quantize_axis", 1), t->rank, &along))
    return;
  if (!wick_elem_is_int(t->elem) || axis == along || along + 1 != t->rank || block < 1) {
    wick_onnx_fail(
        o, WICK_EUNSUPPORTED,
        "only integers in blocks along the last axis are supported, gathered along another");
    return;
  }
  wick_value data = bits_unpacked(o, o->in[0], bits), zero = wick_microsoft_optional(o, 3);
  if (b->status || o->failed) return;
  const wick_type_info *s = wick_onnx_info(o, 2);
  wick_dim blocks = s->rank ? s->dim[s->rank - 1] : wick_dim_const(1);
  if (zero.id) zero = bits_first(o, bits_unpacked(o, zero, bits), blocks);
  if (!zero.id && t->elem == WICK_U8)
    zero = bits_number(o, data, (double)((int64_t)1 << (bits - 1)));
  wick_value row = wick_emit_gather(o->b, WICK_OP_gather, data, o->in[1], axis);
  wick_value scale = wick_emit_gather(o->b, WICK_OP_gather, o->in[2], o->in[1], axis);
  if (b->status) return;
  const wick_type_info *r = wick_built_info(b, scale);
  if (zero.id && wick_built_info(b, zero)->rank)
    zero = wick_emit_gather(o->b, WICK_OP_gather, zero, o->in[1], axis);
  else if (zero.id)
    zero = wick_emit_expand(o->b, zero, r->rank, r->dim);
  o->out[0] = bits_widened(o, row, scale, zero, wick_dim_const(block));
}

/* ---- mixtures of experts ---- */

typedef struct bits_expert { /* operands of one layer: weights [experts, out, in] and bias */
  uint32_t w, bias;
} bits_expert;

static wick_value bits_layer(wick_onnx_op *o, wick_value x, bits_expert l)
{
  wick_value y = wick_build2(o->b, WICK_OP_matmul, x, wick_build_swap(o->b, o->in[l.w]));
  if (!wick_onnx_has(o, l.bias)) return y;
  return wick_build2(o->b, WICK_OP_add, y, wick_emit_unsqueeze(o->b, o->in[l.bias], 1));
}

/* (linear + beta) * gate * sigmoid(alpha * gate), both limited */
static wick_value bits_swiglu(wick_onnx_op *o, wick_value gate, wick_value linear)
{
  double alpha = wick_onnx_float(o, "activation_alpha", 1),
         beta = wick_onnx_float(o, "activation_beta", 0),
         limit = wick_onnx_float(o, "swiglu_limit", INFINITY);
  if (isfinite(limit)) {
    gate = wick_emit_by(o->b, WICK_OP_min, gate, limit);
    linear = wick_emit_by(o->b, WICK_OP_min, linear, limit);
    linear = wick_emit_by(o->b, WICK_OP_max, linear, -limit);
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_swish);
  wick_emit_set_float(&e, "alpha", alpha);
  gate = wick_emit_end1(&e, gate);
  if (beta != 0) linear = wick_emit_by(o->b, WICK_OP_add, linear, beta);
  return wick_build2(o->b, WICK_OP_mul, gate, linear);
}

/* Splits the first layer's results into gates and linear parts: neighbours, or halves. */
static wick_value bits_fused(wick_onnx_op *o, wick_value y, bool neighbours)
{
  const wick_type_info *t = wick_built_info(o->b, y);
  wick_dim half = wick_dim_floordiv(o->c->module->dims, t->dim[2], wick_dim_const(2)),
           zero = wick_dim_const(0), one = wick_dim_const(1);
  wick_value part[2];
  if (neighbours) {
    y = wick_build_reshape(o->b, y, 4,
                           (const wick_dim[]){t->dim[0], t->dim[1], half, wick_dim_const(2)});
    part[0] = wick_emit_squeeze(o->b, wick_emit_slice(o->b, y, 3, zero, one), 3);
    part[1] = wick_emit_squeeze(o->b, wick_emit_slice(o->b, y, 3, one, one), 3);
  } else {
    part[0] = wick_emit_slice(o->b, y, 2, zero, half);
    part[1] = wick_emit_slice(o->b, y, 2, half, half);
  }
  return bits_swiglu(o, part[0], part[1]);
}

static wick_value bits_activated(wick_onnx_op *o, wick_value y, wick_value x)
{
  enum { RELU, GELU, SILU, SWIGLU, IDENTITY };
  int act = wick_onnx_word(o, "activation_type", "relu gelu silu swiglu identity");
  int64_t fusion = wick_onnx_int(o, "swiglu_fusion", 0);
  if (o->b->status) return y;
  if (act == SWIGLU && fusion) return bits_fused(o, y, fusion == 1);
  wick_value linear = wick_onnx_has(o, 6) ? bits_layer(o, x, (bits_expert){6, 7}) : (wick_value){0};
  if (act == SWIGLU) return linear.id ? bits_swiglu(o, y, linear) : y;
  static const wick_opcode ops[] = {WICK_OP_relu, WICK_OP_gelu, WICK_OP_swish};
  if (act != IDENTITY) y = wick_build1(o->b, ops[act], y);
  return linear.id ? wick_build2(o->b, WICK_OP_mul, y, linear) : y;
}

/* Returns how much each expert counts for each token, [experts, tokens, 1]: the k largest of the softmax of
 * the router's numbers, divided by their sum if the attribute says so; 0 for the other experts. The numbers
 * `weight`, if not 0, replace those of the softmax. */
static wick_value bits_router(wick_onnx_op *o, wick_value probs, wick_value weight, int64_t k)
{
  wick_builder *b = o->b;
  wick_emit soft = wick_emit_begin(o->b, WICK_OP_softmax);
  wick_emit_set_int(&soft, "axis", -1);
  wick_value p = wick_emit_end1(&soft, probs);
  wick_emit top = wick_emit_begin(o->b, WICK_OP_top_k);
  wick_emit_set_int(&top, "axis", 1);
  wick_dim most = wick_dim_const(k);
  wick_emit_set_dims(&top, "k", 1, &most);
  wick_value value = wick_emit_end1(&top, p), index = {value.id + 1};
  if (b->status) return p;
  if (weight.id) value = wick_emit_gather(b, WICK_OP_gather_elements, weight, index, 1);
  const wick_type_info *t = wick_built_info(b, p);
  wick_dim shape[2] = {t->dim[0], t->dim[1]};
  bool normalized = o->row->arg && !weight.id; /* QMoE's always are */
  if (normalized || wick_onnx_int(o, "normalize_routing_weights", 0)) {
    wick_value sum = wick_emit_reduce1(o->b, WICK_OP_reduce_sum, value, 1, true);
    value = wick_build2(b, WICK_OP_div, value, sum);
  }
  wick_value none = wick_emit_expand(o->b, bits_number(o, p, 0), 2, shape);
  wick_emit put = wick_emit_begin(o->b, WICK_OP_scatter_elements);
  wick_emit_set_int(&put, "axis", 1);
  wick_value all = wick_emit_end(&put, 3, (wick_value[]){none, index, value});
  return wick_emit_unsqueeze(o->b, wick_build_swap(b, all), 2);
}

/* Computes all experts for all tokens, as batched products, and adds what the router chooses. */
static void bits_mixed(wick_onnx_op *o, wick_value weights)
{
  wick_builder *b = o->b;
  const wick_type_info *t = wick_onnx_info(o, 0), *r = wick_onnx_info(o, 1);
  int64_t k = wick_onnx_int(o, "k", 1);
  if (!wick_microsoft_needs(o, 1u << 2 | 1u << 4)) return;
  if (t->rank < 2 || t->rank > 3 || r->rank != 2 || wick_onnx_info(o, 2)->rank != 3 ||
      wick_onnx_info(o, 4)->rank != 3 || !wick_dim_is_const(r->dim[1]) || k < 1 ||
      k > r->dim[1].v || wick_onnx_int(o, "use_sparse_mixer", 0)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED,
                   "%lld experts for a token, of an input of rank %u with a "
                   "router of rank %u, are not supported",
                   (long long)k, t->rank, r->rank);
    return;
  }
  const wick_dim tokens[] = {wick_dim_const(1), r->dim[0], t->dim[t->rank - 1]};
  wick_value x = wick_build_reshape(o->b, o->in[0], 3, tokens);
  wick_value y = bits_layer(o, x, (bits_expert){2, 3});
  y = bits_layer(o, bits_activated(o, y, x), (bits_expert){4, 5});
  wick_value weight = bits_router(o, o->in[1], weights, k);
  y = wick_build2(b, WICK_OP_mul, y, weight);
  y = wick_emit_reduce1(o->b, WICK_OP_reduce_sum, y, 0, false);
  o->out[0] = wick_build_reshape(o->b, y, t->rank, t->dim);
}

static void bits_experts(wick_onnx_op *o) { bits_mixed(o, (wick_value){0}); }

/* Widens the weights of a layer, operand i with scales after it: [experts, out, in]. `zero` is the operand
 * with zero points, which may be missing. Returns 0 if there is no such layer. */
static wick_value bits_expert_weights(wick_onnx_op *o, uint32_t i, uint32_t zero, const char *own)
{
  wick_builder *b = o->b;
  int64_t bits = wick_onnx_int(o, own, wick_onnx_int(o, "expert_weight_bits", 4));
  wick_elem to;
  if (!wick_onnx_has(o, i)) return (wick_value){0};
  if (!wick_onnx_has(o, i + 1) || wick_onnx_info(o, i)->rank != 3 ||
      wick_onnx_info(o, i)->elem != WICK_U8 || !bits_elem(o, bits, &to)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED,
                   "its weights are %s of rank %u, expected bytes of rank 3 with scales",
                   wick_elem_name(wick_onnx_info(o, i)->elem), wick_onnx_info(o, i)->rank);
    return (wick_value){0};
  }
  wick_value q = bits_unpacked(o, o->in[i], bits), scale = o->in[i + 1], z = {0};
  if (b->status || o->failed) return q;
  wick_dim k = wick_built_info(b, q)->dim[2], block = k;
  const wick_type_info s = *wick_onnx_info(o, i + 1);
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  wick_dim blocks = s.rank == 3 ? s.dim[2] : wick_dim_const(1);
  if (s.rank == 2) scale = wick_emit_unsqueeze(b, scale, 2);
  if (!wick_dim_is(blocks, 1)) block = wick_dim_floordiv(o->c->module->dims, k, blocks);
  if (wick_onnx_has(o, zero)) {
    z = bits_unpacked(o, o->in[zero], bits);
    z = bits_first(o, z, s.rank == 3 ? blocks : s.dim[1]);
    if (s.rank == 2) z = wick_emit_unsqueeze(b, z, 2);
  } else if (!b->status) {
    z = wick_emit_expand(b, bits_number(o, q, (double)((int64_t)1 << (bits - 1))), 3,
                         wick_built_info(b, scale)->dim);
  }
  return bits_widened(o, q, wick_build_cast(b, scale, elem), z, block);
}

/* A mixture whose weights have few bits. Operands of a layer: weights, scales, bias. */
static void bits_quantized_experts(wick_onnx_op *o)
{
  static const char *const own[] = {"fc1_expert_weight_bits", "fc2_expert_weight_bits",
                                    "fc3_expert_weight_bits"};
  wick_value in[8 + 2] = {o->in[0], o->in[1]};
  wick_onnx_op wide = *o;
  if (wick_onnx_attr_find(o, "quant_type") && wick_onnx_word(o, "quant_type", "int")) return;
  if (o->failed) return;
  for (uint32_t k = 0; k < 3; k++) {
    in[2 + 2 * k] = bits_expert_weights(o, 2 + 3 * k, 11 + k, own[k]);
    in[3 + 2 * k] = wick_microsoft_optional(o, 4 + 3 * k);
    if (o->failed || o->b->status) return;
  }
  wide.in = in, wide.nin = 8;
  bits_mixed(&wide, wick_microsoft_optional(o, 14));
  o->failed = wide.failed;
}

#define ROW(name, least, most, attrs, import)                                                      \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, 1, attrs, import, 0, 0                                \
  }

const wick_onnx_row wick_onnx_microsoft_bits_rows[] = {
    ROW("GatherBlockQuantized", 3, 4, "bits:i block_size:i gather_axis:i quantize_axis:i",
        bits_gather),
    ROW("MatMulBnb4", 3, 3, "K:i! N:i! block_size:i! quant_type:i! training_mode:i transB:i",
        bits_matmul_table),
    ROW("MatMulFpQ4", 3, 3, "blk_quant_type:i", bits_matmul_blob),
    ROW("MatMulNBits", 3, 6, "K:i! N:i! accuracy_level:i bits:i block_size:i! weight_prepacked:i",
        bits_matmul),
    ROW("MoE", 3, 8,
        "activation_alpha:f activation_beta:f activation_type:s k:i normalize_routing_weights:i "
        "swiglu_fusion:i swiglu_limit:f use_sparse_mixer:i",
        bits_experts),
    {"com.microsoft.QMoE",
     1,
     {3, 15},
     1,
     "accuracy_level:i activation_alpha:f activation_beta:f activation_type:s block_size:i "
     "expert_weight_bits:i fc1_expert_weight_bits:i fc2_expert_weight_bits:i "
     "fc3_expert_weight_bits:i k:i normalize_routing_weights:i quant_type:s swiglu_fusion:i "
     "swiglu_limit:f use_sparse_mixer:i weights_prepacked:i",
     bits_quantized_experts,
     0,
     1},
    {0},
};
