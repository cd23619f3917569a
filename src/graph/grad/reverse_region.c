/* Branches and loops whose derivative keeps values. Each arm, and the body of a loop, is a function of
 * the values that it captures, in two halves, which are built in place. */
#include "graph/grad/reverse.h"
#include "graph/grad/shadow.h"
#include "ir/call.h"

static bool region_gives_objects(const wick_func *f, const wick_node *n)
{
  bool gives = false;
  for (uint32_t k = 0; k < n->nout && !gives; k++)
    gives = wick_info_of(f, (wick_value){n->first.id + k})->kind != WICK_TENSOR;
  return gives;
}

/* Returns whether only the run knows how many steps the loop has: rows would need chunks, whose
 * steps run again, while a list is as long as needed. */
static bool region_is_open(const wick_func *f, const wick_node *n)
{
  const wick_value_info *count = &f->value[n->in[0].id];
  int64_t lo, hi = INT64_MAX;
  if (count->content && count->ncontent == 1)
    wick_dim_range(f->module->dims, count->content[0], &lo, &hi);
  return hi > INT32_MAX;
}

bool wick_reverse_keeps(const wick_func *f, const wick_node *n)
{
  bool keeps = false;
  for (const wick_node *i = n; i < &f->node[n->end] && !keeps; i++)
    keeps = i->op == WICK_OP_switch || (wick_op_of(i)->objects && !i->nregion) ||
            wick_named_func(i, 0) || wick_op_of(i)->effect == WICK_EFFECT ||
            region_gives_objects(f, i) || (i->op == WICK_OP_loop && region_is_open(f, i));
  return keeps;
}

/* ---- functions of captured values ---- */

typedef struct region_captured {
  uint32_t n;
  wick_value *at; /* values of the function */
} region_captured;

/* Finds the values from outside that the regions of node i use, each once. */
static region_captured region_captures(const wick_reverse_walk *w, uint32_t i)
{
  const wick_func *f = w->f;
  const wick_node *n = &f->node[i];
  uint32_t most = 0;
  bool *seen = wick_new(w->b->mem, bool, f->nvalue + 1);
  for (uint32_t k = i; k < n->end; k++) {
    most += f->node[k].nin;
    for (uint32_t v = 0; v < f->node[k].nout; v++) seen[f->node[k].first.id + v] = true;
    for (uint32_t r = 0; r < f->node[k].nregion; r++)
      for (uint32_t v = 0; v < f->node[k].region[r].nparam; v++)
        seen[f->node[k].region[r].first.id + v] = true;
  }
  region_captured c = {.at = wick_new(w->b->mem, wick_value, most + 1)};
  for (uint32_t k = i + 1; k < n->end; k++)
    for (uint32_t x = 0; x < f->node[k].nin; x++) {
      wick_value v = f->node[k].in[x];
      if (v.id && !seen[v.id]) c.at[c.n++] = v;
      seen[v.id] = true;
    }
  return c;
}

/* Builds the function of captured values and a region's parameters that returns what the region
 * yields. */
static const wick_func *region_function(wick_reverse_walk *w, const wick_region *g,
                                        const region_captured *c)
{
  wick_builder b;
  wick_func *made = NULL;
  const wick_func *f = w->f;
  wick_build_begin(&b, f->module, WICK_GRAPH, f->name, w->r->mem);
  wick_replay to = wick_replay_func(&b, f);
  for (uint32_t k = 0; k < c->n; k++)
    to.to[c->at[k].id] = wick_build_param(&b, wick_type_of(f, c->at[k]), WICK_IN, NULL);
  for (uint32_t k = 0; k < g->nparam; k++) {
    wick_value p = {g->first.id + k};
    to.to[p.id] = wick_build_param(&b, wick_type_of(f, p), WICK_IN, NULL);
  }
  wick_replay_nodes(&to, g->begin, g->end - 1);
  const wick_node *y = &f->node[g->end - 1];
  wick_value *out = wick_new(b.mem, wick_value, y->nin + 1u);
  for (uint32_t k = 0; k < y->nin; k++) out[k] = to.to[y->in[k].id];
  wick_build_return(&b, y->nin, out);
  wick_reverse_failed(w->r, wick_build_end(&b, &made));
  return made;
}

