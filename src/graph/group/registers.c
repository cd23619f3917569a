/* Builds scalar code into the low function of a procedure. Begin with wick_form_scalar. */
#include "graph/group/registers.h"

#include "graph/group/form_objects.h"
#include "ir/element.h"
#include "ops/elementwise/scalar.h"
#include "ops/to_stages.h"

wick_type wick_form_number(const wick_func *f, wick_value v)
{
  const wick_type_info *t = wick_info_of(f, v);
  if (wick_kind_is_object(t->kind)) return wick_type_scalar(f->module, WICK_I64, 1);
  bool number = wick_type_is_one(f->module, wick_type_of(f, v)) && WICK_PLAIN & WICK_BIT(t->elem);
  return number ? wick_type_scalar(f->module, t->elem, 1) : (wick_type){0};
}

/* ---- which nodes ---- */

/* Returns whether the stages of n give one element each, without loops, and read elements without
 * guards. */
static bool registers_is_scalar(const wick_func *f, const wick_node *n, wick_arena *tmp)
{
  wick_func *g;
  bool numbers = n->nout > 0;
  for (uint32_t k = 0; k < n->nout; k++)
    numbers = numbers && wick_form_number(f, (wick_value){n->first.id + k}).id;
  if (!numbers || wick_op_of(n)->host || !wick_compute_of(n->op)) return false;
  if (wick_group_of_node(f, n, "scalar.stages", tmp, &g)) return false;
  for (uint32_t i = 0; i + 1 < g->nnode; i = g->node[i].end) {
    const wick_node *stage = &g->node[i];
    if (stage->op != WICK_OP_map || wick_stage_axes(stage)->n) return false;
    for (uint32_t k = i + 1; k < stage->end; k++) {
      const wick_node *s = &g->node[k];
      if (s->nregion || (s->op == WICK_OP_read && s->attr[WICK_ATTR_read_guard].i)) return false;
    }
  }
  return true;
}

/* Returns whether n selects one row of its first operand by numbers: its indices are one number
 * (gather along the first dimension with elements), or one tuple (gather_nd, scatter_nd). */
static bool registers_is_row(const wick_func *f, const wick_node *n)
{
  int64_t dim[WICK_MAX_RANK];
  bool gather = n->op == WICK_OP_gather,
       tuple = n->op == WICK_OP_gather_nd || n->op == WICK_OP_scatter_nd;
  if (!gather && !tuple) return false;
  const wick_type_info *x = wick_info_of(f, n->in[0]);
  if (!wick_type_const_dims(x, dim) || wick_elem_storage[x->elem].bits % 8) return false;
  if (tuple)
    return wick_info_of(f, n->in[1])->rank == 1 &&
           (n->op == WICK_OP_gather_nd || n->attr[WICK_ATTR_scatter_nd_reduction].i == 0);
  for (uint32_t k = 0; k < (uint32_t)n->attr[WICK_ATTR_gather_axis].i; k++)
    if (dim[k] != 1) return false;
  return wick_info_of(f, n->in[1])->rank == 0;
}

/* Returns whether all users of n's result take its elements as registers. */
static bool registers_is_tuple(const wick_func *f, const wick_node *n, const wick_uses *uses,
                               const bool *apart)
{
  if (n->op != WICK_OP_concat || wick_info_of(f, n->first)->rank != 1) return false;
  uint32_t from = uses->first[n->first.id], to = uses->first[n->first.id + 1];
  for (uint32_t u = from; u < to; u++) {
    const wick_node *user = &f->node[uses->use[u]];
    bool index = user->nin > 1 && user->in[1].id == n->first.id && user->in[0].id != n->first.id &&
                 (user->nin < 3 || user->in[2].id != n->first.id);
    if (!apart[uses->use[u]] || !registers_is_row(f, user) || !index) return false;
  }
  return to > from;
}

const bool *wick_form_apart(const wick_func *f, wick_arena *tmp)
{
  bool *apart = wick_new(tmp, bool, f->nnode);
  wick_uses uses = wick_uses_of(f, tmp);
  for (uint32_t i = f->nnode; i-- > 0;) {
    const wick_node *n = &f->node[i];
    if (n->nregion || wick_op_of(n)->terminator || n->op == WICK_OP_const || n->op == WICK_OP_call)
      continue;
    apart[i] = wick_form_is_object(n) || registers_is_row(f, n) || registers_is_scalar(f, n, tmp) ||
               registers_is_tuple(f, n, &uses, apart);
  }
  return apart;
}

/* ---- registers ---- */

