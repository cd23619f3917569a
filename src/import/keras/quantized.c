/* Quantized policies of Dense, EinsumDense and Embedding: weights of 8 bits with a scale for each output, weights of 4 bits
 * with scales and zero points of blocks, and numbers that pass through 8 bits of float. Sums are of floats: they equal
 * Keras's sums of integers up to the rounding of floats. Source: the layers of Keras 3.15. */
#include <stdlib.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/kit/array.h"

/* A mode is int8, int4 (one scale for each output), int4/BLOCK or float8, and others that are refused. */
const char *keras_quantized_mode(wick_import *c, const keras_layer *l)
{
  const wick_json *policy = keras_config(l, "dtype"), *config = wick_json_member(policy, "config");
  const char *mode = keras_text(c, wick_json_member(config, "mode"), NULL);
  if (mode) return mode;
  mode = keras_text(c, policy, keras_text(c, wick_json_member(config, "name"), ""));
  const char *end = strstr(mode, "_from_");
  return end ? wick_str_dupn(c->tmp, mode, (size_t)(end - mode)) : NULL;
}

/* The weights of a layer with each mode, as in weights.c. */
static const struct {
  const char *op, *mode, *weights;
} quantized_rows[] = {
    {"Dense", "int8", "kernel! bias?use_bias kernel_scale!"},
    {"Dense", "int4", "kernel! bias?use_bias kernel_scale! kernel_zero! g_idx!"},
    {"Dense", "float8", "kernel bias?use_bias inputs_scale inputs_amax_history kernel_scale"},
    {"EinsumDense", "int8", "kernel! bias?bias_axes kernel_scale!"},
    {"EinsumDense", "int4", "kernel! bias?bias_axes kernel_scale! kernel_zero! g_idx!"},
    {"EinsumDense", "float8",
     "kernel bias?bias_axes inputs_scale inputs_amax_history kernel_scale"},
    {"Embedding", "int8", "embeddings! embeddings_scale!"},
    {"Embedding", "int4", "embeddings! embeddings_scale! embeddings_zero! g_idx!"},
};

/* The size of blocks in a mode, 0 if there are none. */
static int64_t quantized_block(const char *mode)
{
  const char *block = strchr(mode, '/');
  int64_t size = block ? strtol(block + 1, NULL, 10) : 0;
  return size > 0 ? size : 0;
}

static bool quantized_is(const char *mode, const char *name)
{
  size_t n = strlen(name);
  return mode && strncmp(mode, name, n) == 0 && (!mode[n] || mode[n] == '/');
}

const char *keras_quantized_weights(wick_import *c, const keras_layer *l)
{
  const char *mode = keras_quantized_mode(c, l);
  /* Without blocks there are neither zero points nor groups. */
  if (mode && quantized_is(mode, "int4") && !quantized_block(mode)) mode = "int8";
  for (size_t i = 0; mode && i < WICK_COUNT(quantized_rows); i++)
    if (strcmp(quantized_rows[i].op, l->op) == 0 && quantized_is(mode, quantized_rows[i].mode))
      return quantized_rows[i].weights;
  return NULL;
}

const char *keras_quantized_refused(wick_import *c, const keras_layer *l)
{
  static const char *const layers[] = {"Dense",
                                       "EinsumDense",
                                       "Embedding",
                                       "ReversibleEmbedding",
                                       "MultiHeadAttention",
                                       "GroupQueryAttention"};
  const char *mode = keras_quantized_mode(c, l);
  bool has = false;
  for (size_t i = 0; i < WICK_COUNT(layers); i++) has = has || strcmp(l->op, layers[i]) == 0;
  return has && mode && !keras_quantized_weights(c, l) ? mode : NULL;
}

/* ---- weights ---- */

/* The weights of 4 bits, as floats [rows, columns]: two in a byte, along the last axis, the first in the low bits. */
static wick_value quantized_nibbles(wick_import_node *n, const char *name, int64_t columns)
{
  wick_value v = keras_weight_packed(n, name);
  if (!v.id || n->b->status) return (wick_value){0};
  const wick_dim *dim = keras_dims(n, v);
  if (keras_rank(n, v) != 2 || columns < 0 || dim[1].v != columns + (columns & 1)) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "the weight \"%s\" of 4 bits is not packed along its last axis", name);
    return (wick_value){0};
  }
  v = wick_build_cast(n->b, v, keras_compute(n));
  return wick_emit_slice(n->b, v, 1, wick_dim_const(0), wick_dim_const(columns));
}

/* A scale or zero point for each element along the axis, from those of its blocks. */
static wick_value quantized_spread(wick_import_node *n, const char *name, wick_value group,
                                   uint32_t axis)
{
  wick_value v = keras_weight_number(n, name);
  if (!v.id || n->b->status) return (wick_value){0};
  return wick_emit_gather(n->b, WICK_OP_gather, v, group, axis);
}

