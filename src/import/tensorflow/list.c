/* Lists of tensors: TensorList, which is a value, and TensorArray of version 1, whose flow is one.
 * A list is its items, stacked. */
#include "import/tensorflow/ops.h"
#include "import/tensorflow/state.h"

static wick_tf_value list_value(wick_import *c, const wick_tf_list *list, wick_value items)
{
  return (wick_tf_value){
      .kind = WICK_TF_LIST, .v = items, .list = wick_dup(c->tmp, wick_tf_list, list, 1)};
}

wick_tf_value wick_tf_list_of(wick_import *c, wick_value v)
{
  if (c->b.status || !v.id) return (wick_tf_value){.kind = WICK_TF_BROKEN};
  const wick_type_info *t = wick_built_info(&c->b, v);
  wick_tf_list l = {.elem = t->elem, .shaped = true};
  if (!t->rank) {
    wick_build_fail(&c->b, WICK_ETYPE, "the items of a list have no dimension to be along");
    return (wick_tf_value){.kind = WICK_TF_BROKEN};
  }
  l.length = t->dim[0], l.rank = t->rank - 1u;
  for (uint32_t k = 0; k < l.rank; k++) l.dim[k] = t->dim[k + 1];
  return list_value(c, &l, v);
}

wick_value wick_tf_list_items(wick_import *c, const wick_tf_value *list)
{
  const wick_tf_list *l = list->list;
  wick_dim dim[WICK_MAX_RANK];
  if (list->v.id) return list->v;
  if (!l || !l->shaped || l->rank + 1 > WICK_MAX_RANK) return (wick_value){0};
  dim[0] = l->length;
  for (uint32_t k = 0; k < l->rank; k++) dim[k + 1] = l->dim[k];
  return wick_build_const(&c->b, wick_type_tensor(c->module, l->elem, l->rank + 1, dim), 0, 0);
}

/* The operand that is a list; NULL after a failure. */
static const wick_tf_value *list_in(wick_import_node *n, uint32_t i)
{
  const wick_tf_value *v = &wick_tf_op_of(n)->in[i];
  if (i < n->nin && v->kind == WICK_TF_LIST) return v;
  wick_import_fail(n, WICK_ETYPE, "operand %u is no list", i);
  return NULL;
}

static void list_set(wick_import_node *n, uint32_t i, wick_tf_value v)
{
  if (i < n->nout) wick_tf_op_of(n)->out[i] = v;
}

/* The items; fails if none was stored and their shape is not known. */
static wick_value list_items(wick_import_node *n, const wick_tf_value *list)
{
  wick_value v = wick_tf_list_items(n->c, list);
  if (!v.id && !n->failed)
    wick_import_fail(n, WICK_EUNSUPPORTED, "the shape of the list's items is not known here");
  return v;
}

static bool list_shape(wick_import_node *n, uint32_t i, wick_tf_list *l)
{
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_import_has(n, i)) return true;
  const wick_type_info *t = wick_import_info(n, i);
  if (!wick_import_dims(n, i, "the shape of an item", &rank, &dim)) return false;
  l->shaped = t->rank == 1 && rank <= WICK_MAX_RANK - 1;
  for (uint32_t k = 0; k < rank && l->shaped; k++) {
    l->shaped = !(wick_dim_is_const(dim[k]) && dim[k].v < 0);
    l->dim[k] = dim[k];
  }
  l->rank = l->shaped ? rank : 0;
  return true;
}

static bool list_length(wick_import_node *n, uint32_t i, wick_dim *out)
{
  uint32_t count;
  const wick_dim *dim;
  if (!wick_import_dims(n, i, "the length of the list", &count, &dim)) return false;
  if (count != 1 || (wick_dim_is_const(dim[0]) && dim[0].v < 0)) {
    wick_import_fail(n, WICK_ETYPE, "the length of the list is no number that is at least 0");
    return false;
  }
  *out = dim[0];
  return true;
}