static void registers_found(form_state *s, wick_value v, wick_value now)
{
  s->reg[v.id] = now;
  wick_push(s->tmp, &s->found, v.id);
}

void wick_form_forget(form_state *s, uint32_t nfound)
{
  while (s->found.n > nfound) {
    uint32_t v = s->found.at[--s->found.n];
    s->reg[v] = (wick_value){0}, s->row[v] = (wick_form_row){0};
  }
}

static wick_value registers_load(form_state *s, wick_value buffer, wick_value at, wick_elem e)
{
  wick_value in[2] = {buffer, at};
  wick_type type = wick_type_scalar(s->f->module, e, 1);
  return wick_build(&s->b, WICK_OP_load, 2, in, NULL, 1, &type);
}

/* Returns an element of a value in memory, at a linear index. */
static wick_value registers_element(form_state *s, wick_value v, wick_value at)
{
  wick_elem e = wick_info_of(s->f, v)->elem;
  const wick_form_row *row = &s->row[v.id];
  if (!row->buffer.id) return registers_load(s, wick_form_low(s, v), at, e);
  return registers_load(s, row->buffer, wick_build2(&s->b, WICK_OP_add, row->offset, at), e);
}

static const wick_node *registers_definer(const form_state *s, wick_value v)
{
  uint32_t d = s->g.definer[v.id];
  return d == UINT32_MAX ? NULL : &s->f->node[d];
}

static wick_value registers_const(form_state *s, const wick_node *n, int64_t k)
{
  wick_elem e = wick_info_of(s->f, n->first)->elem;
  const wick_imm *imm = wick_const_imm(n);
  wick_scalar x = {.i = imm->i};
  if (wick_elem_is_float(e)) x.f = imm->f;
  if (imm->constant) {
    const void *data = wick_constant_bytes(s->f->module, imm->constant);
    if (!data) return registers_element(s, n->first, wick_build_i64(&s->b, k));
    x = wick_load_elem(e, data, (uint64_t)k);
  }
  bool is_float = wick_elem_is_float(e);
  return wick_build_const(&s->b, wick_type_scalar(s->f->module, e, 1), is_float ? x.f : 0,
                          is_float ? 0 : x.i);
}

/* Returns element k of a short vector. Its parts may be numbers that were never in memory. */
static wick_value registers_part(form_state *s, wick_value v, int64_t k)
{
  const wick_node *d = registers_definer(s, v);
  if (wick_form_number(s->f, v).id && !(d && d->op == WICK_OP_const))
    return wick_form_register(s, v);
  if (d && d->op == WICK_OP_const) return registers_const(s, d, k);
  if (d && wick_op_of(d)->view_of.kind == WICK_VIEW_SAME) return registers_part(s, d->in[0], k);
  if (d && d->op == WICK_OP_concat && wick_info_of(s->f, v)->rank == 1)
    for (uint32_t i = 0; i < d->nin; i++) {
      int64_t n = wick_info_of(s->f, d->in[i])->dim[0].v;
      if (k < n) return registers_part(s, d->in[i], k);
      k -= n;
    }
  return registers_element(s, v, wick_build_i64(&s->b, k));
}

wick_value wick_form_register(form_state *s, wick_value v)
{
  if (s->reg[v.id].id || s->b.status) return s->reg[v.id];
  const wick_node *d = registers_definer(s, v);
  bool again = d && wick_op_of(d)->view_of.kind == WICK_VIEW_SAME && !s->low[v.id].id;
  wick_value now = d && d->op == WICK_OP_const ? registers_const(s, d, 0)
                   : again                     ? registers_part(s, d->in[0], 0)
                                               : registers_element(s, v, wick_build_i64(&s->b, 0));
  registers_found(s, v, now);
  return now;
}

wick_status wick_form_part(form_state *s, const wick_node *n, int64_t at)
{
  bool number = wick_form_number(s->f, n->in[0]).id;
  registers_found(s, n->first,
                  number ? wick_form_register(s, n->in[0])
                         : registers_element(s, n->in[0], wick_build_i64(&s->b, at)));
  return s->b.status;
}

