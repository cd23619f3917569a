/* Layers that work element by element, and those that make tensors of numbers. */
#include <math.h>

#include "import/coreml/layers.h"
#include "ops/ref.h"

void wick_coreml_each(wick_import_node *n)
{
  n->out[0] = wick_build1(n->b, n->row->op, wick_coreml_float(n, 0));
}

void wick_coreml_same(wick_import_node *n) { n->out[0] = n->in[0]; }

/* ---- types ---- */

/* Is it a known float without a fraction? */
static bool elementwise_is_whole(wick_import_node *n, wick_value x)
{
  wick_tensor t;
  if (wick_built_info(n->b, x)->elem != WICK_F32 || !wick_known_value(n->b, n->c->tmp, x, &t))
    return false;
  uint64_t count = wick_ref_numel(&t);
  const float *v = t.data;
  for (uint64_t k = 0; k < count; k++)
    if (!(fabsf(v[k]) < 16777216) || v[k] != floorf(v[k])) return false;
  return true;
}

/* Gives the operands one type: i64 if all are whole numbers, at least one of them by its type, so
 * that shapes stay known; else f32. */
static void elementwise_types(wick_import_node *n, uint32_t count, wick_value *x)
{
  bool whole = true, any = false;
  for (uint32_t i = 0; i < count && !n->b->status; i++) {
    wick_elem e = wick_built_info(n->b, x[i])->elem;
    any = any || e == WICK_I64;
    whole = whole && (e == WICK_I64 || elementwise_is_whole(n, x[i]));
  }
  for (uint32_t i = 0; i < count; i++)
    x[i] = wick_coreml_as(n, x[i], whole && any ? WICK_I64 : WICK_F32);
}

static wick_value *elementwise_operands(wick_import_node *n)
{
  wick_value *x = wick_new(n->c->tmp, wick_value, (size_t)n->nin + 1);
  for (uint32_t i = 0; i < n->nin; i++) x[i] = n->in[i];
  elementwise_types(n, n->nin, x);
  return x;
}

/* ---- arithmetic ---- */

void wick_coreml_several(wick_import_node *n)
{
  wick_value *x = elementwise_operands(n), y = x[0];
  if (n->nin == 1 && (n->row->op == WICK_OP_add || n->row->op == WICK_OP_mul) && !n->row->arg) {
    n->out[0] =
        wick_emit_by(n->b, n->row->op, wick_coreml_float(n, 0), wick_import_real(n, "alpha", 0));
    return;
  }
  for (uint32_t i = 1; i < n->nin; i++) y = wick_build2(n->b, n->row->op, y, x[i]);
  if (n->row->arg) y = wick_emit_by(n->b, WICK_OP_div, wick_coreml_as(n, y, WICK_F32), n->nin);
  n->out[0] = y;
}

void wick_coreml_binary(wick_import_node *n)
{
  wick_value *x = elementwise_operands(n);
  n->out[0] = wick_build2(n->b, n->row->op, x[0], x[1]);
}

/* x / y; row->arg: its floor */
void wick_coreml_divide(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value *x = elementwise_operands(n);
  if (b->status) return;
  bool whole = wick_built_info(b, x[0])->elem == WICK_I64;
  if (whole && n->row->arg) { /* (x - x mod y) / y: integers are divided towards zero */
    wick_value rest = wick_build2(b, WICK_OP_mod, x[0], x[1]);
    n->out[0] = wick_build2(b, WICK_OP_div, wick_build2(b, WICK_OP_sub, x[0], rest), x[1]);
    return;
  }
  wick_value num = wick_coreml_as(n, x[0], WICK_F32), den = wick_coreml_as(n, x[1], WICK_F32);
  wick_value y = wick_build2(b, WICK_OP_div, num, den);
  n->out[0] = n->row->arg ? wick_build1(b, WICK_OP_floor, y) : y;
}

/* With the operand alone, it is compared with alpha. */
void wick_coreml_compare(wick_import_node *n)
{
  wick_value *x = elementwise_operands(n);
  if (n->nin > 1)
    n->out[0] = wick_build2(n->b, n->row->op, x[0], x[1]);
  else
    n->out[0] =
        wick_emit_by(n->b, n->row->op, wick_coreml_float(n, 0), wick_import_real(n, "alpha", 0));
}

static wick_value elementwise_truth(wick_import_node *n, wick_value x)
{
  if (n->b->status || wick_built_info(n->b, x)->elem == WICK_BOOL) return x;
  return wick_emit_by(n->b, WICK_OP_ne, x, 0);
}

void wick_coreml_logical(wick_import_node *n)
{
  wick_value x = elementwise_truth(n, n->in[0]);
  if (n->row->nin[0] == 1)
    n->out[0] = wick_build1(n->b, n->row->op, x);
  else
    n->out[0] = wick_build2(n->b, n->row->op, x, elementwise_truth(n, n->in[1]));
}

