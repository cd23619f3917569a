/* Forms groups: collects the stages of each group, and builds the low function that runs the
 * kernels. Begin with wick_pass_form_kernels. */
#include "graph/group/form_kernels.h"

#include <string.h>

#include "graph/group/collapse.h"
#include "graph/group/fold_bias.h"
#include "graph/group/form_state.h"
#include "graph/group/panel.h"
#include "graph/group/procedure.h"
#include "graph/group/registers.h"
#include "graph/group/template.h"
#include "graph/group/unit_fold.h"
#include "ir/call.h"
#include "ir/copy.h"
#include "ir/element.h"
#include "loop/contract.h"
#include "ops/elementwise/scalar.h"
#include "ops/host.h"

/* ---- one group ---- */

/* Builds a stage for a number that every element has. It is read in line. */
static wick_value form_kernels_imm(wick_builder *b, const wick_func *f, const wick_node *n)
{
  wick_axis axis[WICK_MAX_RANK];
  wick_type type = wick_type_of(f, n->first),
            one = wick_type_scalar(b->module, wick_type_get(b->module, type)->elem, 1);
  uint32_t naxis = wick_axes_of(b, type, axis);
  wick_map_begin(b, "const", naxis, axis, 1, &type);
  wick_value v = wick_build(b, WICK_OP_const, 0, NULL, n->attr, 1, &one);
  return wick_map_end(b, 1, &v);
}

/* Returns whether the kernel of n updates a copy of its first operand, which no other operand is. */
static bool form_kernels_is_update(const form_state *s, const wick_node *n)
{
  uint32_t d = n->nin ? s->g.definer[n->in[0].id] : UINT32_MAX;
  if (!wick_op_of(n)->updates || (d != UINT32_MAX && s->f->node[d].op == WICK_OP_const))
    return false;
  for (uint32_t k = 1; k < n->nin; k++)
    if (n->in[k].id == n->in[0].id) return false;
  return true;
}

static wick_status form_kernels_stages(form_state *s, wick_builder *b, uint32_t i, wick_value *to)
{
  const wick_node *n = &s->f->node[i];
  void (*compute)(const wick_compute *) = wick_compute_of(n->op);
  if (!compute)
    return wick_fail(s->tmp, WICK_EUNSUPPORTED, wick_loc_text(s->f->module, n->loc),
                     "%s has no definition in stages", wick_op_of(n)->name);
  wick_value *in = wick_new(s->tmp, wick_value, n->nin),
             *out = wick_new(s->tmp, wick_value, n->nout);
  wick_type *type = wick_new(s->tmp, wick_type, n->nout);
  for (uint32_t k = 0; k < n->nin; k++) {
    uint32_t d = n->in[k].id ? s->g.definer[n->in[k].id] : UINT32_MAX;
    if (d != UINT32_MAX && wick_group_is_imm(&s->f->node[d]) && !to[n->in[k].id].id)
      to[n->in[k].id] = form_kernels_imm(b, s->f, &s->f->node[d]);
    in[k] = to[n->in[k].id];
  }
  for (uint32_t k = 0; k < n->nout; k++)
    type[k] = wick_type_of(s->f, (wick_value){n->first.id + k});
  b->loc = n->loc;
  compute(&(wick_compute){.op = n->op,
                          .b = b,
                          .attr = n->attr,
                          .nin = n->nin,
                          .nout = n->nout,
                          .in = in,
                          .out = out,
                          .out_type = type,
                          .begun = form_kernels_is_update(s, n)});
  for (uint32_t k = 0; k < n->nout; k++) to[n->first.id + k] = out[k];
  return b->status;
}

