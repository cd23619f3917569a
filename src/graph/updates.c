/* A value is followed from a parameter through the nodes that replace parts of it. The parameters of
 * all functions are found together, until nothing changes. */
#include "graph/updates.h"

#include "graph/group/registers.h"
#include "ir/call.h"

typedef struct updates_func {
  const wick_updates *u;
  const wick_func *f;
  uint32_t *from; /* per value: the parameter whose memory it would be in, from 1; 0: none */
  bool *updated;  /* per parameter, from 1 */
} updates_func;

const int32_t *wick_updates_find(const wick_updates *u, const char *name)
{
  for (uint32_t i = 0; i < u->n; i++)
    if (u->name[i] == name) return u->result[i];
  return NULL;
}

uint32_t wick_updates_param(const int32_t *result, uint32_t nparam, uint32_t k)
{
  uint32_t j = 0;
  while (j < nparam && (!result || result[j] != (int32_t)k)) j++;
  return j;
}

static void updates_call(updates_func *s, uint32_t i)
{
  const wick_node *n = &s->f->node[i];
  const wick_func *g = wick_callee(s->f->module, n);
  const int32_t *result = g ? wick_updates_find(s->u, g->name) : NULL;
  bool again = g == s->f && wick_is_last(s->f, i);
  for (uint32_t j = 0; result && j < n->nin; j++) {
    if (result[j] != WICK_UPDATES_NONE) s->updated[s->from[n->in[j].id]] = true;
    if (result[j] >= 0) s->from[n->first.id + (uint32_t)result[j]] = s->from[n->in[j].id];
    if (again && n->in[j].id != j + 1) s->updated[j + 1] = true;
  }
}

static void updates_region(updates_func *s, uint32_t begin, uint32_t end);

static void updates_node(updates_func *s, uint32_t i)
{
  const wick_func *f = s->f;
  const wick_node *n = &f->node[i];
  bool loop = n->op == WICK_OP_loop;
  for (uint32_t k = 0; loop && k + 1 < n->nin; k++)
    s->from[n->region[0].first.id + 1 + k] = s->from[n->first.id + k] = s->from[n->in[1 + k].id];
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *g = &n->region[r];
    const wick_node *y = &f->node[g->end - 1];
    updates_region(s, g->begin, g->end - 1);
    for (uint32_t k = 0; !loop && k < n->nout && k < y->nin; k++)
      if (!s->from[n->first.id + k]) s->from[n->first.id + k] = s->from[y->in[k].id];
  }
  if (n->op == WICK_OP_scatter_nd) {
    s->from[n->first.id] = s->from[n->in[0].id];
    s->updated[s->from[n->in[0].id]] = true;
  }
  if (n->op == WICK_OP_call) updates_call(s, i);
}

static void updates_region(updates_func *s, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = s->f->node[i].end) updates_node(s, i);
}

/* Returns whether v is in memory in a procedure, with a constant size. */
static bool updates_is_tensor(const wick_func *f, wick_value v)
{
  int64_t dim[WICK_MAX_RANK];
  const wick_type_info *t = wick_info_of(f, v);
  return t->kind == WICK_TENSOR && !wick_form_number(f, v).id && wick_type_const_dims(t, dim);
}

/* Finds more updates by f. Returns whether there were any. */
static bool updates_step(const wick_updates *u, const wick_func *f, int32_t *result,
                         wick_arena *mem)
{
  const wick_node *ret = wick_return(f);
  updates_func s = {u, f, wick_new(mem, uint32_t, f->nvalue + 1u),
                    wick_new(mem, bool, f->nparam + 1u)};
  bool more = false;
  for (uint32_t v = 1; v <= f->nparam; v++)
    if (updates_is_tensor(f, (wick_value){v})) s.from[v] = v;
  updates_region(&s, 0, f->nnode);
  for (uint32_t v = 1; v <= f->nparam; v++)
    if (s.from[v] && s.updated[v] && result[v - 1] == WICK_UPDATES_NONE)
      result[v - 1] = WICK_UPDATES_LOST, more = true;
  for (uint32_t k = 0; k < ret->nin; k++) {
    uint32_t v = s.from[ret->in[k].id];
    if (!v || result[v - 1] != WICK_UPDATES_LOST ||
        wick_type_of(f, ret->in[k]).id != wick_type_of(f, (wick_value){v}).id ||
        wick_updates_param(result, f->nparam, k) < f->nparam)
      continue;
    result[v - 1] = (int32_t)k, more = true;
  }
  return more;
}

wick_updates wick_updates_of(const wick_module *m, wick_arena *mem)
{
  wick_list(const wick_func *) func = {0};
  for (uint32_t i = 0; i < m->funcs.n; i++)
    if (m->funcs.at[i]->level == WICK_GRAPH && wick_func_is_called(m->funcs.at[i]))
      wick_push(mem, &func, m->funcs.at[i]);
  wick_updates u = {func.n, wick_new(mem, const char *, func.n + 1u),
                    wick_new(mem, int32_t *, func.n + 1u)};
  for (uint32_t i = 0; i < u.n; i++) {
    u.name[i] = func.at[i]->name;
    u.result[i] = wick_new(mem, int32_t, func.at[i]->nparam + 1u);
    for (uint32_t j = 0; j < func.at[i]->nparam; j++) u.result[i][j] = WICK_UPDATES_NONE;
  }
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < u.n; i++)
      more = updates_step(&u, func.at[i], u.result[i], mem) || more;
  }
  return u;
}