void wick_coreml_where(wick_import_node *n)
{
  wick_value x[2] = {n->in[1], n->in[2]}, cond = elementwise_truth(n, n->in[0]);
  elementwise_types(n, 2, x);
  n->out[0] = wick_build3(n->b, WICK_OP_where, cond, x[0], x[1]);
}

/* ---- scale and bias ---- */

/* Parameters of the shape [1], [C], [1, H, W] or [C, H, W]; a vector is along axis -3. */
static wick_value elementwise_table(wick_import_node *n, const char *name, const char *shape)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_coreml_ints dim = wick_coreml_ints_of(p, shape, n->c->tmp);
  int64_t three[3] = {dim.n ? dim.at[0] : 1, 1, 1};
  if (dim.n <= 1) return wick_coreml_weight(n, p, name, 3, three);
  if (dim.n <= WICK_MAX_RANK) return wick_coreml_weight(n, p, name, dim.n, dim.at);
  wick_import_fail(n, WICK_ETYPE, "%s has %u numbers", shape, dim.n);
  return (wick_value){0};
}

void wick_coreml_scale(wick_import_node *n)
{
  wick_value x = wick_coreml_float(n, 0);
  if (n->row->arg) {
    n->out[0] = wick_build2(n->b, WICK_OP_add, x, elementwise_table(n, "bias", "shape"));
    return;
  }
  x = wick_build2(n->b, WICK_OP_mul, x, elementwise_table(n, "scale", "shapeScale"));
  if (wick_import_int(n, "hasBias", 0) && !n->failed)
    x = wick_build2(n->b, WICK_OP_add, x, elementwise_table(n, "bias", "shapeBias"));
  n->out[0] = x;
}

/* ---- tensors of numbers ---- */

enum { ELEMENTWISE_LIKE, ELEMENTWISE_STATIC, ELEMENTWISE_DYNAMIC };

/* The shape of an operand, of the attribute `name`, or that an operand holds. */
static bool elementwise_shape(wick_import_node *n, uint32_t operand, const char *name,
                              uint32_t *out_n, const wick_dim **out)
{
  if (n->row->arg == ELEMENTWISE_DYNAMIC) {
    if (!wick_coreml_sizes(n, operand, "the shape", out_n, out)) return false;
  } else if (n->row->arg == ELEMENTWISE_LIKE) {
    const wick_type_info *t = wick_import_info(n, operand);
    *out_n = t->rank, *out = t->dim;
  } else {
    wick_import_attr a = wick_import_ints(n, name);
    wick_dim *d = wick_new(n->c->tmp, wick_dim, (size_t)a.n + 1);
    for (uint32_t k = 0; k < a.n; k++) d[k] = wick_dim_const(a.ints[k]);
    *out_n = a.n, *out = d;
  }
  for (uint32_t k = 0; k < *out_n; k++)
    if (wick_dim_is_const((*out)[k]) && (*out)[k].v < 0) *out_n = WICK_MAX_RANK + 1;
  if (*out_n <= WICK_MAX_RANK) return true;
  wick_import_fail(n, WICK_ERANGE, "its shape has %u sizes or a negative one", *out_n);
  return false;
}

static wick_value elementwise_number(wick_import_node *n, double v)
{
  return wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_F32, 0, NULL), v, 0);
}

void wick_coreml_fill(wick_import_node *n)
{
  uint32_t rank;
  const wick_dim *dim;
  if (!elementwise_shape(n, 0, "targetShape", &rank, &dim)) return;
  n->out[0] =
      wick_emit_expand(n->b, elementwise_number(n, wick_import_real(n, "value", 0)), rank, dim);
}

/* A size of -1 or 0 in the shape keeps the operand's. */
void wick_coreml_broadcast(wick_import_node *n)
{
  uint32_t rank;
  const wick_dim *dim;
  if (elementwise_shape(n, n->row->arg == ELEMENTWISE_STATIC ? 0 : 1, "targetShape", &rank, &dim))
    n->out[0] = wick_emit_expand(n->b, n->in[0], rank, dim);
}

/* Draws from Wick's generator, whose key is the seed: the distribution is Core ML's, the bits are
 * not. */