void wick_form_output(wick_builder *b, uint32_t nout, wick_value *v)
{
  if (b->status || b->nodes.at[b->nodes.n - 1].op != WICK_OP_yield) return;
  for (uint32_t i = b->nodes.n; i-- > 0;) {
    const wick_node *n = &b->nodes.at[i];
    if (n->op != WICK_OP_fold || n->first.id != v[0].id) continue;
    wick_axis axis[WICK_MAX_RANK];
    wick_dim index[WICK_MAX_RANK];
    wick_type *type = wick_new(b->mem, wick_type, nout);
    wick_value *x = wick_new(b->mem, wick_value, nout);
    uint32_t naxis = wick_axes_of(b, wick_built_type(b, v[0]), axis);
    for (uint32_t k = 0; k < naxis; k++) index[k] = axis[k].sym;
    for (uint32_t k = 0; k < nout; k++) {
      if (v[k].id != v[0].id + k || k >= n->nout) return; /* another stage computes it */
      type[k] = wick_built_type(b, v[k]);
    }
    wick_map_begin(b, "out", naxis, axis, nout, type);
    for (uint32_t k = 0; k < nout; k++) x[k] = wick_read(b, v[k], index, 0, NULL, (wick_value){0});
    v[0] = wick_map_end(b, nout, x);
    for (uint32_t k = 1; k < nout; k++) v[k] = (wick_value){v[0].id + k};
    return;
  }
}

/* Clears the values that other groups have assigned to the values of this group. */
static void form_kernels_forget(form_state *s, uint32_t root)
{
  for (uint32_t i = s->g.first[root]; i != UINT32_MAX; i = s->g.next[i]) {
    const wick_node *n = &s->f->node[i];
    for (uint32_t k = 0; k < n->nin; k++) s->to[n->in[k].id] = (wick_value){0};
    for (uint32_t k = 0; k < n->nout; k++) s->to[n->first.id + k] = (wick_value){0};
  }
}

/* Builds a group with a single node, which calls the runtime. */
static wick_status form_kernels_host(form_state *s, wick_builder *b, const wick_node *n,
                                     wick_func **out)
{
  wick_copier c = {.f = s->f, .b = *b, .to = s->to};
  wick_copy_node(&c, n);
  wick_value *result = wick_new(s->tmp, wick_value, n->nout);
  for (uint32_t k = 0; k < n->nout; k++) result[k] = s->to[n->first.id + k];
  wick_build_return(&c.b, n->nout, result);
  WICK_TRY(wick_build_end(&c.b, out));
  wick_module_set(s->f->module, *out);
  return NULL;
}

/* Returns the operator after which a group is named: the first one that computes and is not
 * element-wise, or else that moves, or else the last one. */
static const wick_op *form_kernels_kind(const form_state *s, uint32_t root)
{
  const wick_op *moves = NULL;
  for (uint32_t i = s->g.first[root]; i != UINT32_MAX; i = s->g.next[i]) {
    const wick_op *op = wick_op_of(&s->f->node[i]);
    if (wick_group_is_scalar(s->f, &s->f->node[i])) continue;
    if (!op->view_of.kind) return op;
    if (!moves) moves = op;
  }
  return moves ? moves : wick_op_of(&s->f->node[root]);
}

static wick_status form_kernels_group(form_state *s, uint32_t root, wick_func **out)
{
  const wick_func *f = s->f;
  const wick_node *last = &f->node[root];
  wick_value *operand = s->operand, *to = s->to;
  uint32_t n = wick_group_operands(&s->g, root, operand);
  form_kernels_forget(s, root);
  wick_builder b;
  const char *name =
      wick_str_printf(s->tmp, "%s.%s.%u", f->name, form_kernels_kind(s, root)->name, s->ngroup++);
  wick_build_begin(&b, f->module, WICK_GROUP, name, &f->module->mem);
  for (uint32_t k = 0; k < n; k++)
    to[operand[k].id] = wick_build_param(&b, wick_type_of(f, operand[k]), WICK_IN, NULL);
  if (wick_op_of(last)->host) return form_kernels_host(s, &b, last, out);
  for (uint32_t i = s->g.first[root]; i != UINT32_MAX; i = s->g.next[i])
    WICK_TRY(form_kernels_stages(s, &b, i, to));
  wick_value *result = wick_new(s->tmp, wick_value, last->nout);
  for (uint32_t k = 0; k < last->nout; k++) result[k] = to[last->first.id + k];
  wick_form_output(&b, last->nout, result);
  wick_build_return(&b, last->nout, result);
  wick_func *g;
  WICK_TRY(wick_build_end(&b, &g));
  *out = g;
  return NULL;
}

/* ---- the low function ---- */

wick_type wick_form_buffer(const form_state *s, wick_type tensor, wick_space space)
{
  const wick_type_info *t = wick_type_get(s->f->module, tensor);
  if (wick_kind_is_object(t->kind)) return wick_type_buffer(s->f->module, WICK_I64, 0, NULL, space);
  return wick_type_buffer(s->f->module, t->elem, t->rank, t->dim, space);
}

