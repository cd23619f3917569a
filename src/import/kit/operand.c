/* Reads the operands of a node: their types, known contents and constants. */
#include "import/kit/import.h"
#include "ir/element.h"
#include "ops/ref.h"

const wick_type_info *wick_import_info(const wick_import_node *n, uint32_t i)
{
  return wick_built_info(n->b, n->in[i]);
}

bool wick_import_has(const wick_import_node *n, uint32_t i) { return i < n->nin && n->in[i].id; }

bool wick_import_rank(wick_import_node *n, uint32_t i, uint32_t least, uint32_t most)
{
  uint32_t rank = wick_import_info(n, i)->rank;
  if (rank >= least && rank <= most) return true;
  wick_import_fail(n, WICK_ETYPE,
                   least == most ? "the rank of input %u is %u, expected %u"
                                 : "the rank of input %u is %u, expected %u to %u",
                   i, rank, least, most);
  return false;
}

bool wick_import_axis(wick_import_node *n, int64_t axis, int64_t rank, uint32_t *out)
{
  *out = 0;
  if (axis < -rank || axis >= rank) {
    wick_import_fail(n, WICK_ETYPE, "axis %lld is outside [%lld, %lld]", (long long)axis,
                     (long long)-rank, (long long)rank - 1);
    return false;
  }
  *out = (uint32_t)(axis < 0 ? axis + rank : axis);
  return true;
}

/* Marks the inputs on whose contents a value depends. Returns false if there are none. */
static bool operand_inputs(wick_import *c, wick_value v)
{
  const wick_builder *b = &c->b;
  wick_list(wick_value) open = {0};
  bool *seen = wick_new(c->tmp, bool, b->values.n), any = false;
  if (!c->wanted) c->wanted = wick_new(c->tmp, bool, b->nparam + 1);
  wick_push(c->tmp, &open, v);
  while (open.n) {
    v = open.at[--open.n];
    if (!v.id || seen[v.id] || b->values.at[v.id].content) continue;
    seen[v.id] = true;
    const wick_node *n = wick_emit_definer(b, v);
    uint32_t first = n ? (uint32_t)(n - b->nodes.at) : 0, end = n ? first + 1 : 0;
    if (n && n->nregion) end = n->end; /* and what its regions read */
    for (uint32_t k = first; k < end; k++)
      for (uint32_t i = 0; i < b->nodes.at[k].nin; i++)
        wick_push(c->tmp, &open, b->nodes.at[k].in[i]);
    if (v.id <= b->nparam) c->wanted[v.id - 1] = any = true;
  }
  return any;
}

bool wick_import_unknown(wick_import_node *n, wick_value v, const char *what)
{
  wick_import_fail(n, WICK_EUNSUPPORTED, "%s must be known when the model is compiled", what);
  if (v.id && operand_inputs(n->c, v)) n->c->unknown++;
  return false;
}

bool wick_import_must_be_known(wick_import_node *n, const char *what, wick_dim d)
{
  wick_text t = wick_text_begin(n->c->tmp);
  wick_dim_print(n->c->module->dims, d, &t);
  wick_import_fail(n, WICK_EUNSUPPORTED,
                   "%s must be known when the model is compiled: numbers must be given for the "
                   "sizes in %s",
                   what, t.at);
  n->c->sizes++;
  return false;
}

bool wick_import_dims(wick_import_node *n, uint32_t i, const char *what, uint32_t *out_n,
                      const wick_dim **out)
{
  const wick_value_info *v = &n->b->values.at[n->in[i].id];
  const wick_type_info *t = wick_import_info(n, i);
  wick_tensor known;
  if (!wick_elem_is_int(t->elem)) {
    wick_import_fail(n, WICK_ETYPE, "%s is %s, expected integers", what, wick_elem_name(t->elem));
    return false;
  }
  *out_n = v->ncontent, *out = v->content;
  if (v->content) return true;
  if (!wick_known_value(n->b, n->c->tmp, n->in[i], &known))
    return wick_import_unknown(n, n->in[i], what);
  *out_n = (uint32_t)wick_ref_numel(&known);
  wick_dim *dim = wick_new(n->c->tmp, wick_dim, *out_n + 1);
  for (uint32_t k = 0; k < *out_n; k++)
    dim[k] = wick_dim_const(
        wick_max_i64(wick_load_elem(known.elem, known.data, k).i, -((int64_t)1 << 60)));
  *out = dim;
  return true;
}

bool wick_import_numbers(wick_import_node *n, uint32_t i, const char *what, uint32_t *out_n,
                         const int64_t **out)
{
  const wick_dim *dim;
  if (!wick_import_dims(n, i, what, out_n, &dim)) return false;
  int64_t *v = wick_new(n->c->tmp, int64_t, *out_n + 1);
  for (uint32_t k = 0; k < *out_n; k++) {
    if (!wick_dim_is_const(dim[k])) return wick_import_must_be_known(n, what, dim[k]);
    v[k] = dim[k].v;
  }
  *out = v;
  return true;
}

bool wick_import_one(wick_import_node *n, uint32_t i, const char *what, int64_t otherwise,
                     int64_t *out)
{
  uint32_t count;
  const int64_t *v;
  *out = otherwise;
  if (!wick_import_has(n, i)) return true;
  if (!wick_import_numbers(n, i, what, &count, &v)) return false;
  if (count == 1) *out = v[0];
  if (count != 1) wick_import_fail(n, WICK_ETYPE, "%s has %u numbers, expected 1", what, count);
  return count == 1;
}

bool wick_import_reals(wick_import_node *n, uint32_t i, const char *what, uint32_t *out_n,
                       const double **out)
{
  wick_tensor t;
  if (!wick_known_value(n->b, n->c->tmp, n->in[i], &t))
    return wick_import_unknown(n, n->in[i], what);
  *out_n = (uint32_t)wick_ref_numel(&t);
  double *v = wick_new(n->c->tmp, double, *out_n + 1);
  for (uint32_t k = 0; k < *out_n; k++) {
    wick_scalar s = wick_load_elem(t.elem, t.data, k);
    v[k] = wick_elem_is_float(t.elem) ? s.f : (double)s.i;
  }
  *out = v;
  return true;
}

bool wick_import_known_int(wick_import *c, wick_value v, int64_t *out)
{
  wick_tensor t;
  if (!v.id || !wick_known_value(&c->b, c->tmp, v, &t) || wick_ref_numel(&t) != 1 ||
      wick_elem_is_float(t.elem))
    return false;
  *out = wick_load_elem(t.elem, t.data, 0).i;
  return true;
}

bool wick_import_equal(wick_import_node *n, wick_dim a, wick_dim b)
{
  if (!wick_dim_eq(a, b) && !wick_dim_may_equal(n->c->module->dims, a, b)) return false;
  wick_build_shape_constraint(n->b, a, b, n->b->loc);
  return true;
}
