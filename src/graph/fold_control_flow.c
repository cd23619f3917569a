/* Folds control flow in one traversal. An `if` whose condition is a number is replaced by its
 * region, and a loop that never runs by its initial values. */
#include "graph/fold_control_flow.h"

#include "ir/copy.h"
#include "ir/element.h"

typedef struct fold_control_flow_state {
  wick_copier c;
  const uint32_t *definer;
} fold_control_flow_state;

static bool fold_control_flow_number(const fold_control_flow_state *s, wick_value v, int64_t *out)
{
  const wick_func *f = s->c.f;
  const wick_node *n = s->definer[v.id] == UINT32_MAX ? NULL : &f->node[s->definer[v.id]];
  if (!n || n->op != WICK_OP_const) return false;
  const wick_imm *imm = wick_const_imm(n);
  const void *data = imm->constant ? wick_constant_get(f->module, imm->constant)->data : NULL;
  if (imm->constant && !data) return false;
  *out = data ? wick_load_int(wick_info_of(f, v)->elem, data, 0) : imm->i;
  return true;
}

static void fold_control_flow_nodes(fold_control_flow_state *s, uint32_t begin, uint32_t end);

static bool fold_control_flow_node(fold_control_flow_state *s, const wick_node *n)
{
  int64_t number;
  if (n->op != WICK_OP_if && n->op != WICK_OP_loop) return false;
  if (!fold_control_flow_number(s, n->in[0], &number)) return false;
  if (n->op == WICK_OP_loop) {
    if (number > 0 || n->attr[WICK_ATTR_loop_stacked].i) return false;
    for (uint32_t k = 0; k < n->nout; k++) s->c.to[n->first.id + k] = s->c.to[n->in[1 + k].id];
    return true;
  }
  const wick_region *r = &n->region[!number];
  const wick_node *y = &s->c.f->node[r->end - 1];
  wick_build_taken(&s->c.b, &n->attr[!number], n->loc);
  fold_control_flow_nodes(s, r->begin, r->end - 1);
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = s->c.to[n->first.id + k] = s->c.to[y->in[k].id];
    const wick_value_info *old = &s->c.f->value[n->first.id + k];
    if (!s->c.b.values.at[v.id].name) wick_build_name(&s->c.b, v, old->name, old->relation);
  }
  return true;
}

static void fold_control_flow_nodes(fold_control_flow_state *s, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end;) {
    const wick_node *n = &s->c.f->node[i];
    if (fold_control_flow_node(s, n)) {
      i = n->end;
    } else {
      wick_copy_node(&s->c, n);
      i++;
    }
  }
}

wick_status wick_pass_fold_control_flow(const wick_pass_context *pass, const wick_func *f,
                                        wick_func **out)
{
  wick_arena *mem = pass->mem;
  fold_control_flow_state s = {.c = wick_copy_begin(f, mem), .definer = wick_definers_of(f, mem)};
  fold_control_flow_nodes(&s, 0, f->nnode);
  return wick_copy_finish(&s.c, out);
}
