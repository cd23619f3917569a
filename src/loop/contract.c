/* Prints a contract clause by clause, and computes the error bound that follows from it. */
#include "loop/contract.h"

#include <math.h>
#include <string.h>

#include "ir/op.h"

typedef struct contract_loop { /* consecutive serial loops along one reduced axis count as one */
  uint32_t axis;
  wick_dim n;          /* iterations */
  wick_loop_kind kind; /* serial, parts (also vectors), spans or a dot product */
} contract_loop;

typedef wick_list(contract_loop) contract_loops;

typedef struct contract_state {
  const wick_schedule *s;
  const wick_target *t;
  wick_text out;
  bool reordered; /* an accumulation that rounds has another order than the text's */
} contract_state;

static const wick_node *contract_node(const wick_schedule *s, const wick_stage *st)
{
  return &s->group->node[st->node];
}

/* ---- the order ---- */

/* Returns the loops of the reduced axes. Consecutive serial loops of one axis are merged. */
static contract_loops contract_order(const wick_schedule *s, const wick_stage *st)
{
  wick_dims *dims = s->group->module->dims;
  contract_loops out = {0};
  for (uint32_t i = 0; i < st->loops.n; i++) {
    const wick_sloop *l = &st->loops.at[i];
    if (!st->axis[l->axis].reduce) continue;
    wick_dim extent = st->axis[l->axis].extent,
             n = l->size ? wick_dim_const(l->size)
                         : wick_dim_ceildiv(dims, extent, wick_dim_const(l->factor));
    contract_loop loop = {l->axis, n,
                          l->kind == WICK_UNROLL   ? WICK_SERIAL
                          : l->kind == WICK_VECTOR ? WICK_RFACTOR
                                                   : l->kind};
    contract_loop *last = out.n ? &out.at[out.n - 1] : NULL;
    if (last && last->axis == loop.axis && last->kind == WICK_SERIAL && loop.kind == WICK_SERIAL) {
      bool whole = l->factor == 1 && wick_dim_is_const(extent);
      for (uint32_t k = 0; whole && k + 1 < out.n; k++) whole = out.at[k].axis != loop.axis;
      last->n = whole ? extent : wick_dim_mul(dims, last->n, n);
    } else {
      wick_push(s->mem, &out, loop);
    }
  }
  return out;
}

/* Returns true if the elements are accumulated one by one, in the text's order. */
static bool contract_in_order(const contract_loops *loops)
{
  for (uint32_t i = 0; i < loops->n; i++)
    if (loops->at[i].kind != WICK_SERIAL || (i && loops->at[i].axis <= loops->at[i - 1].axis))
      return false;
  return true;
}

/* ---- what is computed ---- */

/* Returns true if n rounds. Selections, comparisons, maxima and minima return one of their
 * operands, so that their order does not matter. */
static bool contract_rounds(const wick_func *g, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  if (n->nout != 1 || op->scalar == WICK_NOT_SCALAR || op->scalar == WICK_RULE_COMPARE ||
      op->scalar == WICK_RULE_SELECT || op->typed)
    return false;
  return wick_elem_is_float(wick_info_of(g, n->first)->elem) && n->op != WICK_OP_max &&
         n->op != WICK_OP_min;
}

static bool contract_has_fma(const contract_state *c, const wick_node *n)
{
  wick_elem e = wick_elem_storage[wick_info_of(c->s->group, n->first)->elem].arith;
  return c->t->fma & WICK_BIT(e);
}

static bool contract_is_combining(const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  return n->nout == 1 && op->scalar != WICK_NOT_SCALAR && !op->typed && n->op != WICK_OP_read;
}

/* Prints the operators of a step, each once, in order. */
static void contract_step(contract_state *c, const wick_node *fold)
{
  const wick_func *g = c->s->group;
  const wick_region *step = &fold->region[1];
  for (uint32_t i = step->begin; i < step->end; i++) {
    const wick_node *n = &g->node[i];
    bool seen = !contract_is_combining(n);
    for (uint32_t k = step->begin; k < i && !seen; k++) seen = g->node[k].op == n->op;
    if (seen) continue;
    wick_text_printf(&c->out, " %s",
                     n->op != WICK_OP_muladd  ? wick_op_of(n)->name
                     : contract_has_fma(c, n) ? "fma"
                                              : "mul add");
  }
}

