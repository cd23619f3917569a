/* Branches, loops, states, and lists of tensors. A list is its items, stacked. */
#include "import/coreml/program/ops.h"

/* ---- branches and loops ---- */

/* A block as a body. Values of regions are tensors; the items that they stand for have the kinds of
 * `like`. */
typedef struct flow_body {
  const wick_mil_block *block;
  uint32_t n;          /* items that the body gets */
  wick_mil_item *like; /* their kinds */
  uint32_t nout;
  wick_mil_item *out; /* set to the items that the body gives */
} flow_body;

static bool flow_run(wick_import_node *n, void *arg, uint32_t nin, const wick_value *in,
                     uint32_t nout, wick_value *out)
{
  flow_body *f = arg;
  wick_mil_item *items = wick_new(n->c->tmp, wick_mil_item, f->n + 1u);
  for (uint32_t k = 0; k < f->n && k < nin; k++) {
    items[k] = f->like[k];
    items[k].v = in[k];
  }
  if (!wick_mil_block_run(n->c, f->block, f->n, items, nout, f->out)) return false;
  for (uint32_t k = 0; k < nout; k++) {
    if (f->out[k].kind != WICK_MIL_TENSOR && f->out[k].kind != WICK_MIL_LIST) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "result %u of its block is no tensor", k);
      return false;
    }
    out[k] = f->out[k].v;
    if (out[k].id) continue;
    wick_import_fail(n, WICK_EUNSUPPORTED, "the shape of a list's items is not known here");
    return false;
  }
  return true;
}

static flow_body flow_body_of(wick_import_node *n, const wick_mil_block *block, uint32_t nin,
                              wick_mil_item *like, uint32_t nout)
{
  return (flow_body){block, nin, like, nout, wick_new(n->c->tmp, wick_mil_item, nout + 1u)};
}

/* Gives results the kinds that the bodies gave them. */
static void flow_results(wick_import_node *n, const wick_mil_item *like)
{
  for (uint32_t k = 0; k < n->nout && !n->failed; k++)
    if (like[k].kind == WICK_MIL_LIST) {
      wick_mil_op_of(n)->out[k] = like[k];
      wick_mil_op_of(n)->out[k].v = n->out[k];
    }
}

void wick_mil_import_cond(wick_import_node *n) /* pred */
{
  const wick_mil_operation *def = wick_mil_op_of(n)->def;
  if (def->blocks.n != 2) {
    wick_import_fail(n, WICK_EPARSE, "it has %zu blocks, expected 2", def->blocks.n);
    return;
  }
  flow_body yes = flow_body_of(n, &def->blocks.at[0], 0, NULL, n->nout),
            no = flow_body_of(n, &def->blocks.at[1], 0, NULL, n->nout);
  wick_import_if(n, wick_build_cast(n->b, n->in[0], WICK_BOOL), flow_run, &yes, flow_run, &no, 0,
                 NULL);
  flow_results(n, n->nout && yes.out[0].kind ? yes.out : no.out);
}

void wick_mil_import_while(wick_import_node *n) /* loop_vars */
{
  const wick_mil_operation *def = wick_mil_op_of(n)->def;
  const wick_mil_arg *vars = wick_mil_arg_find(n, "loop_vars");
  uint32_t count = vars ? vars->n : 0;
  if (def->blocks.n != 2) {
    wick_import_fail(n, WICK_EPARSE, "it has %zu blocks, expected 2", def->blocks.n);
    return;
  }
  wick_value *carried = wick_new(n->c->tmp, wick_value, count + 1u);
  for (uint32_t k = 0; k < count; k++) {
    const wick_mil_item *item = &vars->item[k];
    if (item->kind != WICK_MIL_TENSOR && item->kind != WICK_MIL_LIST) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "variable %u of the loop is no tensor", k);
      return;
    }
    carried[k] = item->v;
    if (carried[k].id) continue;
    wick_import_fail(n, WICK_EUNSUPPORTED, "the shape of the items of list %u is not known", k);
    return;
  }
  flow_body test = flow_body_of(n, &def->blocks.at[0], count, vars ? vars->item : NULL, 1),
            body = flow_body_of(n, &def->blocks.at[1], count, vars ? vars->item : NULL, count);
  wick_import_while(n, flow_run, &test, flow_run, &body, count, carried);
  if (vars) flow_results(n, vars->item);
}