void wick_tf_import_list_reserve(wick_import_node *n) /* shape, length */
{
  wick_tf_list l = {0};
  if (wick_tf_attr_elem(n, "element_dtype", &l.elem) && list_shape(n, 0, &l) &&
      list_length(n, 1, &l.length))
    list_set(n, 0, list_value(n->c, &l, (wick_value){0}));
}

void wick_tf_import_list_empty(wick_import_node *n) /* shape, the most items */
{
  wick_tf_list l = {.length = wick_dim_const(0)};
  if (wick_tf_attr_elem(n, "element_dtype", &l.elem) && list_shape(n, 0, &l))
    list_set(n, 0, list_value(n->c, &l, (wick_value){0}));
}

void wick_tf_import_list_from_tensor(wick_import_node *n)
{
  list_set(n, 0, wick_tf_list_of(n->c, n->in[0]));
}

void wick_tf_import_list_stack(wick_import_node *n)
{
  const wick_tf_value *list = list_in(n, 0);
  if (list) n->out[0] = list_items(n, list);
}

/* Integers as a tensor [k, 1] for scatter_nd. */
static wick_value list_column(wick_import_node *n, wick_value index, wick_dim count)
{
  wick_dim dim[] = {count, wick_dim_const(1)};
  return wick_build_reshape(n->b, index, 2, dim);
}

static wick_value list_scatter(wick_import_node *n, wick_value items, wick_value index,
                               wick_value update)
{
  return wick_build3(n->b, WICK_OP_scatter_nd, items, index, update);
}

/* Stores an item. The first one decides the shape of all. */
static wick_tf_value list_store(wick_import_node *n, const wick_tf_value *list, wick_value index,
                                wick_value item)
{
  wick_tf_list l = *list->list;
  wick_import *c = n->c;
  if (n->b->status) return (wick_tf_value){.kind = WICK_TF_BROKEN};
  const wick_type_info *t = wick_built_info(n->b, item);
  if (t->rank + 1 > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "an item of rank %u", t->rank);
    return (wick_tf_value){.kind = WICK_TF_BROKEN};
  }
  if (!list->v.id) {
    l.elem = t->elem, l.shaped = true, l.rank = t->rank;
    for (uint32_t k = 0; k < t->rank; k++) l.dim[k] = t->dim[k];
  }
  wick_tf_value base = list_value(c, &l, list->v);
  wick_value items = wick_tf_list_items(c, &base), row = wick_emit_unsqueeze(n->b, item, 0);
  wick_value at = list_column(n, index, wick_dim_const(1));
  wick_tf_value out = list_value(c, &l, list_scatter(n, items, at, row));
  wick_tf_stored stored = {list->v, index, item};
  out.stored = wick_dup(c->tmp, wick_tf_stored, &stored, 1);
  return out;
}

static wick_tf_value list_pushed(wick_import_node *n, const wick_tf_value *list, wick_value item)
{
  wick_value row = wick_emit_unsqueeze(n->b, item, 0);
  bool none = wick_dim_eq(list->list->length, wick_dim_const(0));
  if (none) return wick_tf_list_of(n->c, row);
  wick_value items = list_items(n, list);
  if (!items.id) return (wick_tf_value){.kind = WICK_TF_BROKEN};
  return wick_tf_list_of(n->c, wick_build_concat(n->b, 0, 2, (wick_value[]){items, row}));
}

/* An index that is the length of an array that may grow appends the item. */
static wick_tf_value list_written(wick_import_node *n, const wick_tf_value *list, wick_value index,
                                  wick_value item)
{
  int64_t at;
  wick_dim length = list->list->length;
  if (wick_dim_is_const(length) && wick_import_known_int(n->c, index, &at)) {
    if (at == length.v) return list_pushed(n, list, item);
    if (at < 0 || at > length.v) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "item %lld is stored in a list of %lld", (long long)at,
                       (long long)length.v);
      return (wick_tf_value){.kind = WICK_TF_BROKEN};
    }
  } else if (wick_dim_is(length, 0) && !n->b->open.n) { /* in a loop, the passes find its length */
    wick_import_unknown(n, index, "the index of an item in a list that grows");
    return (wick_tf_value){.kind = WICK_TF_BROKEN};
  }
  return list_store(n, list, index, item);
}