wick_value wick_form_stored(form_state *s, wick_value v)
{
  wick_builder *b = &s->b;
  const wick_func *f = s->f;
  wick_value buffer = {0};
  const wick_node *d = registers_definer(s, v);
  if (!s->registers) return buffer;
  wick_type type = wick_form_buffer(s, wick_type_of(f, v), WICK_ARENA);
  if (s->row[v.id].buffer.id) {
    const wick_form_row *row = &s->row[v.id];
    const wick_type_info *whole = wick_built_info(b, row->buffer);
    type = wick_form_buffer(s, wick_type_of(f, v), whole->space);
    wick_picked choice = {.index = row->offset, .step = 1};
    choice.count = wick_type_numel(f->module, wick_built_type(b, row->buffer)).v + 1 -
                   wick_type_numel(f->module, wick_type_of(f, v)).v;
    buffer = wick_build_view(b, row->buffer, type, 0, &choice);
  } else if (s->reg[v.id].id) {
    buffer = wick_build(b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
    wick_value in[3] = {buffer, wick_build_i64(b, 0), s->reg[v.id]};
    wick_build(b, WICK_OP_store, 3, in, NULL, 0, NULL);
  } else if (d && wick_op_of(d)->view_of.kind == WICK_VIEW_SAME) {
    wick_value x = wick_form_low(s, d->in[0]);
    if (b->status || !x.id) return buffer;
    type = wick_form_buffer(s, wick_type_of(f, v), wick_built_info(b, x)->space);
    buffer = wick_build_view(b, x, type, 0, NULL);
  }
  if (!buffer.id) return buffer;
  wick_push(s->tmp, &s->inner, v.id);
  return s->low[v.id] = buffer;
}

/* ---- stages ---- */

/* Returns at * size + i, a step towards a linear index; i if `at` is 0. */
static wick_value registers_next(wick_builder *b, wick_value at, int64_t size, wick_value i)
{
  if (!at.id) return i;
  if (size != 1) at = wick_build2(b, WICK_OP_mul, at, wick_build_i64(b, size));
  return wick_build2(b, WICK_OP_add, at, i);
}

/* Returns the linear index of an element that a stage reads. */
static wick_value registers_linear(wick_builder *b, const wick_type_info *x, const wick_node *read,
                                   const wick_value *in)
{
  const wick_attr *index = wick_read_index(read);
  wick_value at = {0};
  for (uint32_t k = 0, any = 1; k < x->rank; k++) {
    bool data = wick_dim_eq(index->dims[k], WICK_DIM_ANY);
    wick_value i = data ? in[any++] : wick_build_i64(b, index->dims[k].v);
    at = registers_next(b, at, x->dim[k].v, i);
  }
  return at.id ? at : wick_build_i64(b, 0);
}

/* The values of a group's stages that are computed in a procedure. */
typedef struct registers_stages {
  form_state *s;
  const wick_node *node; /* of the graph */
  const wick_func *g;
  wick_value *operand; /* per parameter of the group: the value of the graph */
  wick_value *val;     /* per value of the group: its register */
} registers_stages;

static void registers_read(registers_stages *r, const wick_node *n, const wick_value *in)
{
  wick_value v = n->in[0];
  bool param = v.id <= r->g->nparam;
  wick_value *to = &r->val[n->first.id];
  if (!param)
    *to = r->val[v.id];
  else if (wick_form_number(r->s->f, r->operand[v.id]).id)
    *to = wick_form_register(r->s, r->operand[v.id]);
  else
    *to = registers_element(r->s, r->operand[v.id],
                            registers_linear(&r->s->b, wick_info_of(r->g, v), n, in));
}

static wick_status registers_stage(registers_stages *r, const wick_node *stage)
{
  wick_builder *b = &r->s->b;
  const wick_region *body = &stage->region[0];
  for (uint32_t i = body->begin; i < body->end; i++) {
    const wick_node *n = &r->g->node[i];
    wick_value *in = wick_new(r->s->tmp, wick_value, n->nin + 1u);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = r->val[n->in[k].id];
    wick_type want = n->nout ? wick_type_scalar(r->g->module, wick_info_of(r->g, n->first)->elem, 1)
                             : (wick_type){0};
    bool typed = wick_op_of(n)->typed;
    if (n->op == WICK_OP_read)
      registers_read(r, n, in);
    else if (n->op == WICK_OP_yield)
      for (uint32_t k = 0; k < n->nin; k++) r->val[stage->first.id + k] = in[k];
    else if (n->op == WICK_OP_index)
      r->val[n->first.id] = wick_build_i64(b, n->attr[WICK_ATTR_index_expr].dims[0].v);
    else
      r->val[n->first.id] = wick_build(b, n->op, n->nin, in, n->nattr ? n->attr : NULL,
                                       typed ? n->nout : 0, typed ? &want : NULL);
    if (b->status) return b->status;
  }
  return NULL;
}

static wick_status registers_node(form_state *s, const wick_node *n)
{
  wick_func *g;
  WICK_TRY(wick_group_of_node(s->f, n, "scalar.stages", s->tmp, &g));
  registers_stages r = {s, n, g, wick_new(s->tmp, wick_value, n->nin + 1u),
                        wick_new(s->tmp, wick_value, g->nvalue + 1u)};
  for (uint32_t k = 0, at = 1; k < n->nin; k++)
    if (n->in[k].id) r.operand[at++] = n->in[k];
  for (uint32_t i = 0; i + 1 < g->nnode; i = g->node[i].end)
    WICK_TRY(registers_stage(&r, &g->node[i]));
  for (uint32_t k = 0; k < n->nout; k++)
    registers_found(s, (wick_value){n->first.id + k}, r.val[wick_return(g)->in[k].id]);
  return NULL;
}

/* ---- rows ---- */

/* Returns whether i is outside [0, n). */
static wick_value registers_is_outside(wick_builder *b, wick_value i, int64_t n)
{
  wick_type u64 = wick_type_scalar(b->module, WICK_U64, 1);
  wick_value at = wick_build_cast(b, i, WICK_U64);
  return wick_build2(b, WICK_OP_ge, at, wick_build_const(b, u64, 0, n));
}

/* Returns an index that is not negative. Fails the run if it is out of range. One comparison is
 * all that an index takes that is not negative. */
static wick_value registers_index(form_state *s, wick_value raw, int64_t size)
{
  wick_builder *b = &s->b;
  wick_value i = wick_build_cast(b, raw, WICK_I64);
  wick_value outside = registers_is_outside(b, i, size);
  wick_build_open(b, WICK_OP_if, 1, &outside, NULL, 0, NULL);
  wick_region_begin(b, 0, NULL);
  wick_value at = wick_build2(b, WICK_OP_add, i, wick_build_i64(b, size));
  wick_value bad = registers_is_outside(b, at, size);
  wick_build_failure(b, WICK_ERANGE, bad, i, wick_dim_const(size));
  wick_yield(b, 1, &at);
  wick_region_begin(b, 0, NULL);
  wick_yield(b, 1, &i);
  return wick_build_close(b);
}

/* Returns the first element of the row that n selects, as a linear index. */
static wick_value registers_row_offset(form_state *s, const wick_node *n)
{
  wick_builder *b = &s->b;
  const wick_type_info *x = wick_info_of(s->f, n->in[0]), *i = wick_info_of(s->f, n->in[1]);
  uint32_t first = n->op == WICK_OP_gather ? (uint32_t)n->attr[WICK_ATTR_gather_axis].i : 0,
           depth = i->rank ? (uint32_t)i->dim[0].v : 1;
  wick_value at = {0};
  int64_t inner = 1;
  for (uint32_t k = first + depth; k < x->rank; k++) inner *= x->dim[k].v;
  for (uint32_t k = 0; k < depth; k++) {
    wick_value index = registers_index(s, registers_part(s, n->in[1], k), x->dim[first + k].v);
    at = registers_next(b, at, x->dim[first + k].v, index);
  }
  return inner == 1 ? at : wick_build2(b, WICK_OP_mul, at, wick_build_i64(b, inner));
}

/* Returns whether v is a part of a row, and not a row itself. */
static bool registers_is_chosen(const form_state *s, wick_value v)
{
  for (const wick_node *d = registers_definer(s, v); d; d = registers_definer(s, v = d->in[0])) {
    if (s->row[v.id].buffer.id) return true;
    if (!wick_op_of(d)->view_of.kind || wick_op_of(d)->view_of.kind == WICK_VIEW_OF_RESULT) break;
  }
  return false;
}

void wick_form_select(form_state *s, wick_value v, wick_value x, wick_value at)
{
  wick_form_row row = s->row[x.id];
  if (row.buffer.id) {
    row.offset = wick_build2(&s->b, WICK_OP_add, row.offset, at);
  } else {
    row = (wick_form_row){wick_form_low(s, x), at};
    if (registers_is_chosen(s, x)) { /* memory is selected by one index */
      wick_type type = wick_form_buffer(s, wick_type_of(s->f, x), WICK_ARENA);
      wick_value copy[2] = {wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type), row.buffer};
      wick_build(&s->b, WICK_OP_copy, 2, copy, NULL, 0, NULL);
      row.buffer = copy[0];
    }
  }
  s->row[v.id] = row;
  wick_push(s->tmp, &s->found, v.id);
}