/* Builds the halves of a region. fields: whether the region's parameters are differentiated by. */
static void region_halves(wick_reverse_walk *w, const wick_region *g, const region_captured *c,
                          const bool *fields, bool sums, wick_reverse_unit *u)
{
  wick_arena *mem = w->r->mem;
  uint32_t np = c->n + g->nparam;
  *u = (wick_reverse_unit){.f = region_function(w, g, c),
                           .active = wick_new(mem, bool, np + 1),
                           .sum = wick_new(mem, wick_type, np + 1)};
  for (uint32_t k = 0; k < c->n; k++) {
    u->active[k] = w->active[c->at[k].id];
    if (!u->active[k] || wick_info_of(w->f, c->at[k])->kind != WICK_TENSOR) continue;
    u->sum[k] = w->sum[c->at[k].id];
    if (sums && !u->sum[k].id) u->sum[k] = wick_reverse_sum_type(w->r, u->f, k);
  }
  for (uint32_t k = 0; k < g->nparam; k++) u->active[c->n + k] = fields[k];
  if (!w->r->status) wick_reverse_halves(w->r, u, w->prefix, w->ntype);
}

/* Returns the fields of what is kept of a region: its parameters that are needed, and the rest. */
static uint32_t region_fields(const wick_reverse_unit *u, uint32_t ncaptured, wick_module *m,
                              wick_arena *mem, wick_type **out)
{
  uint32_t n = 0, np = u->f->nparam;
  *out = wick_new(mem, wick_type, np + u->nkept + 3);
  for (uint32_t k = ncaptured; k < np; k++)
    if (u->needs[k]) (*out)[n++] = wick_shadow_type(m, u->f->value[1 + k].type, mem);
  for (uint32_t k = 0; k < u->nkept; k++) (*out)[n++] = u->kept[k];
  return n;
}

static wick_type region_type(wick_reverse_walk *w)
{
  return wick_data_type(w->r->m, wick_str_printf(w->r->mem, "%s.%u", w->prefix, (*w->ntype)++));
}

static void region_define(wick_reverse_walk *w, wick_type type, uint32_t n, const wick_ctor *ctor)
{
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < ctor[k].nfield; i++)
      if (!wick_type_is_held(w->r->m, ctor[k].field[i]))
        wick_build_fail(w->b, WICK_EUNSUPPORTED,
                        "its derivative keeps a value whose size is not a number");
  wick_data_define(w->r->m, type, n, ctor);
}

/* Builds the forward half in an open region whose parameters are at `param`. Sets `out` to what the
 * region yields, and `field` to what is kept. */
static void region_forward(wick_reverse_walk *w, const wick_reverse_unit *u,
                           const region_captured *c, wick_value param, wick_value *out,
                           wick_value *field)
{
  wick_builder *b = w->b;
  uint32_t np = u->f->nparam, nout = wick_return(u->f)->nin, n = 0;
  wick_value *in = wick_new(b->mem, wick_value, np + 1),
             *got = wick_new(b->mem, wick_value, nout + u->nkept + 1);
  for (uint32_t k = 0; k < np; k++)
    in[k] = k < c->n ? wick_replayed(&w->to, c->at[k]) : (wick_value){param.id + k - c->n};
  const wick_node shape = {.nout = (uint16_t)(nout + u->nkept)};
  if (!b->status && !w->r->status) wick_build_body(b, u->fwd, &shape, in, got);
  for (uint32_t k = 0; k < nout; k++) out[k] = got[k];
  for (uint32_t k = c->n; k < np; k++)
    if (u->needs[k]) field[n++] = in[k];
  for (uint32_t k = 0; k < u->nkept; k++) field[n++] = got[nout + k];
}

/* Builds the backward half in an open region whose parameters, at `field`, are what is kept. captured:
 * as they are in the builder; dout: per value that the region yields; sum: per captured value. out:
 * per active parameter, then 0. */
static void region_backward(wick_builder *b, const wick_reverse_unit *u, uint32_t ncaptured,
                            const wick_value *captured, wick_value field, const wick_value *dout,
                            const wick_value *sum, wick_value *out)
{
  uint32_t np = u->f->nparam, n, nout = 0;
  wick_value *param = wick_new(b->mem, wick_value, np + 1),
             *kept = wick_new(b->mem, wick_value, u->nkept + 1),
             *sums = wick_new(b->mem, wick_value, np + 1);
  for (uint32_t k = 0; k < np; k++) {
    if (k < ncaptured)
      param[k] = captured[k], sums[k] = sum[k];
    else if (u->needs[k])
      param[k] = (wick_value){field.id++};
    nout += u->active[k];
  }
  for (uint32_t k = 0; k < u->nkept; k++) kept[k] = (wick_value){field.id++};
  wick_value *in = wick_reverse_operands(b, u, param, kept, dout, sums, &n);
  const wick_node shape = {.nout = (uint16_t)nout};
  if (!b->status) wick_build_body(b, u->bwd, &shape, in, out);
}