/* ---- lists ---- */

/* Sets the items of a list whose shape is known: zeros. */
static wick_value flow_zeros(wick_import_node *n, const wick_mil_list_info *l)
{
  wick_dim dim[WICK_MAX_RANK];
  dim[0] = wick_dim_const(l->length);
  for (uint32_t k = 0; k < l->rank; k++) dim[k + 1] = l->dim[k];
  return wick_build_const(n->b, wick_type_tensor(n->c->module, l->elem, l->rank + 1u, dim), 0, 0);
}

/* A size is a number, or a name, which says nothing. */
static void flow_item_shape(wick_import_node *n, const wick_mil_arg *a, wick_mil_list_info *l)
{
  wick_tensor t;
  l->shaped = a->n < WICK_MAX_RANK;
  for (uint32_t k = 0; k < a->n && l->shaped; k++) {
    bool known = a->item[k].kind == WICK_MIL_TENSOR &&
                 wick_known_value(n->b, n->c->tmp, a->item[k].v, &t) && !wick_elem_is_float(t.elem);
    uint32_t count = !known ? 0 : t.rank ? (uint32_t)t.dim[0] : 1;
    l->shaped = known && l->rank + count < WICK_MAX_RANK;
    for (uint32_t i = 0; i < count && l->shaped; i++) {
      int64_t size = wick_load_elem(t.elem, t.data, i).i;
      l->shaped = size >= 0;
      l->dim[l->rank++] = wick_dim_const(size);
    }
  }
}

void wick_mil_import_make_list(wick_import_node *n) /* init_length */
{
  const wick_mil_arg *shape = wick_mil_arg_find(n, "elem_shape");
  wick_mil_list_info l = {.grows = wick_import_int(n, "dynamic_length", 1) != 0};
  int64_t length = 1;
  if (!wick_mil_dtype_of(n, "dtype", WICK_F32, &l.elem) ||
      !wick_import_one(n, 0, "the length of the list", 1, &length))
    return;
  if (length < 0 || length > 1 << 24) {
    wick_import_fail(n, WICK_ERANGE, "the length of the list is %lld", (long long)length);
    return;
  }
  l.length = length;
  if (shape) flow_item_shape(n, shape, &l);
  if (!l.shaped) l.rank = 0;
  wick_mil_item item = {.kind = WICK_MIL_LIST,
                        .list = wick_dup(n->c->tmp, wick_mil_list_info, &l, 1)};
  if (l.shaped) item.v = flow_zeros(n, &l);
  if (n->nout) wick_mil_op_of(n)->out[0] = item;
}

/* The list among the arguments. NULL after a failure; its items' shape must be known if `filled`. */
static const wick_mil_item *flow_list(wick_import_node *n, bool filled)
{
  const wick_mil_arg *a = wick_mil_arg_find(n, "ls");
  if (!a || a->n != 1 || a->item[0].kind != WICK_MIL_LIST) {
    wick_import_fail(n, WICK_ETYPE, "ls is no list");
    return NULL;
  }
  if (a->item[0].v.id || !filled) return &a->item[0];
  wick_import_fail(n, WICK_EUNSUPPORTED, "the shape of the list's items is not known here");
  return NULL;
}

void wick_mil_import_list_length(wick_import_node *n)
{
  const wick_mil_item *l = flow_list(n, false);
  if (!l) return;
  wick_type number = wick_type_tensor(n->c->module, WICK_I32, 0, NULL);
  n->out[0] =
      l->v.id
          ? wick_build_cast(n->b, wick_array_element(n, wick_build1(n->b, WICK_OP_shape, l->v), 0),
                            WICK_I32)
          : wick_build_const(n->b, number, 0, l->list->length);
}

void wick_mil_import_list_read(wick_import_node *n) /* ls, index */
{
  const wick_mil_item *l = flow_list(n, true);
  if (l) n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, l->v, n->in[0], 0);
}

void wick_mil_import_list_gather(wick_import_node *n) { wick_mil_import_list_read(n); }

/* Lengthens a list so that it has an item of a known index. */
static wick_value flow_grown(wick_import_node *n, const wick_mil_item *l, wick_value items,
                             int64_t length)
{
  wick_dim have = wick_mil_info(n, items)->dim[0], none[WICK_MAX_RANK], more[WICK_MAX_RANK];
  if (!l->list->grows || !wick_dim_is_const(have) || length <= have.v) return items;
  for (uint32_t k = 0; k < WICK_MAX_RANK; k++) none[k] = more[k] = wick_dim_const(0);
  more[0] = wick_dim_const(length - have.v);
  return wick_array_pad(n, items, none, more, (wick_value){0});
}