static wick_status registers_gather(form_state *s, const wick_node *n)
{
  wick_builder *b = &s->b;
  wick_value at = registers_row_offset(s, n), x = n->in[0];
  if (wick_form_number(s->f, n->first).id) {
    registers_found(s, n->first, registers_element(s, x, at));
    return b->status;
  }
  wick_form_select(s, n->first, x, at);
  return b->status;
}

/* Returns the node after i in its region that uses v first, itself or in its regions; UINT32_MAX if
 * there is none. */
static uint32_t registers_first_use(const form_state *s, uint32_t i, wick_value v)
{
  uint32_t from = s->uses.first[v.id];
  if (from == s->uses.first[v.id + 1]) return UINT32_MAX;
  for (i = s->f->node[i].end; s->f->node[i].end <= s->uses.use[from];) i = s->f->node[i].end;
  return i;
}

/* Builds the copy and the store of one place. */
static void registers_store(form_state *s, const wick_form_store *w)
{
  wick_builder *b = &s->b;
  const wick_func *f = s->f;
  const wick_node *n = w->node;
  wick_type type = wick_form_buffer(s, wick_type_of(f, n->first), WICK_ARENA);
  b->loc = n->loc;
  wick_value to = wick_build(b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
  wick_value copy[2] = {to, w->from.id ? w->from : s->low[n->in[0].id]};
  wick_build(b, WICK_OP_copy, 2, copy, NULL, 0, NULL);
  s->low[n->first.id] = to;
  wick_value in[3] = {to, w->at, w->by}, v = n->in[2];
  if (wick_form_number(f, v).id) {
    wick_build(b, WICK_OP_store, 3, in, NULL, 0, NULL);
    return;
  }
  wick_picked choice = {.index = w->at, .step = 1};
  choice.count = wick_type_numel(f->module, wick_type_of(f, n->first)).v + 1 -
                 wick_type_numel(f->module, wick_type_of(f, v)).v;
  wick_type part = wick_form_buffer(s, wick_type_of(f, v), WICK_ARENA);
  copy[0] = wick_build_view(b, to, part, 0, &choice), copy[1] = w->by;
  wick_build(b, WICK_OP_copy, 2, copy, NULL, 0, NULL);
}

/* Returns whether node i only adds one more store to the chain that ends in v. */
static bool registers_is_chained(const form_state *s, uint32_t i, wick_value v)
{
  const wick_node *n = &s->f->node[i];
  return n->op == WICK_OP_scatter_nd && s->apart[i] && n->in[0].id == v.id &&
         s->uses.first[v.id] + 1 == s->uses.first[v.id + 1];
}

void wick_form_stores(form_state *s, uint32_t use)
{
  const wick_node *n = &s->f->node[use];
  uint32_t left = 0;
  for (uint32_t i = 0; i < s->stores.n; i++) {
    wick_form_store *w = &s->stores.at[i];
    if (w->use == use && registers_is_chained(s, use, w->last)) {
      w->last = n->first;
      w->use = registers_first_use(s, use, n->first);
      if (w->use == UINT32_MAX) continue;
    }
    if (w->use == use)
      registers_store(s, w);
    else
      s->stores.at[left++] = *w;
  }
  s->stores.n = left;
}

/* Returns whether the memory of v is not built yet. */
static bool registers_waits(const form_state *s, wick_value v)
{
  for (uint32_t i = 0; i < s->stores.n; i++)
    if (s->stores.at[i].node->first.id == v.id) return true;
  return false;
}

/* The indices are checked here. The copy and the store come before the first use, so that elements
 * of the old tensor that are read between (`x with [i] = x[j] with [j] = x[i]`) do not keep it. */
static wick_status registers_scatter(form_state *s, const wick_node *n)
{
  wick_value at = registers_row_offset(s, n), from = {0}, v = n->in[2];
  if (!registers_waits(s, n->in[0])) from = wick_form_low(s, n->in[0]);
  wick_value by = wick_form_number(s->f, v).id ? wick_form_register(s, v) : wick_form_low(s, v);
  uint32_t use = registers_first_use(s, (uint32_t)(n - s->f->node), n->first);
  if (use != UINT32_MAX)
    wick_push(s->tmp, &s->stores, ((wick_form_store){n, n->first, use, from, at, by}));
  return s->b.status;
}

wick_status wick_form_scalar(form_state *s, const wick_node *n)
{
  s->b.loc = n->loc;
  if (wick_form_is_object(n)) return wick_form_object(s, n);
  if (n->op == WICK_OP_concat) return NULL; /* its users take the parts */
  if (n->op == WICK_OP_scatter_nd) return registers_scatter(s, n);
  if (registers_is_row(s->f, n)) return registers_gather(s, n);
  return registers_node(s, n);
}
