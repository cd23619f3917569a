/* Inference of tensor operators: operands, known contents, broadcasting, and contents that are only
 * moved. */
#include "ops/tensor.h"

wick_status wick_infer_tensor(const wick_infer *c, uint32_t i, const char *what,
                              uint32_t least_rank, const wick_type_info **out)
{
  if (i >= c->nin || !c->in[i])
    return wick_infer_fail(c, WICK_ETYPE, "%s (operand %u) is missing", what, i);
  const wick_type_info *t = wick_type_get(c->module, c->in[i]->type);
  if (t->kind != WICK_TENSOR) return wick_infer_fail(c, WICK_ETYPE, "%s is not a tensor", what);
  if (t->rank < least_rank)
    return wick_infer_fail(c, WICK_ETYPE, "%s has rank %u, expected %u or more", what, t->rank,
                           least_rank);
  *out = t;
  return NULL;
}

wick_status wick_infer_alike(const wick_infer *c, uint32_t i, const char *what, uint32_t least_rank,
                             const wick_type_info **out)
{
  WICK_TRY(wick_infer_tensor(c, i, what, least_rank, out));
  wick_elem want = wick_type_get(c->module, c->in[0]->type)->elem;
  if ((*out)->elem != want)
    return wick_infer_fail(c, WICK_ETYPE, "%s is %s, expected %s", what,
                           wick_elem_name((*out)->elem), wick_elem_name(want));
  return NULL;
}

void wick_infer_out(wick_infer *c, uint32_t k, wick_elem e, uint32_t rank, const wick_dim *dim)
{
  c->out[k].type = wick_type_tensor(c->module, e, rank, dim);
}

wick_status wick_infer_axis(const wick_infer *c, int64_t axis, uint32_t rank, uint32_t *out)
{
  if (axis < -(int64_t)rank || axis >= (int64_t)rank)
    return wick_infer_fail(c, WICK_ETYPE, "axis %lld is outside [%lld, %lld]", (long long)axis,
                           -(long long)rank, (long long)rank - 1);
  *out = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
  return NULL;
}

static const char *tensor_dims_text(const wick_infer *c, uint32_t rank, const wick_dim *dim)
{
  wick_text t = wick_text_begin(c->mem);
  wick_text_char(&t, '[');
  for (uint32_t k = 0; k < rank; k++) {
    if (k) wick_text_char(&t, ',');
    wick_dim_print(c->module->dims, dim[k], &t);
  }
  wick_text_char(&t, ']');
  return t.at;
}

wick_status wick_infer_broadcast(const wick_infer *c, uint32_t *rank, wick_dim *dim,
                                 uint32_t other_rank, const wick_dim *other)
{
  wick_dim out[WICK_MAX_RANK];
  uint32_t n = *rank > other_rank ? *rank : other_rank;
  for (uint32_t k = 0; k < n; k++) {
    wick_dim a = k < n - *rank ? wick_dim_const(1) : dim[k - (n - *rank)],
             b = k < n - other_rank ? wick_dim_const(1) : other[k - (n - other_rank)];
    if (!wick_dim_is(a, 1) && !wick_dim_is(b, 1) && !wick_infer_meet(c, &a, b))
      return wick_infer_fail(c, WICK_ETYPE, "shapes do not broadcast: %s and %s",
                             tensor_dims_text(c, *rank, dim),
                             tensor_dims_text(c, other_rank, other));
    out[k] = wick_dim_is(a, 1) ? b : a;
  }
  *rank = n;
  for (uint32_t k = 0; k < n; k++) dim[k] = out[k];
  return NULL;
}

bool wick_infer_divides(const wick_infer *c, wick_dim d, wick_dim by)
{
  return wick_infer_equal(c, wick_dim_mod(c->module->dims, d, by), wick_dim_const(0));
}

const char *wick_infer_type_text(const wick_infer *c, wick_type t)
{
  wick_text text = wick_text_begin(c->mem);
  wick_type_print(c->module, t, &text);
  return text.at;
}

const char *wick_infer_dim_text(const wick_infer *c, wick_dim d)
{
  wick_text text = wick_text_begin(c->mem);
  wick_dim_print(c->module->dims, d, &text);
  return text.at;
}

/* ---- contents that are moved ---- */

bool wick_infer_concrete(const wick_infer *c, wick_type t, wick_tensor *out)
{
  const wick_type_info *info = wick_type_get(c->module, t);
  if (info->kind != WICK_TENSOR) return false;
  *out = (wick_tensor){.elem = info->elem, .rank = info->rank};
  return wick_type_const_dims(info, out->dim);
}

/* Returns operand i as 64-bit integers. Expressions are handles, which are moved like numbers. */
static bool tensor_of_content(const wick_infer *c, uint32_t i, bool moved, wick_tensor *out)
{
  *out = (wick_tensor){.elem = WICK_I64};
  if (!c->in[i]) return true;
  const wick_value_info *v = c->in[i];
  if (!wick_infer_concrete(c, v->type, out)) return false;
  bool empty = wick_dim_is(wick_type_numel(c->module, v->type), 0);
  if (!wick_elem_is_int(out->elem) || (!v->content && !empty)) return false;
  out->elem = WICK_I64;
  int64_t *data = wick_new(c->mem, int64_t, v->ncontent);
  for (uint32_t k = 0; k < v->ncontent; k++) {
    if (!moved && !wick_dim_is_const(v->content[k])) return false;
    data[k] = v->content[k].v;
  }
  out->data = data;
  return true;
}

void wick_infer_moved(wick_infer *c, uint32_t moved)
{
  wick_tensor *in = wick_new(c->mem, wick_tensor, c->nin),
              *out = wick_new(c->mem, wick_tensor, c->nout);
  for (uint32_t i = 0; i < c->nin; i++)
    if (!tensor_of_content(c, i, moved >> (i < 31 ? i : 31) & 1, &in[i])) return;
  for (uint32_t k = 0; k < c->nout; k++) {
    wick_dim n = wick_type_numel(c->module, c->out[k].type);
    if (!wick_infer_concrete(c, c->out[k].type, &out[k]) || !wick_elem_is_int(out[k].elem) ||
        n.v > WICK_MAX_CONTENT)
      return;
    out[k].elem = WICK_I64;
    out[k].data = wick_new(&c->module->mem, wick_dim, (size_t)n.v);
  }
  wick_ref r = {.op = c->op,
                .mem = c->mem,
                .module = c->module,
                .attr = c->attr,
                .location = c->location,
                .nin = c->nin,
                .nout = c->nout,
                .in = in,
                .out = out};
  if (wick_ops[c->op]->ref(&r)) return; /* an operator that fails at run time does not fail here */
  for (uint32_t k = 0; k < c->nout; k++) {
    c->out[k].content = out[k].data;
    c->out[k].ncontent = (uint32_t)wick_type_numel(c->module, c->out[k].type).v;
  }
}