void wick_tf_import_list_set_item(wick_import_node *n) /* list, index, item */
{
  const wick_tf_value *list = list_in(n, 0);
  if (list) list_set(n, 0, list_written(n, list, n->in[1], n->in[2]));
}

static wick_value list_get(wick_import_node *n, const wick_tf_value *list, wick_value index)
{
  wick_value items = list_items(n, list);
  if (!items.id) return items;
  return wick_build2(n->b, WICK_OP_dynamic_index, items, wick_build_cast(n->b, index, WICK_I64));
}

void wick_tf_import_list_get_item(wick_import_node *n) /* list, index, shape */
{
  const wick_tf_value *list = list_in(n, 0);
  if (list) n->out[0] = list_get(n, list, n->in[1]);
}

void wick_tf_import_list_push_back(wick_import_node *n)
{
  const wick_tf_value *list = list_in(n, 0);
  if (list) list_set(n, 0, list_pushed(n, list, n->in[1]));
}

void wick_tf_import_list_pop_back(wick_import_node *n)
{
  const wick_tf_value *list = list_in(n, 0);
  wick_value items = list ? list_items(n, list) : (wick_value){0};
  if (!items.id) return;
  wick_dims *t = n->c->module->dims;
  wick_dim last = wick_dim_sub(t, list->list->length, wick_dim_const(1)), none = wick_dim_const(0);
  if (wick_dim_is_const(last) && last.v < 0) {
    wick_import_fail(n, WICK_ETYPE, "the list is empty");
    return;
  }
  list_set(n, 0, wick_tf_list_of(n->c, wick_emit_slice(n->b, items, 0, none, last)));
  wick_value item = wick_emit_slice(n->b, items, 0, last, wick_dim_const(1));
  if (n->nout > 1) n->out[1] = wick_emit_squeeze(n->b, item, 0);
}

static wick_value list_number(wick_import_node *n, wick_dim d)
{
  wick_value i = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, d));
  return wick_build_cast(n->b, i, WICK_I32);
}

void wick_tf_import_list_length(wick_import_node *n)
{
  const wick_tf_value *list = list_in(n, 0);
  if (list) n->out[0] = list_number(n, list->list->length);
}

void wick_tf_import_list_element_shape(wick_import_node *n)
{
  const wick_tf_value *list = list_in(n, 0);
  wick_value items = list ? list_items(n, list) : (wick_value){0};
  if (!items.id) return;
  wick_elem e;
  if (!wick_tf_attr_elem(n, "shape_type", &e)) return;
  wick_emit s = wick_emit_begin(n->b, WICK_OP_shape);
  wick_emit_set_int(&s, "start", 1);
  n->out[0] = wick_build_cast(n->b, wick_emit_end1(&s, items), e);
}

/* Are the indices 0, 1, ... up to the whole length? */
static bool list_is_all(wick_import_node *n, wick_value index, wick_dim length)
{
  const wick_node *d = wick_emit_definer(n->b, index);
  while (d && (d->op == WICK_OP_cast || d->op == WICK_OP_reshape))
    index = d->in[0], d = wick_emit_definer(n->b, index);
  int64_t start, step;
  if (!d || d->op != WICK_OP_range) return false;
  wick_dim count = wick_built_info(n->b, index)->dim[0];
  return wick_dim_eq(count, length) && wick_import_known_int(n->c, d->in[0], &start) && !start &&
         wick_import_known_int(n->c, d->in[1], &step) && step == 1;
}

static wick_value list_gather(wick_import_node *n, const wick_tf_value *list, wick_value index)
{
  wick_value items = list_items(n, list);
  if (!items.id || list_is_all(n, index, list->list->length)) return items;
  return wick_emit_gather(n->b, WICK_OP_gather, items, index, 0);
}

void wick_tf_import_list_gather(wick_import_node *n) /* list, indices, shape */
{
  const wick_tf_value *list = list_in(n, 0);
  if (list) n->out[0] = list_gather(n, list, n->in[1]);
}

