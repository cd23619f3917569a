/* Reads the operands of a node: their types, known contents and constants. */
#include "import/onnx/import.h"
#include "ir/element.h"
#include "ops/elementwise/scalar.h"
#include "ops/ref.h"

const wick_type_info *wick_onnx_info(const wick_onnx_op *o, uint32_t i)
{
  return wick_built_info(o->b, o->in[i]);
}

bool wick_onnx_has(const wick_onnx_op *o, uint32_t i) { return i < o->nin && o->in[i].id != 0; }

bool wick_onnx_axis(wick_onnx_op *o, int64_t axis, int64_t rank, uint32_t *out)
{
  *out = 0;
  if (axis < -rank || axis >= rank) {
    wick_onnx_fail(o, WICK_ETYPE, "axis %lld is outside [%lld, %lld]", (long long)axis,
                   (long long)-rank, (long long)rank - 1);
    return false;
  }
  *out = (uint32_t)(axis < 0 ? axis + rank : axis);
  return true;
}

/* Returns the elements of an operand that is known during the import. */
static bool operand_elems(wick_onnx_op *o, uint32_t i, uint32_t *out_n, wick_elem *out_elem,
                          wick_scalar **out)
{
  wick_tensor t;
  if (!wick_onnx_known(o->c, o->in[i], &t)) return false;
  *out_n = (uint32_t)wick_ref_numel(&t);
  *out_elem = t.elem;
  *out = wick_new(o->c->tmp, wick_scalar, *out_n + 1);
  for (uint32_t k = 0; k < *out_n; k++) (*out)[k] = wick_load_elem(t.elem, t.data, k);
  return true;
}

/* Marks the inputs on whose contents a value depends. Returns false if there are none. */
static bool operand_inputs(wick_onnx_op *o, wick_value v)
{
  const wick_builder *b = o->b;
  wick_list(wick_value) open = {0};
  bool *seen = wick_new(o->c->tmp, bool, b->values.n), any = false;
  wick_push(o->c->tmp, &open, v);
  while (open.n) {
    v = open.at[--open.n];
    if (!v.id || seen[v.id] || b->values.at[v.id].content) continue;
    seen[v.id] = true;
    const wick_node *n = wick_emit_definer(b, v);
    uint32_t first = n ? (uint32_t)(n - b->nodes.at) : 0, end = n ? first + 1 : 0;
    if (n && n->nregion) end = n->end; /* and what its regions read */
    for (uint32_t k = first; k < end; k++)
      for (uint32_t i = 0; i < b->nodes.at[k].nin; i++)
        wick_push(o->c->tmp, &open, b->nodes.at[k].in[i]);
    if (v.id <= b->nparam) o->c->wanted[v.id - 1] = any = true;
  }
  return any;
}

bool wick_onnx_unknown(wick_onnx_op *o, uint32_t i, const char *what)
{
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "%s must be known when the model is compiled", what);
  if (o->in[i].id && operand_inputs(o, o->in[i])) o->c->unknown++;
  return false;
}

void wick_onnx_want(wick_onnx_op *o, wick_value v)
{
  if (v.id && operand_inputs(o, v)) o->c->branches = true;
}

/* Inference does not track the smallest integers, which exporters write for the end of a slice.
 * Reads the operand's elements with -2^60 in place of smaller ones. */
static bool operand_lowest(wick_onnx_op *o, uint32_t i, uint32_t *out_n, const wick_dim **out)
{
  wick_scalar *s;
  wick_elem e;
  if (!operand_elems(o, i, out_n, &e, &s) || *out_n > WICK_MAX_CONTENT) return false;
  wick_dim *dim = wick_new(o->c->tmp, wick_dim, *out_n);
  for (uint32_t k = 0; k < *out_n; k++)
    dim[k] = wick_dim_const(wick_max_i64(s[k].i, -((int64_t)1 << 60)));
  *out = dim;
  return true;
}

