/* A traversal from the output stage through everything that it reads. A stage is read at its own
 * element if it and all stages between it and the output have been read at the index that the
 * output writes. Each stage is visited at most twice: at its own element, and at another one. */
#include "loop/inplace.h"

typedef struct inplace {
  const wick_schedule *s;
  uint32_t param;     /* the parameter's value */
  uint32_t *stage_of; /* per value: its stage + 1, 0: none */
  /* per stage: visited at its own element; the second half: visited at another one */
  bool *seen;
  wick_list(struct inplace_todo {
    uint32_t stage;
    bool own;
  }) todo;
} inplace;

/* Returns true if the read's index is the stage's axes that are not reduced, in order, over the
 * whole tensor. */
static bool inplace_own(const wick_func *g, const wick_stage *st, const wick_node *read)
{
  const wick_type_info *t = wick_info_of(g, read->in[0]);
  uint32_t k = 0;
  for (uint32_t a = 0; a < st->naxis; a++) {
    if (st->axis[a].reduce) continue;
    if (k >= t->rank || !wick_dim_eq(wick_read_index(read)->dims[k], st->axis[a].sym) ||
        !wick_dim_eq(t->dim[k], st->axis[a].extent))
      return false;
    k++;
  }
  return k == t->rank;
}

/* Enters a stage in the list of stages to visit, unless it has been entered already. */
static void inplace_add(inplace *p, uint32_t stage, bool own, wick_arena *tmp)
{
  bool *seen = &p->seen[stage + (own ? 0 : p->s->nstage)];
  if (*seen) return;
  *seen = true;
  wick_push(tmp, &p->todo, (struct inplace_todo){stage, own});
}

/* Visits the reads of a stage. Returns false if one of them may read an element of the parameter
 * that has been overwritten. */
static bool inplace_stage(inplace *p, uint32_t stage, bool own, wick_arena *tmp)
{
  const wick_func *g = p->s->group;
  const wick_stage *st = &p->s->stage[stage];
  for (uint32_t i = st->node + 1; i < g->node[st->node].end; i++) {
    const wick_node *n = &g->node[i];
    if (n->op != WICK_OP_read) continue;
    bool here = own && inplace_own(g, st, n);
    uint32_t from = p->stage_of[n->in[0].id];
    if (n->in[0].id == p->param && !here) return false;
    if (from && p->s->stage[from - 1].where != WICK_ROOT) inplace_add(p, from - 1, here, tmp);
  }
  return true;
}

bool wick_inplace(const wick_schedule *s, uint32_t result, uint32_t param, wick_arena *tmp)
{
  const wick_func *g = s->group;
  wick_value out = wick_return(g)->in[result], in = {param + 1};
  inplace p = {.s = s, .param = in.id};
  p.stage_of = wick_new(tmp, uint32_t, g->nvalue + 1);
  p.seen = wick_new(tmp, bool, 2 * s->nstage + 1);
  for (uint32_t i = 0; i < s->nstage; i++) {
    const wick_node *n = &g->node[s->stage[i].node];
    for (uint32_t k = 0; k < n->nout; k++) p.stage_of[n->first.id + k] = i + 1;
    if (s->stage[i].loop_nest) return false;
    for (uint32_t l = 0; l < s->stage[i].loops.n; l++)
      if (s->stage[i].loops.at[l].tail == WICK_OVERLAP) return false;
  }
  if (p.stage_of[out.id] != s->output + 1) return false;
  if (!wick_type_eq(wick_type_of(g, out), wick_type_of(g, in))) return false;
  inplace_add(&p, s->output, true, tmp);
  while (p.todo.n) {
    struct inplace_todo next = p.todo.at[--p.todo.n];
    if (!inplace_stage(&p, next.stage, next.own, tmp)) return false;
  }
  return true;
}