wick_status wick_form_fill(form_state *s, wick_value buffer, wick_type tensor, const wick_imm *by)
{
  wick_module *m = s->f->module;
  wick_axis axis[WICK_MAX_RANK];
  wick_builder b;
  wick_build_begin(&b, m, WICK_GROUP, wick_str_printf(s->tmp, "clear.%u", m->funcs.n), &m->mem);
  wick_type one = wick_type_scalar(m, wick_type_get(m, tensor)->elem, 1);
  uint32_t naxis = wick_axes_of(&b, tensor, axis);
  wick_map_begin(&b, "clear", naxis, axis, 1, &tensor);
  wick_value x = wick_build_const(&b, one, by->f, by->i), y = wick_map_end(&b, 1, &x);
  wick_build_return(&b, 1, &y);
  wick_func *g;
  WICK_TRY(wick_build_end(&b, &g));
  WICK_TRY(wick_template_schedule(g, s->target, NULL, s->tmp));
  wick_module_set(m, g);
  wick_attr a = {.s = g->name};
  wick_build(&s->b, WICK_OP_kernel, 1, &buffer, &a, 0, NULL);
  return s->b.status;
}

/* Fills a buffer of dynamic size with a number, by a kernel. */
static wick_value form_kernels_filled(form_state *s, wick_value v, const wick_imm *by)
{
  wick_type tensor = wick_type_of(s->f, v), type = wick_form_buffer(s, tensor, WICK_ARENA);
  s->low[v.id] = wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
  wick_push(s->tmp, &s->inner, v.id);
  wick_status bad = wick_form_fill(s, s->low[v.id], tensor, by);
  if (bad) wick_build_fail(&s->b, bad->code, "%s", bad->message);
  return s->low[v.id];
}

wick_value wick_form_low(form_state *s, wick_value v)
{
  if (s->low[v.id].id) return s->low[v.id];
  wick_value stored = wick_form_stored(s, v);
  if (stored.id) return stored;
  uint32_t d = s->g.definer[v.id];
  if (d == UINT32_MAX || s->f->node[d].op != WICK_OP_const) return (wick_value){0};
  wick_module *m = s->f->module;
  wick_type tensor = wick_type_of(s->f, v), type = wick_form_buffer(s, tensor, WICK_CONSTANT);
  wick_imm imm = *wick_const_imm(&s->f->node[d]);
  if (!imm.constant) {
    uint64_t nbytes = 0;
    wick_elem e = wick_type_get(m, tensor)->elem;
    wick_dim numel = wick_type_numel(m, tensor);
    if (!wick_type_nbytes(m, tensor, &nbytes)) return form_kernels_filled(s, v, &imm);
    char *data = wick_arena_alloc(&m->mem, nbytes, 64);
    for (int64_t k = 0; k < numel.v; k++)
      wick_store_elem(e, data, (uint64_t)k,
                      wick_elem_is_float(e) ? (wick_scalar){.f = imm.f}
                                            : (wick_scalar){.i = imm.i});
    imm.constant = wick_constant_add(m, "number", tensor, data, nbytes);
  }
  wick_attr a = {.imm = {.constant = imm.constant}};
  wick_push(s->tmp, &s->inner, v.id);
  return s->low[v.id] = wick_build(&s->b, WICK_OP_const, 0, NULL, &a, 1, &type);
}

/* Returns true if the buffer of a value may have a halo: a kernel writes it, and only kernels use
 * it. */
static bool form_kernels_owns_buffer(const form_state *s, wick_value v)
{
  uint32_t d = s->g.definer[v.id];
  if (d == UINT32_MAX || (s->g.of[d] != d && !wick_group_is_filled(s->f, &s->f->node[d])))
    return false;
  for (uint32_t u = s->g.uses.first[v.id]; u < s->g.uses.first[v.id + 1]; u++)
    if (s->g.of[s->g.uses.use[u]] == UINT32_MAX) return false;
  return true;
}

static bool form_kernels_has_halo(const wick_halo *h, uint32_t rank)
{
  for (uint32_t k = 0; k < rank; k++)
    if (h->lo[k] || h->hi[k]) return true;
  return false;
}

/* Returns true if the halo fits the one that the buffer has. A buffer has one halo; a group that
 * requires another number around it reads a copy. */
