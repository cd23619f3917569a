/* Replaces the multiplication by the scale, then transposes and gathers of its result. */
#include "graph/defer_dequantize.h"

#include <string.h>

#include "ir/element.h"
#include "ir/rewrite.h"
#include "ops/layout/dequantized_constant.h"

/* ---- conditions ---- */

static bool defer_transposes(const wick_node *n)
{
  if (n->op != WICK_OP_transpose) return false;
  const wick_attr *perm = &n->attr[WICK_ATTR_transpose_perm];
  return !perm->n || perm->ints[0] == 1;
}

/* Returns true if old value v is read only as the weights of products, and, if `more`, also through
 * transposes, and as the table of gathers of whole rows. */
static bool defer_is_read(const wick_rewriter *r, wick_value v, bool more)
{
  uint32_t first = r->uses.first[v.id], end = r->uses.first[v.id + 1];
  for (uint32_t u = first; u < end; u++) {
    const wick_node *user = &r->c.f->node[r->uses.use[u]];
    bool is = user->nin == 2 && user->in[0].id != user->in[1].id;
    if (user->op == WICK_OP_matmul)
      is = is && user->in[1].id == v.id;
    else if (more && user->op == WICK_OP_gather)
      is = is && user->in[0].id == v.id && user->attr[WICK_ATTR_gather_axis].i == 0;
    else
      is = more && defer_transposes(user) && defer_is_read(r, user->first, false);
    if (!is) return false;
  }
  return first < end;
}

/* ---- operands ---- */

/* Returns the constant's number, 0 if it is none or has no data. */
static uint32_t defer_constant(wick_rewriter *r, wick_value v)
{
  wick_node n;
  if (!v.id || !wick_rewrite_def(r, v, WICK_OP_const, &n)) return 0;
  uint32_t id = wick_const_imm(&n)->constant;
  return wick_constant_get(r->c.f->module, id)->data ? id : 0;
}

static void *defer_numbers(wick_rewriter *r, wick_value v, wick_elem to)
{
  wick_module *m = r->c.f->module;
  const wick_type_info *t = wick_rewrite_info(r, v);
  uint32_t id = defer_constant(r, v);
  double f;
  int64_t i, numel = wick_type_numel(m, wick_built_type(&r->c.b, v)).v;
  wick_scalar one = {.i = 0};
  if (!id && to == WICK_F32 && wick_rewrite_number(r, v, &f))
    one.f = f;
  else if (!id && to != WICK_F32 && wick_rewrite_int(r, v, &i))
    one.i = i;
  else if (!id)
    return NULL;
  const void *bytes = id ? wick_constant_get(m, id)->data : NULL;
  void *out = wick_arena_alloc(&m->mem, (uint64_t)numel * 4, 64); /* lives as long as the module */
  for (int64_t k = 0; k < numel; k++)
    wick_store_elem(to, out, (uint64_t)k,
                    bytes ? wick_load_elem(t->elem, bytes, (uint64_t)k) : one);
  return out;
}

/* Finds the tensor of which `v` repeats each element along one axis, a matrix of `size`, by
 * reshape(broadcast_to(reshape(..))). Writes its dimensions and how often elements are repeated. */
static bool defer_repeats(wick_rewriter *r, wick_value v, const int64_t *size, int64_t *dim,
                          int64_t *block, wick_value *of)
{
  wick_node whole, wide;
  int64_t own[WICK_MAX_RANK], all[WICK_MAX_RANK];
  if (!wick_rewrite_def(r, v, WICK_OP_reshape, &whole) ||
      !wick_rewrite_def(r, whole.in[0], WICK_OP_broadcast_to, &wide))
    return false;
  const wick_type_info *from = wick_rewrite_info(r, wide.in[0]),
                       *to = wick_rewrite_info(r, whole.in[0]);
  if (from->rank != 3 || to->rank != 3 || !wick_type_const_dims(from, own) ||
      !wick_type_const_dims(to, all) || own[0] != all[0])
    return false;
  uint32_t axis = all[1] == own[1] ? 1 : 0, at = axis + 1, other = axis ? 1 : 2;
  dim[0] = own[0], dim[1] = own[other], block[axis] = all[at];
  *of = wide.in[0];
  return own[at] == 1 && own[other] == all[other] && dim[0] * block[0] == size[0] &&
         dim[1] * block[1] == size[1];
}