/* Stores the rows of x at these indices in a list. */
static wick_tf_value list_scattered(wick_import_node *n, const wick_tf_list *list, wick_value items,
                                    wick_value index, wick_value x)
{
  const wick_type_info *t = wick_built_info(n->b, x);
  if (n->b->status || !t->rank) {
    if (!n->b->status) wick_import_fail(n, WICK_ETYPE, "the items have no first dimension");
    return (wick_tf_value){.kind = WICK_TF_BROKEN};
  }
  if (!items.id &&
      (wick_dim_eq(list->length, t->dim[0]) || wick_dim_eq(list->length, wick_dim_const(0))) &&
      list_is_all(n, index, t->dim[0]))
    return wick_tf_list_of(n->c, x);
  wick_tf_list l = *list;
  l.shaped = true, l.rank = t->rank - 1u, l.elem = t->elem;
  for (uint32_t k = 0; k < l.rank; k++) l.dim[k] = t->dim[k + 1];
  if (wick_dim_eq(l.length, wick_dim_const(0))) l.length = t->dim[0]; /* an array that may grow */
  wick_tf_value base = list_value(n->c, &l, items);
  items = wick_tf_list_items(n->c, &base);
  wick_value at = list_column(n, index, wick_built_info(n->b, index)->dim[0]);
  return list_value(n->c, &l, list_scatter(n, items, at, x));
}

void wick_tf_import_list_scatter(
    wick_import_node *n) /* x, indices, shape, length (-1: from the indices) */
{
  wick_tf_list l = {0};
  uint32_t count;
  const wick_dim *dim;
  if (!wick_import_dims(n, 3, "the length of the list", &count, &dim) || count != 1) return;
  l.length = dim[0];
  const wick_type_info *t = wick_import_info(n, 0);
  if (wick_dim_is_const(dim[0]) && dim[0].v < 0) l.length = t->rank ? t->dim[0] : wick_dim_const(1);
  l.elem = t->elem;
  list_set(n, 0, list_scattered(n, &l, (wick_value){0}, n->in[1], n->in[0]));
}

void wick_tf_import_list_scatter_into(wick_import_node *n) /* list, x, indices */
{
  const wick_tf_value *list = list_in(n, 0);
  if (list) list_set(n, 0, list_scattered(n, list->list, list->v, n->in[2], n->in[1]));
}

/* Items [n, a, ...] become [n * a, ...]; all have the same length a. */
static void list_concat(wick_import_node *n, const wick_tf_value *list)
{
  wick_value items = list_items(n, list);
  if (!items.id || n->b->status) return;
  const wick_type_info *t = wick_built_info(n->b, items);
  wick_dims *d = n->c->module->dims;
  wick_dim dim[WICK_MAX_RANK];
  if (t->rank < 2) {
    wick_import_fail(n, WICK_ETYPE, "items without dimensions cannot be joined");
    return;
  }
  dim[0] = wick_dim_mul(d, t->dim[0], t->dim[1]);
  for (uint32_t k = 2; k < t->rank; k++) dim[k - 1] = t->dim[k];
  wick_dim size = t->dim[1], count = t->dim[0];
  n->out[0] = wick_build_reshape(n->b, items, t->rank - 1u, dim);
  if (n->nout < 2) return;
  wick_value one = wick_build_cast(n->b, list_number(n, size), WICK_I64);
  n->out[1] = wick_emit_expand(n->b, one, 1, &count);
}

void wick_tf_import_list_concat(wick_import_node *n)
{
  const wick_tf_value *list = list_in(n, 0);
  if (list) list_concat(n, list);
}