/* ---- branches ---- */

typedef struct region_branch {
  const wick_reverse_unit *unit; /* per region */
  uint32_t nregion, nout, ncaptured;
  int64_t only;               /* the region that surely runs; -1: not known */
  const wick_value *captured; /* in the builder */
  wick_type of;               /* the type of the value that is switched on, if it is active; or 0 */
  wick_value kept;            /* of a generated type, with a constructor for each region */
} region_branch;

static void region_branch_arm(wick_adjoint *a, const region_branch *s, uint32_t r,
                              const wick_value *sum)
{
  wick_builder *b = a->b;
  const wick_reverse_unit *u = &s->unit[r];
  const wick_data d = *wick_data_get(b->module, wick_built_type(b, s->kept));
  uint32_t np = u->f->nparam, n = 0, at = 0;
  wick_value *out = wick_new(b->mem, wick_value, np + 2u),
             *field = wick_new(b->mem, wick_value, np + 1);
  wick_value param = wick_region_begin(b, d.ctor[r].nfield, d.ctor[r].field);
  region_backward(b, u, s->ncaptured, s->captured, param, a->dout, sum, out);
  for (uint32_t k = 0; k < s->ncaptured; k++) at += u->active[k];
  n = at;
  for (uint32_t k = s->ncaptured; k < np; k++)
    if (u->active[k]) field[k - s->ncaptured] = out[at++];
  if (s->of.id) out[n++] = wick_cotangent_construct(b, s->of, r, field);
  wick_yield(b, n, out);
}

static void region_branch_grad(wick_adjoint *a, void *arg)
{
  const region_branch *s = arg;
  wick_builder *b = a->b;
  const wick_reverse_unit *u = s->unit;
  wick_value *sum = wick_new(b->mem, wick_value, s->ncaptured + 1u);
  uint32_t at = 0;
  for (uint32_t k = 0; k < s->ncaptured; k++) {
    if (!u->active[k]) continue;
    sum[k] = a->sum[at++];
    if (u->sum[k].id && !wick_reverse_sum_fits(b, sum[k], u->sum[k]))
      sum[k] = wick_reverse_sum_zero(b, u->sum[k]);
  }
  wick_value *dout = wick_new(b->mem, wick_value, s->nout + 1u);
  for (uint32_t k = 0; k < s->nout && !b->status; k++)
    dout[k] = a->dout[k].id || !wick_grad_has(b, a->out[k])
                  ? a->dout[k]
                  : wick_cotangent_zero(b, wick_built_type(b, a->out[k]));
  wick_adjoint own = *a;
  own.dout = dout;
  const wick_attr only[] = {[WICK_ATTR_switch_only] = {.i = s->only}};
  wick_build_open(b, WICK_OP_switch, 1, &s->kept, only, 0, NULL);
  for (uint32_t r = 0; r < s->nregion && !b->status; r++) region_branch_arm(&own, s, r, sum);
  wick_value v = wick_build_close(b);
  at = 0;
  for (uint32_t k = 0; k < s->ncaptured && !b->status; k++) {
    if (!u->active[k]) continue;
    wick_reverse_sum_give(a, at, (wick_value){v.id + at}, u->sum[k]);
    at++;
  }
  if (s->of.id && !b->status) a->din[at] = (wick_value){v.id + at};
}

