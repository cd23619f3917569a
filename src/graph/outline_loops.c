/* Finds outermost loops, prints and assertions, and replays each in a function of its own. Values from outside become
 * parameters, besides constants. */
#include "graph/outline_loops.h"

#include "graph/group/assign.h"
#include "graph/group/registers.h"
#include "ir/call.h"
#include "ir/copy.h"
#include "ir/replay.h"
#include "ops/elementwise/scalar.h"

typedef struct outline {
  const wick_func *f;
  wick_arena *mem, *tmp;
  const bool *apart;
  const uint32_t *definer;
  uint32_t nfound;
} outline;

/* Returns whether v has a constant size. */
static bool outline_is_sized(const wick_func *f, wick_value v)
{
  int64_t dim[WICK_MAX_RANK];
  const wick_type_info *t = wick_info_of(f, v);
  return t->kind == WICK_TENSOR && wick_type_const_dims(t, dim);
}

enum {
  OUTLINE_NUMEL = 1024,
  OUTLINE_OPERANDS =
      60, /* and results of a call: a launch beside others has WICK_KERNEL_SLOTS_BESIDE */
};

/* Returns whether v, if there is one, has few elements. */
static bool outline_is_short(const wick_func *f, wick_value v)
{
  int64_t numel = v.id ? wick_type_numel(f->module, wick_type_of(f, v)).v : 1;
  return numel >= 1 && numel <= OUTLINE_NUMEL;
}

/* Returns whether a kernel of n takes less time than its launch, about. What picks elements reads no
 * more of its operand than it gives, and what places elements writes no more than these: the array
 * that it places them in is overwritten, or copied with a launch, too. */
static bool outline_is_small(const wick_func *f, const wick_node *n)
{
  bool picks = n->op == WICK_OP_gather || n->op == WICK_OP_dynamic_index || n->op == WICK_OP_slice;
  bool places = n->op == WICK_OP_scatter_nd || n->op == WICK_OP_scatter_elements;
  if (wick_op_of(n)->host || !wick_compute_of(n->op)) return false;
  for (uint32_t k = 0; k < n->nout && !places; k++)
    if (!outline_is_short(f, (wick_value){n->first.id + k})) return false;
  for (uint32_t k = picks || places ? 1 : 0; k < n->nin; k++)
    if (!outline_is_short(f, n->in[k])) return false;
  return true;
}

static bool outline_says(const wick_node *n)
{
  return n->op == WICK_OP_print || n->op == WICK_OP_assert;
}

/* Returns whether node i, which has no regions, needs no kernel in a procedure. */
static bool outline_is_scalar(const outline *o, uint32_t i)
{
  const wick_node *n = &o->f->node[i];
  int64_t offset;
  wick_picked choice;
  return n->op == WICK_OP_const || wick_op_of(n)->terminator || outline_says(n) || o->apart[i] ||
         wick_callee(o->f->module, n) || wick_group_is_view(o->f, n, &offset, &choice);
}

/* Returns whether node i, which has no regions and constant sizes, needs no launch. */
static bool outline_is_cheap(const outline *o, uint32_t i)
{
  return outline_is_scalar(o, i) || outline_is_small(o->f, &o->f->node[i]);
}

static bool outline_takes(const outline *o, uint32_t loop)
{
  const wick_func *f = o->f;
  const wick_node *n = &f->node[loop];
  if (n->op != WICK_OP_loop && !outline_says(n)) return false;
  bool scalar = true;
  for (uint32_t i = loop; i < f->node[loop].end; i++) {
    n = &f->node[i];
    for (uint32_t k = 0; k < n->nin + n->nout; k++) {
      wick_value v = k < n->nin ? n->in[k] : (wick_value){n->first.id + k - n->nin};
      if (v.id && !outline_is_sized(f, v)) return false;
    }
    if (n->nregion) continue;
    if (!outline_is_cheap(o, i)) return false;
    scalar = scalar && outline_is_scalar(o, i);
  }
  /* A launch says which loop has more steps than its stacked results have rows. */
  n = &f->node[loop];
  return scalar ||
         (n->op == WICK_OP_loop && (!n->attr[WICK_ATTR_loop_stacked].i ||
                                    wick_group_counts_within(f, n, wick_loop_most(n->attr))));
}

/* ---- the function ---- */

/* Returns, per value, whether the nodes from..to-1 define it. */
static bool *outline_inside(const outline *o, uint32_t from, uint32_t to)
{
  const wick_func *f = o->f;
  bool *inside = wick_new(o->tmp, bool, f->nvalue + 1);
  for (uint32_t i = from; i < to; i++) {
    const wick_node *x = &f->node[i];
    for (uint32_t k = 0; k < x->nout; k++) inside[x->first.id + k] = true;
    for (uint32_t g = 0; g < x->nregion; g++)
      for (uint32_t k = 0; k < x->region[g].nparam; k++) inside[x->region[g].first.id + k] = true;
  }
  return inside;
}