/* x [n * a, ...] in n parts of a. */
static void list_split(wick_import_node *n, wick_value x, uint32_t lengths, uint32_t out)
{
  uint32_t count;
  const wick_dim *part;
  if (!wick_import_dims(n, lengths, "the lengths of the parts", &count, &part)) return;
  for (uint32_t k = 1; k < count; k++)
    if (!wick_dim_eq(part[k], part[0])) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "parts of different lengths are not supported");
      return;
    }
  const wick_type_info *t = wick_built_info(n->b, x);
  wick_dim dim[WICK_MAX_RANK];
  if (!count || !t->rank || t->rank + 1 > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "there are no parts, or x has no dimension");
    return;
  }
  dim[0] = wick_dim_const(count), dim[1] = part[0];
  for (uint32_t k = 1; k < t->rank; k++) dim[k + 1] = t->dim[k];
  list_set(n, out, wick_tf_list_of(n->c, wick_build_reshape(n->b, x, t->rank + 1u, dim)));
}

void wick_tf_import_list_split(wick_import_node *n) { list_split(n, n->in[0], 2, 0); }

void wick_tf_import_list_resize(wick_import_node *n) /* list, length */
{
  const wick_tf_value *list = list_in(n, 0);
  wick_tf_list l;
  if (!list) return;
  l = *list->list;
  if (!list_length(n, 1, &l.length)) return;
  if (!list->v.id) {
    list_set(n, 0, list_value(n->c, &l, (wick_value){0}));
    return;
  }
  wick_dim pad[2 * WICK_MAX_RANK];
  uint32_t rank = l.rank + 1;
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  pad[rank] = wick_dim_sub(n->c->module->dims, l.length, list->list->length);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  list_set(n, 0, wick_tf_list_of(n->c, wick_emit_end1(&e, list->v)));
}

/* ---- TensorArray: the handle is a list that tells the type, the flow is the list ---- */

void wick_tf_import_array(wick_import_node *n) /* size -> handle, flow */
{
  wick_tf_list l = {0};
  const wick_tf_attr *shape = wick_tf_attr_find(n, "element_shape");
  if (!wick_tf_attr_elem(n, "dtype", &l.elem) || !list_length(n, 0, &l.length)) return;
  const wick_tf_shape *s = shape ? shape->shape : NULL;
  l.shaped = s && !s->unknown_rank && s->dim.n < WICK_MAX_RANK;
  for (size_t k = 0; l.shaped && k < s->dim.n; k++) {
    l.shaped = s->dim.at[k].size >= 0;
    l.dim[k] = wick_dim_const(s->dim.at[k].size);
  }
  if (l.shaped) l.rank = (uint32_t)s->dim.n;
  if (l.shaped && !s->dim.n) l.shaped = false; /* the default of old versions says nothing */
  wick_tf_value v = list_value(n->c, &l, (wick_value){0});
  list_set(n, 0, v);
  list_set(n, 1, v);
}

void wick_tf_import_array_write(wick_import_node *n) /* handle, index, item, flow */
{
  const wick_tf_value *list = list_in(n, 3);
  if (list) list_set(n, 0, list_written(n, list, n->in[1], n->in[2]));
}

void wick_tf_import_array_read(wick_import_node *n) /* handle, index, flow */
{
  const wick_tf_value *list = list_in(n, 2);
  if (list) n->out[0] = list_get(n, list, n->in[1]);
}

void wick_tf_import_array_gather(wick_import_node *n) /* handle, indices, flow */
{
  const wick_tf_value *list = list_in(n, 2);
  if (list) n->out[0] = list_gather(n, list, n->in[1]);
}

void wick_tf_import_array_scatter(wick_import_node *n) /* handle, indices, x, flow */
{
  const wick_tf_value *list = list_in(n, 3);
  if (list) list_set(n, 0, list_scattered(n, list->list, list->v, n->in[1], n->in[2]));
}

void wick_tf_import_array_concat(wick_import_node *n) /* handle, flow */
{
  const wick_tf_value *list = list_in(n, 1);
  if (list) list_concat(n, list);
}

void wick_tf_import_array_split(wick_import_node *n) { list_split(n, n->in[1], 2, 0); }

void wick_tf_import_array_size(wick_import_node *n) /* handle, flow */
{
  const wick_tf_value *list = list_in(n, 1);
  if (list) n->out[0] = list_number(n, list->list->length);
}

void wick_tf_import_array_close(wick_import_node *n) { (void)n; }