bool wick_onnx_dims(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                    const wick_dim **out)
{
  const wick_value_info *v = &o->b->values.at[o->in[i].id];
  const wick_type_info *t = wick_onnx_info(o, i);
  if (!wick_elem_is_int(t->elem) || t->rank > 1) {
    wick_onnx_fail(o, WICK_ETYPE, "%s is %s of rank %u, expected a vector of integers", what,
                   wick_elem_name(t->elem), t->rank);
    return false;
  }
  *out_n = v->ncontent;
  *out = v->content;
  return v->content || operand_lowest(o, i, out_n, out) || wick_onnx_unknown(o, i, what);
}

bool wick_onnx_must_be_known(wick_onnx_op *o, const char *what, wick_dim d)
{
  wick_dim_list sym = {0};
  wick_text t = wick_text_begin(o->c->tmp);
  wick_dim_symbols(o->c->module->dims, d, o->c->tmp, &sym);
  for (uint32_t i = 0; i < sym.n; i++) {
    if (i) wick_text_add(&t, ", ");
    wick_dim_print(o->c->module->dims, sym.at[i], &t);
  }
  if (!wick_dim_is_symbol(o->c->module->dims, d)) {
    wick_text_add(&t, ", which occur in ");
    wick_dim_print(o->c->module->dims, d, &t);
  }
  wick_onnx_fail(o, WICK_EUNSUPPORTED,
                 "%s must be known when the model is compiled: a number must be given for %s", what,
                 t.at);
  o->c->sizes++;
  return false;
}

bool wick_onnx_equal(wick_onnx_op *o, wick_dim a, wick_dim b)
{
  if (!wick_dim_eq(a, b) && !wick_dim_may_equal(o->c->module->dims, a, b)) return false;
  wick_build_shape_constraint(o->b, a, b, o->b->loc);
  return true;
}

bool wick_onnx_divides(wick_onnx_op *o, wick_dim d, wick_dim by)
{
  return wick_onnx_equal(o, wick_dim_mod(o->c->module->dims, d, by), wick_dim_const(0));
}

void wick_onnx_not_one(wick_onnx_op *o, wick_dim d)
{
  wick_dim two = wick_dim_const(2);
  wick_build_shape_constraint(o->b, wick_dim_min(o->c->module->dims, d, two), two, o->b->loc);
}

wick_value wick_onnx_sized(wick_onnx_op *o, wick_value x, uint32_t axis, int64_t n)
{
  if (o->b->status || !x.id) return x;
  const wick_type_info *t = wick_built_info(o->b, x);
  wick_dim size = wick_dim_const(n), dim[WICK_MAX_RANK];
  if (axis >= t->rank || wick_dim_is_const(t->dim[axis])) return x;
  if (!wick_onnx_equal(o, t->dim[axis], size)) return x;
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = k == axis ? size : t->dim[k];
  return wick_build_reshape(o->b, x, t->rank, dim);
}

bool wick_onnx_numbers(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                       const int64_t **out)
{
  const wick_dim *dim;
  if (!wick_onnx_dims(o, i, what, out_n, &dim)) return false;
  int64_t *v = wick_new(o->c->tmp, int64_t, *out_n);
  for (uint32_t k = 0; k < *out_n; k++) {
    if (!wick_dim_is_const(dim[k])) return wick_onnx_must_be_known(o, what, dim[k]);
    v[k] = dim[k].v;
  }
  *out = v;
  return true;
}

bool wick_onnx_one(wick_onnx_op *o, uint32_t i, const char *what, int64_t otherwise, int64_t *out)
{
  uint32_t n;
  const int64_t *v;
  *out = otherwise;
  if (!wick_onnx_has(o, i)) return true;
  if (!wick_onnx_numbers(o, i, what, &n, &v)) return false;
  if (n == 1) *out = v[0];
  if (n != 1) wick_onnx_fail(o, WICK_ETYPE, "%s has %u numbers, expected 1", what, n);
  return n == 1;
}

bool wick_onnx_floats(wick_onnx_op *o, uint32_t i, const char *what, uint32_t *out_n,
                      const double **out)
{
  wick_scalar *s;
  wick_elem e;
  if (!operand_elems(o, i, out_n, &e, &s)) return wick_onnx_unknown(o, i, what);
  double *v = wick_new(o->c->tmp, double, *out_n);
  for (uint32_t k = 0; k < *out_n; k++) v[k] = wick_elem_is_float(e) ? s[k].f : (double)s[k].i;
  *out = v;
  return true;
}