void wick_coreml_random(wick_import_node *n)
{
  enum { UNIFORM, NORMAL };
  wick_builder *b = n->b;
  uint32_t rank;
  const wick_dim *dim;
  if (!elementwise_shape(n, 0, "outputShape", &rank, &dim)) return;
  bool normal = n->row->op == WICK_OP_random, bernoulli = n->row->op == WICK_OP_lt;
  wick_value key = wick_build_const(b, wick_type_tensor(n->c->module, WICK_U64, 0, NULL), 0,
                                    wick_import_int(n, "seed", 0));
  wick_type want = wick_type_tensor(n->c->module, WICK_F32, rank, dim);
  wick_emit e = wick_emit_begin(b, WICK_OP_random);
  wick_emit_set_int(&e, "kind", normal ? NORMAL : UNIFORM);
  wick_value x = wick_build(b, WICK_OP_random, 1, &key, e.attr, 1, &want);
  double low = wick_import_real(n, normal ? "mean" : "minVal", 0),
         factor =
             normal ? wick_import_real(n, "stdDev", 0) : wick_import_real(n, "maxVal", 0) - low;
  if (bernoulli) {
    x = wick_emit_by(b, WICK_OP_lt, x, wick_import_real(n, "prob", 0));
    n->out[0] = wick_coreml_as(n, x, WICK_F32);
    return;
  }
  n->out[0] = wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, x, factor), low);
}

/* ---- ranges ---- */

typedef struct elementwise_bound { /* end, start or step of a range */
  bool known;
  double v;
  wick_dim dim; /* if it is no number */
} elementwise_bound;

/* Reads operand i, or the attribute if there is no such operand. */
static bool elementwise_bound_read(wick_import_node *n, uint32_t i, const char *name,
                                   double otherwise, elementwise_bound *out)
{
  uint32_t count;
  const double *v;
  const wick_dim *dim;
  *out = (elementwise_bound){.known = true, .v = wick_import_real(n, name, otherwise)};
  if (!wick_import_has(n, i)) return true;
  if (wick_import_info(n, i)->elem == WICK_I64) {
    if (!wick_import_dims(n, i, "a bound of the range", &count, &dim)) return false;
    out->known = count == 1 && wick_dim_is_const(dim[0]);
    out->v = out->known ? (double)dim[0].v : 0;
    out->dim = count ? dim[0] : wick_dim_const(0);
  } else {
    if (!wick_import_reals(n, i, "a bound of the range", &count, &v)) return false;
    out->v = count ? v[0] : 0;
  }
  if (count == 1) return true;
  wick_import_fail(n, WICK_ETYPE, "a bound of the range has %u elements, expected 1", count);
  return false;
}

/* The number of elements; sizes that are no numbers have whole starts and steps. */
static bool elementwise_range_count(wick_import_node *n, const elementwise_bound *end,
                                    const elementwise_bound *start, const elementwise_bound *step,
                                    wick_dim *out)
{
  wick_dims *t = n->c->module->dims;
  if (!start->known || !step->known)
    return wick_import_must_be_known(n, "the start of the range",
                                     start->known ? step->dim : start->dim);
  if (end->known) {
    double count = ceil((end->v - start->v) / step->v);
    *out = wick_dim_const(count > 0 ? (int64_t)fmin(count, 1e9) : 0);
    if (step->v != 0 && !(fabs(count) > 1e9) && count == count) return true;
  } else if (step->v >= 1 && step->v == floor(step->v) && start->v == floor(start->v) &&
             fabs(start->v) < 1e9 && step->v < 1e9) {
    wick_dim span = wick_dim_sub(t, end->dim, wick_dim_const((int64_t)start->v));
    wick_dim count = wick_dim_ceildiv(t, span, wick_dim_const((int64_t)step->v));
    *out = wick_dim_max(t, count, wick_dim_const(0));
    return true;
  }
  wick_import_fail(n, WICK_ERANGE, "a range from %g by %g has no end", start->v, step->v);
  return false;
}

void wick_coreml_range(wick_import_node *n)
{
  elementwise_bound end, start, step;
  wick_dim count;
  if (!elementwise_bound_read(n, 0, "endValue", 0, &end) ||
      !elementwise_bound_read(n, 1, "startValue", 0, &start) ||
      !elementwise_bound_read(n, 2, "stepSizeValue", 0, &step) ||
      !elementwise_range_count(n, &end, &start, &step, &count))
    return;
  wick_value from = elementwise_number(n, start.v), by = elementwise_number(n, step.v);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_range);
  wick_emit_set_dims(&e, "count", 1, &count);
  n->out[0] = wick_emit_end2(&e, from, by);
}

void wick_coreml_constant(wick_import_node *n)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_coreml_ints shape = wick_coreml_ints_of(p, "shape", n->c->tmp);
  int64_t dim[WICK_MAX_RANK] = {1, 1, 1, 1, 1};
  uint32_t lead = n->row->arg ? 2 : 0;
  if (shape.n + lead > WICK_MAX_RANK || (lead && shape.n != 3)) {
    wick_import_fail(n, WICK_ETYPE, "its shape has %u sizes", shape.n);
    return;
  }
  for (uint32_t k = 0; k < shape.n; k++) dim[lead + k] = shape.at[k];
  n->out[0] = wick_coreml_weight(n, p, "data", lead + shape.n, dim);
}