static bool form_kernels_may_join(const form_state *s, wick_value v, const wick_halo *h)
{
  const wick_halo *own = &s->halo[v.id];
  return !form_kernels_has_halo(own, wick_info_of(s->f, v)->rank) || own->fill == h->fill;
}

/* Notes that group i requires a halo of an operand whose buffer cannot have it. Groups of other regions
 * than the first one make copies of their own. */
static void form_kernels_share(form_state *s, uint32_t i, wick_value v, const wick_halo *h)
{
  wick_form_copy *c = &s->copy[v.id];
  if (!c->n) *c = (wick_form_copy){.region = s->g.region[i], .halo = {.fill = h->fill}};
  if (c->region != s->g.region[i] || c->halo.fill != h->fill) return;
  wick_halo_join(&c->halo, h, wick_info_of(s->f, v)->rank);
  c->n++;
}

/* Forms the stages of all groups, and joins the halos that they require of their operands. */
static void form_kernels_groups(form_state *s, wick_errors *all)
{
  const wick_func *f = s->f;
  s->func = wick_new(s->tmp, wick_func *, f->nnode);
  s->halo = wick_new(s->tmp, wick_halo, f->nvalue + 1);
  s->copy = wick_new(s->tmp, wick_form_copy, f->nvalue + 1);
  s->operand = wick_new(s->tmp, wick_value, f->nvalue + 1);
  s->to = wick_new(s->tmp, wick_value, f->nvalue + 1);
  wick_value *operand = s->operand;
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (s->g.of[i] != i) continue;
    wick_errors_add(all, form_kernels_group(s, i, &s->func[i]));
    if (!s->func[i]) continue;
    uint32_t n = wick_group_operands(&s->g, i, operand);
    wick_halo h;
    for (uint32_t k = 0; k < n; k++) {
      if (!wick_halo_wanted(s->func[i], k, &h)) continue;
      if (form_kernels_owns_buffer(s, operand[k]) && form_kernels_may_join(s, operand[k], &h))
        wick_halo_join(&s->halo[operand[k].id], &h, wick_info_of(f, operand[k])->rank);
      else
        form_kernels_share(s, i, operand[k], &h);
    }
  }
}

/* Clears the bits of dimensions k for which dimensions k and k + 1 are not contiguous in a buffer
 * with that halo. */
static uint32_t form_kernels_halo_joins(uint32_t joins, const wick_halo *h, uint32_t rank)
{
  for (uint32_t k = 1; k < rank; k++)
    if (h->lo[k] || h->hi[k]) joins &= ~(1u << (k - 1));
  return joins;
}

/* Returns the bits of dimensions k for which dimensions k and k + 1 of the value's buffer are
 * contiguous, also if the buffer becomes a part of a larger one. */
static uint32_t form_kernels_joins(const form_state *s, wick_value v)
{
  const wick_func *f = s->f;
  const wick_type_info *x = wick_info_of(f, v);
  uint32_t joins = form_kernels_halo_joins(UINT32_MAX, &s->halo[v.id], x->rank);
  for (uint32_t u = s->g.uses.first[v.id]; u < s->g.uses.first[v.id + 1]; u++) {
    const wick_node *n = &f->node[s->g.uses.use[u]];
    if (!wick_group_is_filled(f, n)) continue;
    const wick_type_info *y = wick_info_of(f, n->first);
    for (uint32_t i = 0; i < n->nin; i++) {
      if (n->in[i].id != v.id) continue;
      wick_view_map map = wick_view_map_of(f, n, i);
      for (uint32_t d = 0; d < y->rank; d++)
        if (map.step[d] != 1 || map.axis[d] != d)
          joins = 0;
        else if (d && !wick_dim_eq(x->dim[d], y->dim[d]))
          joins &= ~(1u << (d - 1));
    }
  }
  return joins;
}