/* Reads v, which is broadcast to a matrix of `size`, as constant numbers of type `to`. */
static bool defer_shared(wick_rewriter *r, wick_value v, const int64_t *size, wick_elem to,
                         wick_shared_numbers *out)
{
  wick_node n;
  int64_t dim[2] = {1, 1}, own[WICK_MAX_RANK];
  *out = (wick_shared_numbers){.block = {1, 1}};
  if (to == WICK_I32 && wick_rewrite_def(r, v, WICK_OP_cast, &n)) v = n.in[0];
  const wick_type_info *t = wick_rewrite_info(r, v);
  if (t->rank > 2 || !wick_type_const_dims(t, own)) return false;
  if (!defer_repeats(r, v, size, dim, out->block, &v)) {
    for (uint32_t k = 0; k < t->rank; k++) dim[2 - t->rank + k] = own[k];
    out->block[0] = out->block[1] = 1;
  }
  while (wick_rewrite_def(r, v, WICK_OP_reshape, &n)) v = n.in[0];
  out->stride[0] = dim[1], out->stride[1] = 1;
  for (uint32_t k = 0; k < 2; k++)
    if (dim[k] == 1) out->stride[k] = 0, out->block[k] = size[k];
  out->data = defer_numbers(r, v, to);
  return out->data;
}

/* ---- weights ---- */

static bool defer_is_weights(wick_rewriter *r)
{
  const wick_type_info *t = wick_info_of(r->c.f, r->node->first);
  int64_t size[WICK_MAX_RANK];
  return t->kind == WICK_TENSOR && t->elem == WICK_F32 && t->rank == 2 &&
         wick_type_const_dims(t, size) && size[0] > 0 && size[1] > 0 &&
         defer_is_read(r, r->node->first, true);
}

static wick_value defer_build(wick_rewriter *r, wick_value q, const wick_dequantized *d)
{
  wick_module *m = r->c.f->module;
  uint32_t id = defer_constant(r, q);
  const char *name = wick_constant_get(m, id)->name;
  return wick_build_constant(
      &r->c.b, wick_constant_dequantized(m, wick_str_printf(r->mem, "%s.wide", name), id, d));
}

/* Returns true if q is a constant with the type of the matched node, except for its elements. */
static bool defer_is_same_shape(wick_rewriter *r, wick_value q)
{
  wick_type type = wick_rewrite_type(r);
  return defer_constant(r, q) &&
         wick_type_eq(type,
                      wick_type_with_elem(r->c.f->module, wick_built_type(&r->c.b, q), WICK_F32));
}

static wick_value defer_integers(wick_rewriter *r)
{
  wick_node sub;
  wick_value q = wick_rewrite_var(r, 'q'), s = wick_rewrite_var(r, 's'), z = {0}, narrow = q;
  if (wick_rewrite_def(r, q, WICK_OP_sub, &sub)) narrow = sub.in[0], z = sub.in[1];
  if (!wick_rewrite_def(r, narrow, WICK_OP_cast, &sub) ||
      wick_rewrite_info(r, narrow)->elem != WICK_I32 || !defer_is_same_shape(r, sub.in[0]))
    return (wick_value){0};
  narrow = sub.in[0];
  wick_elem e = wick_rewrite_info(r, narrow)->elem;
  const wick_type_info *t = wick_info_of(r->c.f, r->node->first);
  int64_t size[2] = {t->dim[0].v, t->dim[1].v};
  wick_dequantized d = {.elem = e, .rows = size[0], .columns = size[1]};
  if (!wick_elem_is_int(e) || wick_elem_storage[e].bits > 8 ||
      !defer_shared(r, s, size, WICK_F32, &d.scale) ||
      (z.id && !defer_shared(r, z, size, WICK_I32, &d.zero)))
    return (wick_value){0};
  return defer_build(r, narrow, &d);
}

static wick_value defer_halves(wick_rewriter *r)
{
  wick_value q = wick_rewrite_var(r, 'q');
  wick_elem e = wick_rewrite_info(r, q)->elem;
  if ((e != WICK_F16 && e != WICK_BF16) || !defer_is_same_shape(r, q)) return (wick_value){0};
  const wick_type_info *t = wick_info_of(r->c.f, r->node->first);
  return defer_build(r, q,
                     &(wick_dequantized){.elem = e, .rows = t->dim[0].v, .columns = t->dim[1].v});
}

static const wick_dequantized *defer_found(wick_rewriter *r, wick_value v, uint32_t *id)
{
  wick_node n;
  if (!wick_rewrite_def(r, v, WICK_OP_const, &n)) return NULL;
  *id = wick_const_imm(&n)->constant;
  return wick_dequantized_of(wick_constant_get(r->c.f->module, *id));
}