/* The items of a list into which values [count, item...] are about to be written. */
static wick_value flow_before(wick_import_node *n, const wick_mil_item *l, wick_value value)
{
  const wick_type_info t = *wick_mil_info(n, value);
  if (l->v.id) return l->v;
  wick_mil_list_info info = *l->list;
  info.elem = t.elem, info.rank = t.rank - 1u;
  for (uint32_t k = 0; k < info.rank; k++) info.dim[k] = t.dim[k + 1];
  return flow_zeros(n, &info);
}

/* Writes values at indices, [count]. */
static void flow_write(wick_import_node *n, const wick_mil_item *l, wick_value index,
                       wick_value value, int64_t length)
{
  wick_builder *b = n->b;
  if (b->status) return;
  wick_dim column[] = {wick_mil_info(n, index)->dim[0], wick_dim_const(1)};
  wick_value items = flow_grown(n, l, flow_before(n, l, value), length);
  if (b->status) return;
  value = wick_build_cast(b, value, wick_mil_info(n, items)->elem);
  wick_mil_item out = *l;
  out.v = wick_build3(b, WICK_OP_scatter_nd, items, wick_build_reshape(b, index, 2, column), value);
  if (n->nout && !b->status) wick_mil_op_of(n)->out[0] = out;
}

void wick_mil_import_list_write(wick_import_node *n) /* index, value */
{
  const wick_mil_item *l = flow_list(n, false);
  int64_t at = -1;
  const wick_dim one = wick_dim_const(1);
  if (!l || wick_import_info(n, 1)->rank + 1u > WICK_MAX_RANK) return;
  if (!wick_import_known_int(n->c, n->in[0], &at) || at > 1 << 24) at = -1;
  wick_value index = wick_build_reshape(n->b, n->in[0], 1, &one);
  flow_write(n, l, index, wick_emit_unsqueeze(n->b, n->in[1], 0), at + 1);
}

void wick_mil_import_list_scatter(wick_import_node *n) /* indices, value */
{
  const wick_mil_item *l = flow_list(n, false);
  wick_tensor t;
  int64_t length = 0;
  if (!l || !wick_import_rank(n, 0, 1, 1) || !wick_import_rank(n, 1, 1, WICK_MAX_RANK)) return;
  if (wick_known_value(n->b, n->c->tmp, n->in[0], &t))
    for (int64_t k = 0; k < t.dim[0]; k++) {
      int64_t at = wick_load_elem(t.elem, t.data, (uint64_t)k).i;
      if (at >= length && at < 1 << 24) length = at + 1;
    }
  flow_write(n, l, n->in[0], n->in[1], length);
}

/* ---- states ---- */

/* The state among the arguments. NULL after a failure. */
static wick_mil_variable *flow_state(wick_import_node *n)
{
  const wick_mil_arg *a = wick_mil_arg_find(n, "input");
  wick_mil *m = wick_mil_of(n->c);
  if (a && a->n == 1 && a->item[0].kind == WICK_MIL_STATE) return &m->states.at[a->item[0].state];
  wick_import_fail(n, WICK_ETYPE, "its input is no state");
  return NULL;
}

void wick_mil_import_read_state(wick_import_node *n)
{
  const wick_mil_variable *s = flow_state(n);
  if (s && n->nout) n->out[0] = s->now;
}

/* A branch or a loop would have to give the state to what comes after it. */
void wick_mil_import_write_state(wick_import_node *n) /* data */
{
  wick_mil_variable *s = flow_state(n);
  if (!s) return;
  const wick_type_info *t = wick_mil_info(n, s->first);
  if (n->c->depth) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a state that is written in a branch or a loop");
    return;
  }
  wick_value v = wick_build_cast(n->b, n->in[0], t->elem);
  if (!n->b->status && !wick_type_eq(wick_mil_type_of(n, v), wick_mil_type_of(n, s->first))) {
    wick_import_fail(n, WICK_ETYPE, "the value has another shape than the state");
    return;
  }
  s->now = v, s->written = true;
}