static bool outline_is_constant(const outline *o, wick_value v)
{
  uint32_t d = o->definer[v.id];
  return d != UINT32_MAX && o->f->node[d].op == WICK_OP_const;
}

/* Returns whether a call of the loop has few enough operands and results. */
static bool outline_fits(const outline *o, uint32_t loop)
{
  const wick_func *f = o->f;
  uint32_t n = f->node[loop].nout;
  bool *known = outline_inside(o, loop, f->node[loop].end);
  for (uint32_t i = loop; i < f->node[loop].end; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) {
      wick_value v = f->node[i].in[k];
      if (!v.id || known[v.id] || outline_is_constant(o, v)) continue;
      known[v.id] = true, n++;
    }
  return n <= OUTLINE_OPERANDS;
}

/* Makes parameters of the values from outside that the nodes from..to-1 use. Returns how many. */
static uint32_t outline_params(const outline *o, uint32_t from, uint32_t to, wick_replay *r,
                               wick_value *out)
{
  const wick_func *f = o->f;
  const bool *inside = outline_inside(o, from, to);
  uint32_t n = 0;
  for (uint32_t i = from; i < to; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) {
      wick_value v = f->node[i].in[k];
      if (!v.id || inside[v.id] || r->to[v.id].id || outline_is_constant(o, v)) continue;
      r->to[v.id] = wick_build_param(r->b, wick_type_of(f, v), WICK_IN, NULL);
      out[n++] = v;
    }
  for (uint32_t i = from; i < to; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) {
      wick_value v = f->node[i].in[k];
      if (v.id && !inside[v.id] && !r->to[v.id].id)
        wick_replay_nodes(r, o->definer[v.id], o->definer[v.id] + 1);
    }
  return n;
}

/* Replaces the loop, print or assertion in c's function by a call. */
static wick_status outline_loop(outline *o, wick_copier *c, uint32_t loop)
{
  const wick_func *f = o->f;
  const wick_node *n = &f->node[loop];
  wick_builder b;
  const char *name = wick_str_printf(o->tmp, "%s.%s.%u", f->name, wick_op_of(n)->name, o->nfound++);
  wick_build_begin(&b, f->module, WICK_GRAPH, name, &f->module->mem);
  wick_replay r = wick_replay_func(&b, f);
  wick_value *in = wick_new(o->tmp, wick_value, f->nvalue + 1),
             *result = wick_new(o->tmp, wick_value, n->nout + 1u);
  wick_type *type = wick_new(o->tmp, wick_type, n->nout + 1u);
  uint32_t nin = outline_params(o, loop, n->end, &r, in);
  wick_replay_nodes(&r, loop, n->end);
  for (uint32_t k = 0; k < n->nout; k++) {
    result[k] = r.to[n->first.id + k];
    type[k] = wick_type_of(f, (wick_value){n->first.id + k});
  }
  wick_build_return(&b, n->nout, result);
  wick_func *g;
  WICK_TRY(wick_build_end(&b, &g));
  wick_module_set(f->module, g);
  for (uint32_t k = 0; k < nin; k++) in[k] = c->to[in[k].id];
  c->b.loc = (wick_loc){0}; /* no call of the user's program */
  wick_value v =
      wick_build(&c->b, WICK_OP_call, nin, in, &(wick_attr){.s = g->name}, n->nout, type);
  for (uint32_t k = 0; k < n->nout; k++) {
    const wick_value_info *old = &f->value[n->first.id + k];
    c->to[n->first.id + k].id = v.id + k;
    wick_build_name(&c->b, c->to[n->first.id + k], old->name, old->relation);
  }
  return c->b.status;
}

wick_status wick_pass_outline_loops(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  outline o = {.f = f, .mem = pass->mem, .tmp = pass->tmp};
  bool any = false;
  *out = (wick_func *)(uintptr_t)f;
  for (uint32_t i = 0; i < f->nnode; i++)
    any = any || f->node[i].op == WICK_OP_loop || outline_says(&f->node[i]);
  if (!any || wick_func_is_called(f)) return NULL;
  o.apart = wick_form_apart(f, o.tmp);
  o.definer = wick_definers_of(f, o.tmp);
  wick_copier c = wick_copy_begin(f, o.mem);
  for (uint32_t i = 0; i < f->nnode; i++)
    if (outline_takes(&o, i) && outline_fits(&o, i)) {
      WICK_TRY(outline_loop(&o, &c, i));
      i = f->node[i].end - 1;
    } else {
      wick_copy_node(&c, &f->node[i]);
    }
  return wick_copy_finish(&c, out);
}