static void contract_fold(contract_state *c, const wick_stage *st)
{
  const wick_func *g = c->s->group;
  const wick_node *fold = contract_node(c->s, st);
  const wick_region *step = &fold->region[1], *merge = &fold->region[2];
  wick_text_printf(&c->out, "%s:", st->name);
  for (uint32_t k = 0; k < step->nparam; k++)
    wick_text_printf(&c->out, " %s",
                     wick_elem_name(wick_info_of(g, (wick_value){step->first.id + k})->elem));
  contract_step(c, fold);
  wick_text_add(&c->out, " over");
  contract_loops loops = contract_order(c->s, st);
  for (uint32_t i = 0; i < loops.n; i++) {
    const contract_loop *l = &loops.at[i];
    const wick_term *axis = wick_dim_get(g->module->dims, st->axis[l->axis].sym).term;
    wick_text_printf(&c->out,
                     l->kind == WICK_RFACTOR ? " [%s:"
                     : l->kind == WICK_SPANS ? " (%s:"
                     : l->kind == WICK_DOT   ? " dot %s:"
                                             : " %s:",
                     wick_dim_atom(g->module->dims, axis->atom[0])->name);
    wick_dim_print(g->module->dims, l->n, &c->out);
    if (l->kind == WICK_RFACTOR) wick_text_char(&c->out, ']');
    if (l->kind == WICK_SPANS) wick_text_char(&c->out, ')');
  }
  wick_text_add(&c->out, "; ");
  bool rounds = false;
  for (uint32_t i = merge->begin; i < merge->end; i++)
    rounds = rounds || contract_rounds(g, &g->node[i]);
  c->reordered = c->reordered || (rounds && !contract_in_order(&loops));
}

/* Prints the stages that only approximate, and the functions that are polynomials, each once. */
static void contract_class(contract_state *c)
{
  const wick_func *g = c->s->group;
  bool seen[WICK_NOP] = {false}, any = false;
  if (c->reordered) wick_text_add(&c->out, "rounding");
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    const wick_op *op = wick_op_of(n);
    const char *bound = n->op == WICK_OP_map ? n->attr[WICK_ATTR_map_bound].s : NULL;
    bool function = op->ulp > 0 && !seen[n->op] && n->nout == 1 &&
                    wick_elem_is_float(wick_info_of(g, n->first)->elem);
    if (!function && !(bound && *bound)) continue;
    if (function) bound = wick_str_printf(c->s->mem, "%s %g ulp", op->name, op->ulp);
    wick_text_printf(&c->out, "%s%s",
                     any            ? ", "
                     : c->reordered ? ", approximate("
                                    : "approximate(",
                     bound);
    seen[n->op] = any = true;
  }
  wick_text_add(&c->out, any ? ")" : c->reordered ? "" : "exact");
}

const char *wick_contract_of(const wick_schedule *s, const wick_target *t)
{
  contract_state c = {.s = s, .t = t, .out = wick_text_begin(s->mem)};
  for (uint32_t i = 0; i < s->nstage; i++)
    if (s->stage[i].fold) contract_fold(&c, &s->stage[i]);
  contract_class(&c);
  return wick_intern(s->group->module, c.out.at);
}

const char *wick_contract_approximate(const char *contract, size_t *n)
{
  static const char word[] = "approximate(";
  const char *at = strstr(contract, word);
  if (!at || at > contract + strcspn(contract, "\n")) return NULL;
  at += sizeof word - 1;
  *n = strcspn(at, ")\n");
  return at;
}

/* ---- bounds ---- */

static double contract_unit(wick_elem e)
{
  switch (e) {
  case WICK_F64: return 0x1p-53;
  case WICK_F32: return 0x1p-24;
  case WICK_F16: return 0x1p-11;
  case WICK_BF16: return 0x1p-8;
  default: return INFINITY;
  }
}

double wick_contract_bound(const wick_schedule *s, const wick_target *t, uint32_t stage)
{
  const wick_stage *st = &s->stage[stage];
  const wick_node *fold = contract_node(s, st);
  contract_state c = {.s = s, .t = t};
  double steps = 1, levels = 0, extra = 0;
  if (!st->fold || fold->region[1].nparam != 1) return INFINITY;
  for (uint32_t i = fold->region[1].begin; i < fold->region[1].end; i++) {
    const wick_node *n = &s->group->node[i];
    if (!contract_is_combining(n)) continue;
    if (n->op != WICK_OP_add && n->op != WICK_OP_muladd) return INFINITY;
    if (n->op == WICK_OP_muladd && !contract_has_fma(&c, n)) extra = 1;
  }
  contract_loops loops = contract_order(s, st);
  for (uint32_t i = 0; i < loops.n; i++) {
    if (!wick_dim_is_const(loops.at[i].n)) return INFINITY;
    double n = (double)loops.at[i].n.v;
    if (loops.at[i].kind == WICK_RFACTOR)
      levels += ceil(log2(n));
    else
      steps *= n;
    if (loops.at[i].kind == WICK_SPANS) levels += steps, steps = 1; /* each span adds one merge */
  }
  double u = contract_unit(wick_info_of(s->group, fold->region[1].first)->elem),
         nu = (steps + levels + extra) * u;
  return nu < 1 ? nu / (1 - nu) : INFINITY;
}
