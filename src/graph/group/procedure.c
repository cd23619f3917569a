/* Builds a procedure region by region. */
#include "graph/group/procedure.h"

#include "ir/build.h"
#include "ir/element.h"
#include "ops/elementwise/scalar.h"
#include "ops/to_stages.h"

typedef struct procedure {
  const wick_func *f;
  wick_arena *tmp;
  wick_builder b;
  wick_value *to; /* per value of f: its scalar */
} procedure;

static wick_status procedure_fail(const procedure *p, const wick_node *n, const char *what)
{
  return wick_fail(p->tmp, WICK_EUNSUPPORTED, wick_loc_text(p->f->module, n->loc), "%s in @%s %s",
                   wick_op_of(n)->name, p->f->name, what);
}

static wick_type procedure_type(const wick_func *f, wick_value v)
{
  return wick_type_scalar(f->module, wick_info_of(f, v)->elem, 1);
}

/* Returns whether v is a number that a register can hold. */
static bool procedure_holds(const wick_func *f, wick_value v)
{
  const wick_type_info *t = wick_info_of(f, v);
  return wick_type_is_one(f->module, wick_type_of(f, v)) && WICK_PLAIN & WICK_BIT(t->elem);
}

static wick_value *procedure_values(const procedure *p, uint32_t n, const wick_value *v)
{
  wick_value *to = wick_new(p->tmp, wick_value, n + 1u);
  for (uint32_t i = 0; i < n; i++) to[i] = p->to[v[i].id];
  return to;
}

static void procedure_bind(const procedure *p, wick_value first, uint32_t n, wick_value to)
{
  for (uint32_t i = 0; i < n; i++) p->to[first.id + i] = (wick_value){to.id + i};
}

/* ---- nodes ---- */

static wick_status procedure_const(procedure *p, const wick_node *n)
{
  const wick_imm *imm = wick_const_imm(n);
  wick_elem e = wick_info_of(p->f, n->first)->elem;
  wick_scalar s = {.i = imm->i};
  if (wick_elem_is_float(e)) s.f = imm->f;
  if (imm->constant) {
    const void *data = wick_constant_bytes(p->f->module, imm->constant);
    if (!data) return procedure_fail(p, n, "has no data");
    s = wick_load_elem(e, data, 0);
  }
  bool is_float = wick_elem_is_float(e);
  p->to[n->first.id] = wick_build_const(&p->b, procedure_type(p->f, n->first), is_float ? s.f : 0,
                                        is_float ? 0 : s.i);
  return p->b.status;
}

static wick_status procedure_call(procedure *p, const wick_node *n)
{
  wick_type *type = wick_new(p->tmp, wick_type, n->nout + 1u);
  for (uint32_t k = 0; k < n->nout; k++)
    type[k] = procedure_type(p->f, (wick_value){n->first.id + k});
  procedure_bind(
      p, n->first, n->nout,
      wick_build(&p->b, n->op, n->nin, procedure_values(p, n->nin, n->in), n->attr, n->nout, type));
  return p->b.status;
}

/* Builds the body of a stage without axes. val: the scalars of g's values. */
static wick_status procedure_stage(procedure *p, const wick_node *n, const wick_func *g,
                                   const wick_node *stage, wick_value *val)
{
  wick_builder *b = &p->b;
  if (stage->op != WICK_OP_map || wick_stage_axes(stage)->n)
    return procedure_fail(p, n, "is not element-wise");
  const wick_region *r = &stage->region[0];
  for (uint32_t i = r->begin; i < r->end; i = g->node[i].end) {
    const wick_node *s = &g->node[i];
    wick_value *in = wick_new(p->tmp, wick_value, s->nin + 1u);
    for (uint32_t k = 0; k < s->nin; k++) in[k] = val[s->in[k].id];
    wick_type want = s->nout ? procedure_type(g, s->first) : (wick_type){0};
    bool typed = wick_op_of(s)->typed;
    if (s->op == WICK_OP_read) {
      val[s->first.id] = in[0];
    } else if (s->op == WICK_OP_yield) {
      for (uint32_t k = 0; k < s->nin; k++) val[stage->first.id + k] = in[k];
    } else if (s->op == WICK_OP_index) {
      val[s->first.id] = wick_build_i64(b, 0); /* the only element */
    } else if (s->nregion) {
      return procedure_fail(p, n, "is not element-wise");
    } else {
      val[s->first.id] = wick_build(b, s->op, s->nin, in, s->nattr ? s->attr : NULL,
                                    typed ? s->nout : 0, typed ? &want : NULL);
    }
    if (b->status) return b->status;
  }
  return NULL;
}