static wick_value defer_transpose(wick_rewriter *r)
{
  uint32_t id;
  const wick_dequantized *d = defer_found(r, wick_rewrite_var(r, 'w'), &id);
  if (!d || !defer_transposes(r->node)) return (wick_value){0};
  wick_module *m = r->c.f->module;
  wick_dequantized turned = wick_dequantized_transposed(d);
  const char *name = wick_str_printf(r->mem, "%s.turned", wick_constant_get(m, id)->name);
  return wick_build_constant(&r->c.b, wick_constant_dequantized(m, name, d->r.from, &turned));
}

/* ---- gathers of rows ---- */

/* Returns the numbers as a constant [rows or 1, blocks of columns]. */
static wick_value defer_table(wick_rewriter *r, const wick_dequantized *d,
                              const wick_shared_numbers *s, wick_elem e)
{
  wick_module *m = r->c.f->module;
  int64_t dim[2] = {s->stride[0] ? d->rows : 1, s->stride[1] ? d->columns / s->block[1] : 1};
  char *data = wick_module_alloc(m, (uint64_t)(dim[0] * dim[1]) * 4);
  for (int64_t i = 0; i < dim[0]; i++)
    for (int64_t j = 0; j < dim[1]; j++)
      memcpy(data + (i * dim[1] + j) * 4,
             (const char *)s->data + 4 * wick_shared_index(s, i, j * s->block[1]), 4);
  uint32_t id = wick_constant_add(m, "rows", wick_type_tensor_const(m, e, 2, dim), data,
                                  (uint64_t)(dim[0] * dim[1]) * 4);
  return wick_build_constant(&r->c.b, id);
}

/* Splits the columns of v into blocks: [.., blocks, columns of a block]. */
static wick_value defer_split(wick_rewriter *r, wick_value v, int64_t block)
{
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info *t = wick_rewrite_info(r, v);
  uint32_t n = t->rank; /* of a table */
  memcpy(dim, t->dim, n * sizeof *dim);
  dim[n - 1] = wick_dim_const(dim[n - 1].v / block), dim[n] = wick_dim_const(block);
  return wick_build_reshape(&r->c.b, v, n + 1, dim);
}

/* Returns the shared numbers of the rows that are gathered: [.., blocks], or [.., blocks, 1] if a
 * block has several columns. */
static wick_value defer_rows(wick_rewriter *r, const wick_dequantized *d,
                             const wick_shared_numbers *s, wick_elem e, int64_t block)
{
  wick_value in[2] = {defer_table(r, d, s, e), wick_rewrite_var(r, 'i')};
  if (block > 1) in[0] = defer_split(r, in[0], 1);
  return s->stride[0] ? wick_build(&r->c.b, WICK_OP_gather, 2, in, r->node->attr, 0, NULL) : in[0];
}

static wick_value defer_gather(wick_rewriter *r)
{
  uint32_t id;
  wick_builder *b = &r->c.b;
  const wick_dequantized *d = defer_found(r, wick_rewrite_var(r, 'w'), &id);
  const wick_type_info *t = wick_info_of(r->c.f, r->node->first);
  if (!d || d->turned || r->node->attr[WICK_ATTR_gather_axis].i != 0 || t->rank < 2 ||
      t->rank + 1u > WICK_MAX_RANK)
    return (wick_value){0};
  int64_t block = d->scale.data && d->scale.stride[1] ? d->scale.block[1] : 1;
  if (d->zero.data && (d->zero.stride[1] ? d->zero.block[1] : block) != block)
    return (wick_value){0};
  wick_value in[2] = {wick_build_constant(b, d->r.from), wick_rewrite_var(r, 'i')};
  if (block > 1) in[0] = defer_split(r, in[0], block);
  wick_value v = wick_build(b, WICK_OP_gather, 2, in, r->node->attr, 0, NULL);
  if (wick_elem_is_float(d->elem)) return wick_build_cast(b, v, WICK_F32);
  v = wick_build_cast(b, v, WICK_I32);
  if (d->zero.data) {
    wick_value zero = defer_rows(r, d, &d->zero, WICK_I32, block);
    v = wick_build2(b, WICK_OP_sub, v, zero);
  }
  wick_value scale = defer_rows(r, d, &d->scale, WICK_F32, block);
  v = wick_build2(b, WICK_OP_mul, wick_build_cast(b, v, WICK_F32), scale);
  return wick_build_reshape(b, v, t->rank, t->dim);
}

static const wick_rewrite defer_rules[] = {
    {"mul(cast(q), s)", NULL, defer_is_weights, defer_integers},
    {"cast(q)", NULL, defer_is_weights, defer_halves},
    {"transpose(w)", NULL, NULL, defer_transpose},
    {"gather(w, i)", NULL, NULL, defer_gather},
    {NULL, NULL, NULL, NULL},
};

wick_status wick_pass_defer_dequantize(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  return wick_rewrite_pass(defer_rules, f, pass->mem, out);
}
