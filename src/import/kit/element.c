/* Elements of vectors that hold sizes and indices, as far as they are known, and ranges. */
#include "ir/element.h"
#include "import/kit/array.h"
#include "ops/ref.h"

wick_value wick_array_element(wick_import_node *n, wick_value v, uint32_t k)
{
  if (n->b->status || !v.id) return v;
  const wick_node *d = wick_emit_definer(n->b, v);
  if (d && d->op == WICK_OP_concat) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < d->nin; i++) {
      const wick_type_info *t = wick_built_info(n->b, d->in[i]);
      if (t->rank != 1 || !wick_dim_is_const(t->dim[0])) break;
      if (k == at && t->dim[0].v == 1) return wick_build_reshape(n->b, d->in[i], 0, NULL);
      if (k < at + t->dim[0].v) break;
      at += (uint32_t)t->dim[0].v;
    }
  }
  if (wick_built_info(n->b, v)->rank == 0) return v;
  wick_value part = wick_emit_slice(n->b, v, 0, wick_dim_const(k), wick_dim_const(1));
  return wick_build_reshape(n->b, part, 0, NULL);
}

bool wick_array_element_dim(wick_import_node *n, wick_value x, uint32_t k, wick_dim *out)
{
  int64_t known;
  if (n->b->status || !x.id) return false;
  const wick_value_info *v = &n->b->values.at[x.id];
  if (v->content && k < v->ncontent) {
    *out = v->content[k];
    return true;
  }
  wick_value e = wick_array_element(n, x, k);
  if (n->b->status || !e.id) return false;
  v = &n->b->values.at[e.id];
  if (v->ncontent == 1)
    *out = v->content[0];
  else if (wick_import_known_int(n->c, e, &known))
    *out = wick_dim_const(known < -((int64_t)1 << 60) ? -((int64_t)1 << 60) : known);
  else
    return false;
  return true;
}

static bool element_reals(wick_import_node *n, wick_value v, double *out)
{
  wick_tensor t;
  if (!wick_known_value(n->b, n->c->tmp, v, &t) || wick_ref_numel(&t) != 1)
    return wick_import_unknown(n, v, "a bound of the range");
  *out = wick_load_elem(t.elem, t.data, 0).f;
  return true;
}

/* The number of elements of a range of floats. */
static bool element_count_real(wick_import_node *n, wick_value start, wick_value limit,
                               wick_value delta, wick_dim *out)
{
  double from, to, by;
  if (!element_reals(n, start, &from) || !element_reals(n, limit, &to) ||
      !element_reals(n, delta, &by))
    return false;
  double steps = (to - from) / by;
  if (!(steps < 1e9)) {
    wick_import_fail(n, WICK_ERANGE, "the range has no end, or too many numbers");
    return false;
  }
  int64_t whole = steps <= 0 ? 0 : (int64_t)steps;
  *out = wick_dim_const(whole + (steps > (double)whole));
  return true;
}

static bool element_count(wick_import_node *n, wick_value start, wick_value limit, wick_value delta,
                          wick_dim *out)
{
  wick_dims *t = n->c->module->dims;
  wick_dim from, to, by;
  if (!wick_array_element_dim(n, start, 0, &from) || !wick_array_element_dim(n, limit, 0, &to))
    return wick_import_unknown(n, limit, "a bound of the range");
  if (!wick_array_element_dim(n, delta, 0, &by) || !wick_dim_is_const(by) || !by.v)
    return wick_import_unknown(n, delta, "the step of the range");
  wick_dim span = by.v > 0 ? wick_dim_sub(t, to, from) : wick_dim_sub(t, from, to);
  int64_t step = by.v > 0 ? by.v : -by.v;
  span = wick_dim_add(t, span, wick_dim_const(step - 1));
  *out = wick_dim_max(t, wick_dim_floordiv(t, span, wick_dim_const(step)), wick_dim_const(0));
  return true;
}

wick_value wick_array_range(wick_import_node *n, wick_value start, wick_value limit,
                            wick_value delta)
{
  wick_dim count;
  bool is_float = wick_elem_is_float(wick_built_info(n->b, start)->elem);
  if (!(is_float ? element_count_real : element_count)(n, start, limit, delta, &count))
    return (wick_value){0};
  wick_emit r = wick_emit_begin(n->b, WICK_OP_range);
  wick_emit_set_dims(&r, "count", 1, &count);
  return wick_emit_end2(&r, start, delta);
}