/* Builds a node from its stages. */
static wick_status procedure_stages(procedure *p, const wick_node *n)
{
  wick_func *g;
  if (!wick_compute_of(n->op)) return procedure_fail(p, n, "has no form for scalars");
  WICK_TRY(wick_group_of_node(p->f, n, "procedure.stages", p->tmp, &g));
  wick_value *val = wick_new(p->tmp, wick_value, g->nvalue + 1u);
  for (uint32_t k = 0, at = 1; k < n->nin; k++)
    if (n->in[k].id) val[at++] = p->to[n->in[k].id];
  for (uint32_t i = 0; i + 1 < g->nnode; i = g->node[i].end)
    WICK_TRY(procedure_stage(p, n, g, &g->node[i], val));
  for (uint32_t k = 0; k < n->nout; k++) p->to[n->first.id + k] = val[wick_return(g)->in[k].id];
  return NULL;
}

/* ---- control flow ---- */

static wick_status procedure_region(procedure *p, uint32_t begin, uint32_t end);

static wick_status procedure_if(procedure *p, const wick_node *n)
{
  wick_builder *b = &p->b;
  wick_build_open(b, WICK_OP_if, 1, &p->to[n->in[0].id], NULL, 0, NULL);
  for (uint32_t r = 0; r < 2; r++) {
    const wick_region *g = &n->region[r];
    const wick_node *y = &p->f->node[g->end - 1];
    wick_region_begin(b, 0, NULL);
    WICK_TRY(procedure_region(p, g->begin, g->end - 1));
    wick_yield(b, y->nin, procedure_values(p, y->nin, y->in));
  }
  procedure_bind(p, n->first, n->nout, wick_build_close(b));
  return b->status;
}

/* Returns whether the number that a node yields first is always true. */
static bool procedure_goes_on(const procedure *p, const wick_node *yield)
{
  const uint32_t *definer = wick_definers_of(p->f, p->tmp);
  uint32_t d = definer[yield->in[0].id];
  if (d == UINT32_MAX || p->f->node[d].op != WICK_OP_const) return false;
  const wick_imm *imm = wick_const_imm(&p->f->node[d]);
  return !imm->constant && imm->i;
}

/* Builds a loop that its count alone ends. */
static wick_status procedure_for(procedure *p, const wick_node *n)
{
  wick_builder *b = &p->b;
  const wick_region *g = &n->region[0];
  const wick_node *y = &p->f->node[g->end - 1];
  uint32_t ncarried = n->nin - 1u;
  wick_value *in = wick_new(p->tmp, wick_value, n->nin + 1u);
  wick_type *type = wick_new(p->tmp, wick_type, g->nparam);
  in[0] = wick_build_i64(b, 0);
  for (uint32_t k = 0; k < n->nin; k++) in[1 + k] = p->to[n->in[k].id];
  for (uint32_t k = 0; k < g->nparam; k++)
    type[k] = procedure_type(p->f, (wick_value){g->first.id + k});
  wick_build_open(b, WICK_OP_for, n->nin + 1u, in, NULL, 0, NULL);
  procedure_bind(p, g->first, g->nparam, wick_region_begin(b, g->nparam, type));
  WICK_TRY(procedure_region(p, g->begin, g->end - 1));
  wick_yield(b, ncarried, procedure_values(p, ncarried, y->in + 1));
  procedure_bind(p, n->first, ncarried, wick_build_close(b));
  return b->status;
}

/* Builds a loop that may end earlier. The `while` carries the index, whether it goes on, and the
 * values. */