void wick_reverse_branch(wick_reverse_walk *w, uint32_t node)
{
  wick_builder *b = w->b;
  wick_arena *mem = b->mem;
  const wick_func *f = w->f;
  const wick_node *n = &f->node[node];
  const region_captured c = region_captures(w, node);
  bool data = n->op == WICK_OP_switch && w->active[n->in[0].id];
  wick_reverse_unit *unit = wick_new(mem, wick_reverse_unit, n->nregion);
  wick_ctor *ctor = wick_new(mem, wick_ctor, n->nregion);
  wick_type type = region_type(w);
  for (uint32_t r = 0; r < n->nregion && !w->r->status && !b->status; r++) {
    const wick_region *g = &n->region[r];
    bool *fields = wick_new(mem, bool, g->nparam + 1u);
    for (uint32_t k = 0; k < g->nparam; k++)
      fields[k] = data && wick_has_cotangent(b->module, f->value[g->first.id + k].type);
    region_halves(w, g, &c, fields, false, &unit[r]);
    if (w->r->status) return;
    wick_type *field;
    uint32_t nfield = region_fields(&unit[r], c.n, b->module, mem, &field);
    ctor[r] =
        (wick_ctor){.name = wick_str_printf(mem, "Arm%u", r), .nfield = nfield, .field = field};
  }
  if (b->status || w->r->status) return;
  region_define(w, type, n->nregion, ctor);
  wick_value in = wick_replayed(&w->to, n->in[0]);
  uint32_t at = b->nodes.n;
  wick_build_open(b, n->op, 1, &in, n->nattr ? n->attr : NULL, 0, NULL);
  for (uint32_t r = 0; r < n->nregion && !b->status; r++) {
    const wick_region *g = &n->region[r];
    wick_type *param = wick_new(mem, wick_type, g->nparam + 1u);
    for (uint32_t k = 0; k < g->nparam; k++)
      param[k] = wick_reverse_type(w->r, f->value[g->first.id + k].type);
    wick_value first = wick_region_begin(b, g->nparam, param),
               *out = wick_new(mem, wick_value, n->nout + 1u),
               *field = wick_new(mem, wick_value, ctor[r].nfield + 1u);
    region_forward(w, &unit[r], &c, first, out, field);
    out[n->nout] = wick_build_construct(b, type, r, ctor[r].nfield, field);
    wick_yield(b, n->nout + 1u, out);
  }
  wick_value v = wick_build_close(b), *captured = wick_new(mem, wick_value, c.n + 1),
             *by = wick_new(mem, wick_value, c.n + 1);
  uint32_t nby = 0;
  bool *follows = wick_new(mem, bool, n->nout + 1u); /* what is kept does not */
  for (uint32_t k = 0; k < n->nout; k++) {
    w->to.to[n->first.id + k] = (wick_value){v.id + k};
    follows[k] = w->active[n->first.id + k];
  }
  for (uint32_t k = 0; k < c.n; k++) {
    captured[k] = wick_replayed(&w->to, c.at[k]);
    if (w->active[c.at[k].id]) by[nby++] = captured[k];
  }
  if (data) by[nby++] = in;
  region_branch *s = wick_new(mem, region_branch, 1);
  *s = (region_branch){.unit = unit,
                       .nregion = n->nregion,
                       .nout = n->nout,
                       .ncaptured = c.n,
                       .only = n->op == WICK_OP_switch ? n->attr[WICK_ATTR_switch_only].i : -1,
                       .captured = captured,
                       .kept = {v.id + n->nout}};
  if (data) s->of = wick_reverse_type(w->r, wick_type_of(f, n->in[0]));
  wick_push(mem, &w->own,
            (wick_grad_own){.node = at,
                            .nin = nby,
                            .in = by,
                            .grad = region_branch_grad,
                            .arg = s,
                            .follows = follows,
                            .always = wick_shadow_moves(f, n)});
}

/* ---- loops ---- */

typedef struct region_loop {
  const wick_reverse_unit *unit; /* of the body: captured values, the index, carried values */
  uint32_t ncaptured, ncarried, nstacked;
  const wick_value *captured; /* in the builder */
  wick_value count, steps;    /* a list, from the last step to the first */
} region_loop;

static wick_value region_bool(wick_builder *b, bool v)
{
  return wick_build_const(b, wick_type_tensor(b->module, WICK_BOOL, 0, NULL), 0, v);
}

/* Returns whether a list has steps left. */
static wick_value region_left(wick_builder *b, wick_value list)
{
  const wick_data d = *wick_data_get(b->module, wick_built_type(b, list));
  wick_build_open(b, WICK_OP_switch, 1, &list, NULL, 0, NULL);
  for (uint32_t k = 0; k < 2; k++) {
    wick_region_begin(b, d.ctor[k].nfield, d.ctor[k].field);
    wick_value v = region_bool(b, k);
    wick_yield(b, 1, &v);
  }
  return wick_build_close(b);
}

/* Returns the row of a stacked result's cotangent. */
static wick_value region_row(wick_builder *b, wick_value rows, wick_value index)
{
  const wick_attr attr[] = {
      [WICK_ATTR_dynamic_index_axis] = {.i = 0}, [WICK_ATTR_dynamic_index_reverse] = {.i = 0}};
  wick_value in[2] = {rows, index};
  return wick_build(b, WICK_OP_dynamic_index, 2, in, attr, 0, NULL);
}