/* Joins dimensions of group i and schedules it. */
static wick_status form_kernels_schedule(form_state *s, uint32_t i)
{
  const wick_func *f = s->f;
  wick_arena *mem = &f->module->mem;
  const wick_node *n = &f->node[i];
  wick_func *g = s->func[i];
  if (wick_op_of(n)->host) return NULL;
  uint32_t *joins = wick_new(s->tmp, uint32_t, g->nparam + n->nout),
           nin = wick_group_operands(&s->g, i, s->operand);
  wick_halo h;
  for (uint32_t k = 0; k < nin; k++) {
    joins[k] = form_kernels_joins(s, s->operand[k]);
    if (wick_halo_wanted(g, k, &h))
      joins[k] = form_kernels_halo_joins(joins[k], &h, wick_info_of(f, s->operand[k])->rank);
  }
  for (uint32_t k = 0; k < n->nout; k++)
    joins[nin + k] = form_kernels_joins(s, (wick_value){n->first.id + k});
  WICK_TRY(wick_form_slices(s, i, joins, &g));
  g = wick_group_collapse(wick_group_unit_fold(g, mem), joins, mem);
  g = wick_group_panel(wick_group_fold_bias(g, mem), s->target, mem, s->tmp);
  WICK_TRY(wick_template_schedule(g, s->target, s->records, s->tmp));
  wick_schedule *schedule = wick_schedule_begin(g, s->tmp);
  WICK_TRY(wick_schedule_apply(schedule, g->schedule));
  g->contract = wick_contract_of(schedule, s->target);
  wick_module_set(f->module, g);
  s->func[i] = g;
  return NULL;
}

/* Schedules all groups. One that cannot be scheduled is reported and has no kernel. */
static void form_kernels_schedules(form_state *s, wick_errors *all)
{
  for (uint32_t i = 0; i < s->f->nnode; i++) {
    if (s->g.of[i] != i || !s->func[i]) continue;
    wick_status wrong = form_kernels_schedule(s, i);
    if (wrong) s->func[i] = NULL;
    wick_errors_add(all, wrong);
  }
}

/* Changes the halo of a group's parameter to that of its value's dimensions, runs of which the group
 * has joined: the first of a run has the halo. Returns false for a dimension of size 1, which may
 * have gone. */
static bool form_kernels_spread_halo(const wick_type_info *param, const wick_type_info *value,
                                     wick_halo *h)
{
  wick_halo out = {.fill = h->fill};
  uint32_t from = value->rank;
  if (param->rank == value->rank) return true;
  for (uint32_t k = param->rank; k-- > 0;) {
    int64_t n = 1, inner = 1;
    uint32_t first = 0;
    while (from > 0 && n < param->dim[k].v)
      if (value->dim[--from].v != 1) first = from, inner = n, n *= value->dim[from].v;
    if (!h->lo[k] && !h->hi[k]) continue;
    if (n == 1) return false;
    out.lo[first] = wick_ceildiv_i64(h->lo[k], inner);
    out.hi[first] = wick_ceildiv_i64(h->hi[k], inner);
  }
  *h = out;
  return true;
}

/* Returns operand k of the kernel of group i. If the group requires a halo that the value's buffer does
 * not have, the operand is a copy that has it, unless conditions cost less. */
static wick_value form_kernels_operand(form_state *s, uint32_t i, uint32_t k, wick_value v)
{
  wick_halo h;
  wick_func *g = s->func[i];
  wick_value low = wick_form_low(s, v);
  if (!low.id || !wick_halo_wanted(g, k, &h)) return low;
  if (!form_kernels_owns_buffer(s, v) || !form_kernels_may_join(s, v, &h)) {
    const wick_type_info *param = wick_info_of(g, (wick_value){k + 1});
    wick_form_copy own = {.n = 1, .halo = h}, *c = &s->copy[v.id];
    bool shared = c->n && c->region == s->g.region[i] && c->halo.fill == h.fill &&
                  param->rank == wick_info_of(s->f, v)->rank;
    if (!shared && !form_kernels_spread_halo(param, wick_info_of(s->f, v), &own.halo)) return low;
    if (!shared) c = &own;
    if (!c->made.id && !wick_halo_is_worth_copy(g, s->target, k, &h, c->n, s->tmp)) return low;
    if (!c->made.id) {
      wick_value copy[2] = {
          wick_halo_alloc(&s->b, s->target, wick_type_of(s->f, v), &c->halo, s->tmp), low};
      wick_build(&s->b, WICK_OP_copy, 2, copy, NULL, 0, NULL);
      c->made = copy[0];
    }
    low = c->made;
  }
  wick_halo_declare(g, k, &h, s->tmp);
  return low;
}

/* Finds the strides of a group's value in a buffer. Each of the value's dimensions is a run of the
 * buffer's that are contiguous, besides those of size 1. All sizes are constants. */