static wick_status procedure_while(procedure *p, const wick_node *n)
{
  wick_builder *b = &p->b;
  wick_module *m = p->f->module;
  const wick_region *g = &n->region[0];
  const wick_node *y = &p->f->node[g->end - 1];
  uint32_t ncarried = n->nin - 1u, all = ncarried + 2;
  wick_value *in = wick_new(p->tmp, wick_value, all), count = p->to[n->in[0].id];
  wick_type *type = wick_new(p->tmp, wick_type, all);
  type[0] = wick_type_scalar(m, WICK_I64, 1), type[1] = wick_type_scalar(m, WICK_BOOL, 1);
  in[0] = wick_build_i64(b, 0), in[1] = wick_build_const(b, type[1], 0, 1);
  for (uint32_t k = 0; k < ncarried; k++) {
    in[2 + k] = p->to[n->in[1 + k].id];
    type[2 + k] = procedure_type(p->f, (wick_value){n->first.id + k});
  }
  wick_build_open(b, WICK_OP_while, all, in, NULL, 0, NULL);
  wick_value v = wick_region_begin(b, all, type);
  wick_value within = wick_build2(b, WICK_OP_lt, v, count);
  within = wick_build2(b, WICK_OP_and, within, (wick_value){v.id + 1});
  wick_yield(b, 1, &within);
  v = wick_region_begin(b, all, type);
  p->to[g->first.id] = v;
  procedure_bind(p, (wick_value){g->first.id + 1}, ncarried, (wick_value){v.id + 2});
  WICK_TRY(procedure_region(p, g->begin, g->end - 1));
  wick_value *next = wick_new(p->tmp, wick_value, all);
  next[0] = wick_build2(b, WICK_OP_add, v, wick_build_i64(b, 1));
  for (uint32_t k = 0; k <= ncarried; k++) next[1 + k] = p->to[y->in[k].id];
  wick_yield(b, all, next);
  v = wick_build_close(b);
  procedure_bind(p, n->first, ncarried, (wick_value){v.id + 2});
  return b->status;
}

static wick_status procedure_node(procedure *p, const wick_node *n)
{
  p->b.loc = n->loc;
  for (uint32_t k = 0; k < n->nout; k++)
    if (!procedure_holds(p->f, (wick_value){n->first.id + k}))
      return procedure_fail(p, n,
                            "has a result that is no number: only functions of numbers are "
                            "called");
  switch (n->op) {
  case WICK_OP_const: return procedure_const(p, n);
  case WICK_OP_call: return procedure_call(p, n);
  case WICK_OP_if: return procedure_if(p, n);
  case WICK_OP_loop:
    return procedure_goes_on(p, &p->f->node[n->region[0].end - 1]) ? procedure_for(p, n)
                                                                   : procedure_while(p, n);
  default: return procedure_stages(p, n);
  }
}

static wick_status procedure_region(procedure *p, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = p->f->node[i].end)
    WICK_TRY(procedure_node(p, &p->f->node[i]));
  return p->b.status;
}

wick_status wick_procedure_of(const wick_func *f, wick_arena *mem, wick_arena *tmp, wick_func **out)
{
  procedure p = {.f = f, .tmp = tmp, .to = wick_new(tmp, wick_value, f->nvalue + 1)};
  const wick_node *r = wick_return(f);
  wick_build_begin(&p.b, f->module, WICK_LOOP, f->name, mem);
  for (uint32_t v = 1; v <= f->nparam; v++) {
    if (!procedure_holds(f, (wick_value){v}))
      return wick_fail(tmp, WICK_EUNSUPPORTED, f->name,
                       "parameter %u is no number: only functions of numbers are called", v - 1);
    p.to[v] = wick_build_param(&p.b, procedure_type(f, (wick_value){v}), WICK_IN, NULL);
    wick_build_name(&p.b, p.to[v], f->value[v].name, f->value[v].relation);
  }
  if (!r->nin) return wick_fail(tmp, WICK_EUNSUPPORTED, f->name, "it returns nothing");
  WICK_TRY(procedure_region(&p, 0, f->nnode - 1));
  wick_build_return(&p.b, r->nin, procedure_values(&p, r->nin, r->in));
  return wick_build_end(&p.b, out);
}