/* Weights of 4 bits [rows, columns], where the blocks are along the axis; `base` begins the names. */
static wick_value quantized_four(wick_import_node *n, const char *base, int64_t columns,
                                 uint32_t axis)
{
  const char *scale = wick_str_printf(n->c->tmp, "%s_scale", base);
  const char *zero = wick_str_printf(n->c->tmp, "%s_zero", base);
  wick_value w = quantized_nibbles(n, base, columns);
  if (!w.id) return w;
  if (!quantized_block(keras_quantized_mode(
          n->c, keras_of(n)->layer))) { /* one scale for each output, or word */
    wick_value s = keras_weight_get(n, scale);
    if (axis && s.id) s = wick_emit_unsqueeze(n->b, s, 1);
    return s.id ? wick_build2(n->b, WICK_OP_div, w, s) : s;
  }
  wick_value group = keras_weight_get(n, "g_idx");
  if (!group.id || n->b->status) return (wick_value){0};
  group = wick_build_cast(n->b, group, WICK_I32);
  wick_value z = quantized_spread(n, zero, group, axis), s = {0};
  if (z.id) s = quantized_spread(n, scale, group, axis);
  if (!s.id || n->b->status) return (wick_value){0};
  w = wick_build2(n->b, WICK_OP_sub, w, z);
  return wick_build2(n->b, WICK_OP_mul, w, s);
}

wick_value keras_quantized_embeddings(wick_import_node *n)
{
  int64_t columns = wick_import_int(n, "output_dim", 0);
  const char *mode = keras_quantized_mode(n->c, keras_of(n)->layer);
  if (!quantized_is(mode, "int8")) return quantized_four(n, "embeddings", columns, 1);
  wick_value w = keras_weight_number(n, "embeddings"), s = {0};
  if (w.id) s = keras_weight_get(n, "embeddings_scale");
  if (!s.id || n->b->status) return (wick_value){0};
  return wick_build2(n->b, WICK_OP_div, w, wick_emit_unsqueeze(n->b, s, 1));
}

/* ---- inputs ---- */

/* What the numbers are after they were 8 bits of float, with a scale that the file has. */
static wick_value quantized_float8(wick_import_node *n, wick_value x, const char *scale)
{
  wick_value s = keras_weight_get(n, scale);
  if (!s.id || n->b->status) return (wick_value){0};
  x = wick_build2(n->b, WICK_OP_div, x, s);
  x = wick_emit_by(n->b, WICK_OP_min, x, 448);
  x = wick_emit_by(n->b, WICK_OP_max, x, -448);
  wick_elem e = keras_elem_of(n, x);
  x = wick_build_cast(n->b, wick_build_cast(n->b, x, WICK_F8E4M3), e);
  return wick_build2(n->b, WICK_OP_mul, x, s);
}

/* Whether inputs are quantized in the run, and how: all modes but int8 leave them unless the file says otherwise. */
static bool quantized_inputs(wick_import_node *n, const wick_json **out_config)
{
  const keras_layer *l = keras_of(n)->layer;
  const wick_json *all = wick_json_member(keras_config(l, "quantization_config"), "config");
  const wick_json *q = wick_json_member(all, "activation_quantizer");
  *out_config = wick_json_member(q, "config");
  if (!all) return quantized_is(keras_quantized_mode(n->c, l), "int8");
  if (!q || q->kind == WICK_JSON_NULL) return false;
  const char *class = keras_text(n->c, wick_json_member(q, "class_name"), "");
  if (strcmp(class, "AbsMaxQuantizer") != 0)
    wick_import_fail(n, WICK_EUNSUPPORTED, "the quantizer %s is not supported",
                     wick_import_shown(n->c, class));
  return true;
}

/* The numbers that whole numbers of 8 bits leave of x, scaled by its largest magnitude along the axes. */
static wick_value quantized_by_most(wick_import_node *n, wick_value x, uint32_t naxis,
                                    const int64_t *axes, const wick_json *config)
{
  const wick_json *range = wick_json_member(config, "value_range");
  double least = -127, most = 127, epsilon = 1e-7;
  (void)wick_json_double(wick_json_item(range, 0), &least);
  (void)wick_json_double(wick_json_item(range, 1), &most);
  (void)wick_json_double(wick_json_member(config, "epsilon"), &epsilon);
  wick_value size = wick_build1(n->b, WICK_OP_abs, x);
  size = wick_emit_reduce(n->b, WICK_OP_reduce_max, size, naxis, axes, true);
  size = wick_emit_by(n->b, WICK_OP_add, size, epsilon);
  wick_value scale = wick_build2(n->b, WICK_OP_div, wick_emit_number(n->b, size, most), size);
  x = wick_build1(n->b, WICK_OP_round_even, wick_build2(n->b, WICK_OP_mul, x, scale));
  x = wick_emit_by(n->b, WICK_OP_max, x, least);
  x = wick_emit_by(n->b, WICK_OP_min, x, most);
  return wick_build2(n->b, WICK_OP_div, x, scale);
}