static void form_kernels_strides(const wick_type_info *value, const wick_type_info *buffer,
                                 wick_dim *out)
{
  uint32_t from = buffer->rank;
  for (uint32_t k = value->rank; k-- > 0;) {
    int64_t n = 1;
    out[k] = wick_dim_const(1);
    while (from > 0 && n < value->dim[k].v) {
      from--;
      if (n == 1 && buffer->dim[from].v != 1) out[k] = buffer->stride[from];
      n *= buffer->dim[from].v;
    }
  }
}

/* Returns a view of the buffer with the dimensions of the group's value. */
static wick_value form_kernels_as(form_state *s, const wick_func *g, wick_value of,
                                  wick_value buffer)
{
  if (s->b.status || !buffer.id) return buffer;
  wick_module *m = s->f->module;
  wick_type tensor = wick_type_of(g, of);
  const wick_type_info *t = wick_built_info(&s->b, buffer), *value = wick_type_get(m, tensor);
  if (t->rank == value->rank) return buffer;
  wick_type type = wick_form_buffer(s, tensor, t->space);
  if (t->stride) {
    wick_dim stride[WICK_MAX_RANK];
    wick_type_info strided = *wick_type_get(m, type);
    form_kernels_strides(value, t, stride);
    strided.stride = stride;
    type = wick_type_intern(m, &strided);
  }
  return wick_build_view(&s->b, buffer, type, 0, NULL);
}

static wick_status form_kernels_kernel(form_state *s, uint32_t i)
{
  const wick_func *f = s->f;
  const wick_node *n = &f->node[i];
  wick_func *g = s->func[i];
  if (!g) return NULL; /* the error was reported when the group could not be formed */
  wick_value *operand = s->operand, *in = wick_new(s->tmp, wick_value, n->nout + g->nparam);
  uint32_t nin = wick_group_operands(&s->g, i, operand);
  for (uint32_t k = 0; k < nin; k++) in[n->nout + k] = form_kernels_operand(s, i, k, operand[k]);
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    wick_type type = wick_form_buffer(s, wick_type_of(f, v), WICK_ARENA);
    bool halo = form_kernels_has_halo(&s->halo[v.id], wick_info_of(f, v)->rank);
    in[k] = s->low[v.id] =
        halo ? wick_halo_alloc(&s->b, s->target, wick_type_of(f, v), &s->halo[v.id], s->tmp)
             : wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
  }
  for (uint32_t k = 0; k < nin; k++)
    if (!in[n->nout + k].id) return s->b.status; /* the error of its node was reported */
  for (uint32_t k = 0; k < nin && form_kernels_is_update(s, n); k++) {
    if (operand[k].id != n->in[0].id) continue;
    wick_value copy[2] = {in[0], in[n->nout + k]}; /* later passes remove it where x dies */
    wick_build(&s->b, WICK_OP_copy, 2, copy, NULL, 0, NULL);
    in[n->nout + k] = in[0];
  }
  for (uint32_t k = 0; k < n->nout; k++)
    in[k] = form_kernels_as(s, g, wick_return(g)->in[k], in[k]);
  for (uint32_t k = 0; k < nin; k++)
    in[n->nout + k] = form_kernels_as(s, g, (wick_value){k + 1}, in[n->nout + k]);
  wick_attr a = {.s = g->name};
  wick_build(&s->b, WICK_OP_kernel, n->nout + nin, in, &a, 0, NULL);
  return s->b.status;
}

/* Returns the result's buffer, and the strides of its dimensions in elements. */
static wick_value form_kernels_whole(form_state *s, wick_value v, wick_dim *stride)
{
  const wick_func *f = s->f;
  wick_type type = wick_form_buffer(s, wick_type_of(f, v), WICK_ARENA);
  wick_value whole =
      form_kernels_has_halo(&s->halo[v.id], wick_info_of(f, v)->rank)
          ? wick_halo_alloc(&s->b, s->target, wick_type_of(f, v), &s->halo[v.id], s->tmp)
          : wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
  if (s->b.status) return whole;
  const wick_type_info *info = wick_built_info(&s->b, whole);
  wick_dim step = wick_dim_const(1);
  for (uint32_t k = info->rank; k-- > 0; step = wick_dim_mul(f->module->dims, step, info->dim[k]))
    stride[k] = info->stride ? info->stride[k] : step;
  return whole;
}