/* Builds one step backwards: `p` has the list, cotangents of active carried values, and sums. The list
 * has a step: the loop went forward at least once if its count is not 0, and goes on backwards only
 * while steps are left. */
static void region_loop_step(wick_adjoint *a, const region_loop *s, wick_value p, uint32_t n)
{
  wick_builder *b = a->b;
  const wick_reverse_unit *u = s->unit;
  const wick_data d = *wick_data_get(b->module, wick_built_type(b, s->steps));
  wick_value *y = wick_new(b->mem, wick_value, n + 2), *out = wick_new(b->mem, wick_value, n + 2),
             *dout = wick_new(b->mem, wick_value, s->ncarried + s->nstacked + 2u),
             *sum = wick_new(b->mem, wick_value, s->ncaptured + 1u);
  const wick_attr only[] = {[WICK_ATTR_switch_only] = {.i = 1}};
  wick_build_open(b, WICK_OP_switch, 1, &p, only, 0, NULL);
  wick_region_begin(b, 0, NULL);
  y[0] = region_bool(b, false);
  for (uint32_t k = 0; k < n; k++) y[1 + k] = (wick_value){p.id + k};
  wick_yield(b, n + 1, y);
  wick_value field = wick_region_begin(b, d.ctor[1].nfield, d.ctor[1].field), at = {p.id + 1},
             rest = {field.id + d.ctor[1].nfield - 1 - (s->nstacked != 0)}, index = {rest.id + 1};
  for (uint32_t k = 0; k < s->ncarried; k++)
    if (u->active[s->ncaptured + 1 + k]) dout[1 + k] = (wick_value){at.id++};
  for (uint32_t k = 0; k < s->ncaptured; k++)
    if (u->active[k]) sum[k] = (wick_value){at.id++};
  for (uint32_t k = 0; k < s->nstacked; k++) {
    wick_value rows = a->dout[s->ncarried + 1 + k];
    if (rows.id) dout[1 + s->ncarried + k] = region_row(b, rows, index);
  }
  region_backward(b, u, s->ncaptured, s->captured, field, dout, sum, out);
  uint32_t ncap = 0, nc = 0;
  for (uint32_t k = 0; k < s->ncaptured; k++) ncap += u->active[k];
  y[0] = region_left(b, rest);
  y[1] = rest;
  for (uint32_t k = 0; k < s->ncarried; k++)
    if (u->active[s->ncaptured + 1 + k]) y[2 + nc] = out[ncap + nc], nc++;
  for (uint32_t k = 0, i = 0; k < s->ncaptured; k++) {
    if (!u->active[k]) continue;
    y[2 + nc + i] = u->sum[k].id || b->status ? out[i] : wick_cotangent_add(b, sum[k], out[i]);
    i++;
  }
  wick_yield(b, n + 1, y);
}

static void region_loop_grad(wick_adjoint *a, void *arg)
{
  const region_loop *s = arg;
  wick_builder *b = a->b;
  const wick_reverse_unit *u = s->unit;
  uint32_t n = 1, nc = 0, ncap = 0;
  wick_value *in = wick_new(b->mem, wick_value, s->ncaptured + s->ncarried + 4u);
  wick_type *type = wick_new(b->mem, wick_type, s->ncaptured + s->ncarried + 4u);
  in[0] = s->count;
  in[n++] = s->steps;
  for (uint32_t k = 0; k < s->ncarried; k++) {
    if (!u->active[s->ncaptured + 1 + k]) continue;
    in[n++] = a->dout[k].id ? a->dout[k] : wick_cotangent_zero(b, wick_built_type(b, a->out[k]));
    nc++;
  }
  for (uint32_t k = 0; k < s->ncaptured; k++) {
    if (!u->active[k]) continue;
    wick_value sum = a->sum[nc + ncap++];
    if (u->sum[k].id)
      in[n++] =
          wick_reverse_sum_fits(b, sum, u->sum[k]) ? sum : wick_reverse_sum_zero(b, u->sum[k]);
    else
      in[n++] = sum.id ? sum : wick_cotangent_zero(b, wick_built_type(b, s->captured[k]));
  }
  if (b->status) return;
  for (uint32_t k = 0; k < n; k++) type[k] = wick_built_type(b, in[k]);
  wick_build_open(b, WICK_OP_loop, n, in, NULL, 0, NULL);
  wick_value p = wick_region_begin(b, n, type);
  region_loop_step(a, s, (wick_value){p.id + 1}, n - 1);
  /* The switch yields whether the loop goes on, then what it carries. */
  wick_value v = wick_build_close(b), *y = wick_new(b->mem, wick_value, n);
  for (uint32_t k = 0; k < n; k++) y[k] = (wick_value){v.id + k};
  wick_yield(b, n, y);
  v = wick_build_close(b);
  for (uint32_t k = 0; k < nc; k++) a->din[k] = (wick_value){v.id + 1 + k};
  for (uint32_t k = 0, i = nc; k < s->ncaptured && !b->status; k++) {
    if (!u->active[k]) continue;
    wick_reverse_sum_give(a, i, (wick_value){v.id + 1 + i}, u->sum[k]);
    if (!u->sum[k].id) a->summed[i] = true;
    i++;
  }
}