/* The operands of a product that sums x along the axes, with a kernel of so many columns. */
static keras_product quantized_operands(wick_import_node *n, uint32_t naxis, const int64_t *axes,
                                        int64_t columns)
{
  const char *mode = keras_quantized_mode(n->c, keras_of(n)->layer);
  keras_product p = {.x = n->in[0]};
  const wick_json *config;
  if (!wick_elem_is_float(keras_elem_of(n, p.x)))
    p.x = wick_build_cast(n->b, p.x, keras_compute(n));
  if (quantized_is(mode, "float8")) {
    p.x = quantized_float8(n, p.x, "inputs_scale");
    wick_value kernel = p.x.id ? keras_weight_get(n, "kernel") : p.x;
    if (kernel.id) p.kernel = quantized_float8(n, kernel, "kernel_scale");
    return p;
  }
  if (quantized_inputs(n, &config) && !n->failed)
    p.x = quantized_by_most(n, p.x, naxis, axes, config);
  if (!quantized_is(mode, "int8")) {
    p.kernel = quantized_four(n, "kernel", columns, 0);
    return p;
  }
  p.kernel = keras_weight_number(n, "kernel");
  if (p.kernel.id) p.divisor = keras_weight_get(n, "kernel_scale");
  return p;
}

keras_product keras_quantized_dense(wick_import_node *n)
{
  const int64_t last = -1;
  return quantized_operands(n, 1, &last, wick_import_int(n, "units", 0));
}

/* ---- equations ---- */

/* The terms of an equation "x,kernel->y" without spaces. */
typedef struct quantized_terms {
  char *x, *kernel, *y;
} quantized_terms;

static bool quantized_read(wick_import_node *n, const char *equation, quantized_terms *out)
{
  char *text = wick_new(n->c->tmp, char, strlen(equation) + 1), *to = text;
  for (; *equation; equation++)
    if (*equation != ' ') *to++ = *equation;
  char *comma = strchr(text, ','), *arrow = comma ? strstr(comma, "->") : NULL;
  if (!arrow) return false; /* the product reports it */
  *comma = *arrow = 0;
  *out = (quantized_terms){text, comma + 1, arrow + 2};
  return true;
}

/* The axis of a label in a term of a tensor of this rank; -1: it is not there. Axes after "..." count from the end. */
static int64_t quantized_axis(const char *term, char label, int64_t rank)
{
  const char *at = strchr(term, label), *dots = strstr(term, "...");
  if (!at) return -1;
  return dots && dots < at ? rank - (int64_t)strlen(at) : at - term;
}

/* The size of a label of the kernel. */
static bool quantized_size(wick_import_node *n, const quantized_terms *t, char label, int64_t *out)
{
  uint32_t rank = keras_rank(n, n->in[0]);
  int64_t axis = quantized_axis(t->x, label, rank);
  const wick_json *shape = keras_config(keras_of(n)->layer, "output_shape");
  if (axis >= 0 && axis < rank) {
    *out = keras_dims(n, n->in[0])[axis].v;
    return keras_known(n, "a size of the kernel", keras_dims(n, n->in[0])[axis]);
  }
  if (shape && shape->kind != WICK_JSON_ARRAY) return wick_json_int(shape, out);
  int64_t count = 0; /* of sizes, without the batch's */
  while (wick_json_item(shape, count)) count++;
  axis = quantized_axis(t->y, label, count + 1);
  return axis > 0 && wick_json_int(wick_json_item(shape, axis - 1), out) && *out > 0;
}

keras_product keras_quantized_einsum(wick_import_node *n, const char *equation)
{
  quantized_terms t = {NULL, NULL, NULL};
  uint32_t naxis = 0, rank = 0;
  int64_t axes[WICK_MAX_RANK], columns = 1;
  wick_dim dim[WICK_MAX_RANK];
  bool good = !n->b->status && quantized_read(n, equation, &t);
  for (const char *s = t.x; good && *s; s++)
    if (*s != '.' && !strchr(t.y, *s) && naxis < WICK_MAX_RANK)
      axes[naxis++] = quantized_axis(t.x, *s, keras_rank(n, n->in[0]));
  for (uint32_t i = 0; i < naxis; i++)
    good = good && axes[i] >= 0 && axes[i] < keras_rank(n, n->in[0]);
  for (const char *s = t.kernel; good && *s; s++) {
    int64_t size = 0;
    good = rank < WICK_MAX_RANK && quantized_size(n, &t, *s, &size) && size < INT32_MAX;
    dim[rank++] = wick_dim_const(size);
    if (strchr(t.y, *s)) good = good && !wick_mul_overflows(columns, size, &columns);
  }
  if (!good && !n->failed && !n->b->status)
    wick_import_fail(n, WICK_EUNSUPPORTED, "quantized weights with the equation %s",
                     wick_import_shown(n->c, equation));
  if (!good) return (keras_product){0};
  keras_product p = quantized_operands(n, naxis, axes, columns);
  if (p.kernel.id && !n->b->status && keras_rank(n, p.kernel) != rank)
    p.kernel = wick_build_reshape(n->b, p.kernel, rank, dim);
  return p;
}