/* Copies x into a view of `whole`, which has the dimensions of x and the given strides. The pass
 * over copies later lets the kernel of x write there directly, or lets readers of the whole read x.
 */
static void form_kernels_copy(form_state *s, wick_value whole, wick_value x, const wick_dim *stride,
                              int64_t offset)
{
  const wick_type_info *t = wick_info_of(s->f, x);
  wick_type_info view = {.kind = WICK_BUFFER,
                         .elem = t->elem,
                         .space = WICK_ARENA,
                         .rank = t->rank,
                         .dim = t->dim,
                         .stride = stride};
  wick_type type = wick_type_intern(s->f->module, &view);
  wick_value part = wick_build_view(&s->b, whole, type, offset, NULL);
  wick_value copy[2] = {part, wick_form_low(s, x)};
  if (copy[1].id) wick_build(&s->b, WICK_OP_copy, 2, copy, NULL, 0, NULL);
}

/* Copies the operands of n to their parts of the result. */
static wick_status form_kernels_fill(form_state *s, const wick_node *n)
{
  wick_dim stride[WICK_MAX_RANK], part[WICK_MAX_RANK];
  wick_value whole = form_kernels_whole(s, n->first, stride);
  uint32_t rank = wick_info_of(s->f, n->first)->rank;
  for (uint32_t k = 0; k < n->nin && !s->b.status; k++) {
    wick_view_map map = wick_view_map_of(s->f, n, k);
    int64_t offset = 0;
    for (uint32_t d = 0; d < rank; d++) { /* all sizes are constants */
      part[map.axis[d]] = wick_dim_const(stride[d].v * map.step[d]);
      offset += stride[d].v * map.begin[d].v;
    }
    form_kernels_copy(s, whole, n->in[k], part, offset);
  }
  s->low[n->first.id] = whole;
  return s->b.status;
}

/* Makes n's result a row of its operand, which the index of a loop selects. */
static wick_status form_kernels_row(form_state *s, const wick_node *n, const wick_picked *choice)
{
  wick_builder *b = &s->b;
  wick_value i = wick_form_register(s, choice->index);
  if (choice->reverse) i = wick_build2(b, WICK_OP_sub, wick_build_i64(b, choice->count - 1), i);
  i = wick_build2(b, WICK_OP_mul, i, wick_build_i64(b, choice->step));
  wick_form_select(s, n->first, n->in[0], i);
  return b->status;
}

static wick_status form_kernels_node(form_state *s, uint32_t i)
{
  const wick_node *n = &s->f->node[i];
  s->b.loc = n->loc;
  if (n->op == WICK_OP_const || n->op == WICK_OP_return) return NULL;
  if (n->op == WICK_OP_call) return wick_form_call(s, n);
  if (s->registers && s->apart[i]) return wick_form_scalar(s, n);
  if (wick_group_is_later(n))
    return wick_fail(s->tmp, WICK_EUNSUPPORTED, wick_loc_text(s->f->module, n->loc),
                     "%s cannot be compiled yet", wick_op_of(n)->name);
  int64_t at;
  wick_picked choice;
  if (wick_group_is_view(s->f, n, &at, &choice)) {
    if (s->registers && choice.index.id) return form_kernels_row(s, n, &choice);
    if (s->registers && wick_op_of(n)->view_of.kind == WICK_VIEW_SAME) return NULL; /* when used */
    if (s->registers && wick_form_number(s->f, n->first).id) return wick_form_part(s, n, at);
    if (choice.index.id) choice.index = s->low[choice.index.id];
    wick_value x = wick_form_low(s, n->in[0]);
    if (s->b.status || !x.id) return s->b.status;
    wick_type type =
        wick_form_buffer(s, wick_type_of(s->f, n->first), wick_built_info(&s->b, x)->space);
    s->low[n->first.id] = wick_build_view(&s->b, x, type, at, &choice);
    return s->b.status;
  }
  if (wick_group_is_filled(s->f, n)) return form_kernels_fill(s, n);
  return s->g.of[i] == i ? form_kernels_kernel(s, i) : NULL;
}