void wick_reverse_loop(wick_reverse_walk *w, uint32_t node)
{
  wick_builder *b = w->b;
  wick_arena *mem = b->mem;
  const wick_func *f = w->f;
  const wick_node *n = &f->node[node];
  const wick_region *g = &n->region[0];
  const region_captured c = region_captures(w, node);
  uint32_t nc = n->nin - 1u, ns = n->nout - nc;
  wick_reverse_unit *u = wick_new(mem, wick_reverse_unit, 1);
  wick_type list = region_type(w), *field, *type = wick_new(mem, wick_type, n->nin + 2u);
  bool *fields = wick_new(mem, bool, g->nparam + 1u);
  for (uint32_t k = 0; k < nc; k++) fields[1 + k] = w->active[g->first.id + 1 + k];
  region_halves(w, g, &c, fields, true, u);
  if (w->r->status || b->status) return;
  wick_value *in = wick_new(mem, wick_value, n->nin + 2u);
  uint32_t nfield = region_fields(u, c.n, b->module, mem, &field);
  field[nfield++] = list;
  if (ns) field[nfield++] = f->value[g->first.id].type; /* the index, for rows of cotangents */
  const wick_ctor ctor[2] = {{.name = "End"}, {.name = "Step", .nfield = nfield, .field = field}};
  region_define(w, list, 2, ctor);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = wick_replayed(&w->to, n->in[k]);
  in[n->nin] = wick_build_construct(b, list, 0, 0, NULL);
  if (b->status) return;
  for (uint32_t k = 0; k <= n->nin; k++) type[k] = wick_built_type(b, in[k]);
  uint32_t at = b->nodes.n;
  wick_build_open(b, n->op, n->nin + 1u, in, n->attr, 0, NULL);
  wick_value p = wick_region_begin(b, n->nin + 1u, type),
             *out = wick_new(mem, wick_value, n->nout + 2u),
             *y = wick_new(mem, wick_value, n->nout + 3u),
             *kept = wick_new(mem, wick_value, nfield + 1u);
  region_forward(w, u, &c, p, out, kept);
  kept[nfield - 1 - (ns != 0)] = (wick_value){p.id + n->nin};
  if (ns) kept[nfield - 1] = p;
  for (uint32_t k = 0; k < 1 + nc; k++) y[k] = out[k];
  y[1 + nc] = wick_build_construct(b, list, 1, nfield, kept);
  for (uint32_t k = 0; k < ns; k++) y[2 + nc + k] = out[1 + nc + k];
  wick_yield(b, n->nout + 2u, y);
  wick_value v = wick_build_close(b), *captured = wick_new(mem, wick_value, c.n + 1),
             *by = wick_new(mem, wick_value, c.n + n->nin + 1u);
  uint32_t nby = 0;
  bool *follows = wick_new(mem, bool, n->nout + 1u); /* the list of steps does not */
  for (uint32_t k = 0; k < n->nout; k++) {
    w->to.to[n->first.id + k] = (wick_value){v.id + k + (k >= nc)};
    follows[k + (k >= nc)] = w->active[n->first.id + k];
  }
  for (uint32_t k = 0; k < nc; k++)
    if (fields[1 + k]) by[nby++] = in[1 + k];
  for (uint32_t k = 0; k < c.n; k++) {
    captured[k] = wick_replayed(&w->to, c.at[k]);
    if (w->active[c.at[k].id]) by[nby++] = captured[k];
  }
  region_loop *s = wick_new(mem, region_loop, 1);
  *s = (region_loop){u, c.n, nc, ns, captured, in[0], {v.id + nc}};
  wick_push(mem, &w->own,
            (wick_grad_own){.node = at,
                            .nin = nby,
                            .in = by,
                            .grad = region_loop_grad,
                            .arg = s,
                            .follows = follows,
                            .always = wick_shadow_moves(f, n)});
}