void wick_form_nodes(form_state *s, uint32_t begin, uint32_t end, wick_errors *all)
{
  for (uint32_t i = begin; i < end; i = s->f->node[i].end) {
    wick_form_stores(s, i);
    if (s->f->node[i].nregion)
      wick_form_flow(s, i, all);
    else
      wick_errors_add(all, form_kernels_node(s, i));
  }
  wick_form_stores(s, end);
}

/* Builds the parameters of the low function: those of f, then its results. In a procedure results
 * come first, and numbers are registers. */
static wick_status form_kernels_params(form_state *s, wick_value *result)
{
  const wick_func *f = s->f;
  const wick_node *ret = wick_return(f);
  if (s->registers) return wick_form_procedure_params(s, result);
  for (uint32_t v = 1; v <= f->nparam; v++) {
    s->low[v] = wick_build_param(&s->b, wick_form_buffer(s, f->value[v].type, WICK_IO),
                                 wick_is_given(f->qual[v - 1]) ? WICK_INOUT : WICK_IN, NULL);
    s->b.values.at[s->low[v].id].name = f->value[v].name;
  }
  for (uint32_t k = 0; k < ret->nin; k++) {
    result[k] = wick_build_param(&s->b, wick_form_buffer(s, wick_type_of(f, ret->in[k]), WICK_IO),
                                 WICK_OUT, NULL);
    s->b.values.at[result[k].id].name = f->value[ret->in[k].id].name;
  }
  for (uint32_t v = 1; v <= f->nparam; v++) /* the result's own buffer is then without use */
    if (wick_is_given(f->qual[v - 1])) result[wick_given_result(f->qual[v - 1])] = s->low[v];
  return NULL;
}

/* Copies results to their buffers, and returns those that are numbers. */
static void form_kernels_return(form_state *s, const wick_value *result)
{
  const wick_node *ret = wick_return(s->f);
  wick_value *number = wick_new(s->tmp, wick_value, ret->nin + 1u),
             *from = wick_new(s->tmp, wick_value, ret->nin + 1u);
  uint32_t n = 0;
  for (uint32_t k = 0; k < ret->nin; k++)
    if (result[k].id)
      from[k] = wick_form_low(s, ret->in[k]);
    else
      number[n++] = wick_form_register(s, ret->in[k]);
  wick_form_assign(s, ret->nin, result, from);
  wick_build_return(&s->b, n, number);
}

/* Returns what is known of the functions that are called, as graphs: each is replaced once it is
 * formed. */
static const wick_updates *form_kernels_updates(const wick_pass_context *pass, const wick_func *f)
{
  if (pass->memo && *pass->memo) return *pass->memo;
  wick_updates *u = wick_new(pass->mem, wick_updates, 1);
  *u = wick_updates_of(f->module, pass->mem);
  if (pass->memo) *pass->memo = u;
  return u;
}

wick_status wick_pass_form_kernels(const wick_pass_context *pass, const wick_func *f,
                                   wick_func **out)
{
  const wick_target *target = pass->target;
  wick_arena *mem = pass->mem, *tmp = pass->tmp;
  WICK_TRY(wick_form_refuses_objects(f, tmp));
  form_state s = {.f = f, .target = target, .records = pass->records, .mem = mem, .tmp = tmp};
  s.registers = wick_func_is_called(f);
  s.low = wick_new(tmp, wick_value, f->nvalue + 1);
  s.reg = wick_new(tmp, wick_value, f->nvalue + 1);
  s.row = wick_new(tmp, wick_form_row, f->nvalue + 1);
  s.apart = s.registers ? wick_form_apart(f, tmp) : NULL;
  s.uses = wick_uses_of(f, tmp);
  s.updates = form_kernels_updates(pass, f);
  s.g = wick_groups_of(f, target, s.apart, tmp);
  wick_build_begin(&s.b, f->module, WICK_LOW, f->name, mem);
  s.b.procedure = s.registers;
  wick_build_keep_constraints(&s.b, f);
  wick_value *result = wick_new(tmp, wick_value, wick_return(f)->nin);
  WICK_TRY(form_kernels_params(&s, result));
  s.result = result;
  wick_errors all = wick_errors_begin(tmp, 20);
  form_kernels_groups(&s, &all);
  form_kernels_schedules(&s, &all);
  wick_form_nodes(&s, 0, f->nnode, &all);
  WICK_TRY(wick_errors_end(&all));
  form_kernels_return(&s, result);
  return wick_build_end(&s.b, out);
}
