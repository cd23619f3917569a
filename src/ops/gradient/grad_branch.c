/* Derivatives of branches.
 *
 * The branch runs again, and gives also the results of its arms that are expensive to compute; an arm
 * gives zeros for those of the other one. A second branch on the same condition computes the rest of
 * the arm again, and yields the cotangents of the values from outside that the arm uses. The branch
 * that runs again has all results of the first one, and replaces it (graph/merge_loops.h). */
#include "ir/replay.h"
#include "ops/gradient/grad.h"

enum { BRANCH_ARMS = 2 };

typedef struct branch_arm { /* results of its nodes that are kept, in order */
  uint32_t nkept;
  wick_value *kept;
  uint32_t *slot; /* per kept value: the result of the branch that has it */
} branch_arm;

typedef struct branch_rule {
  wick_adjoint *a;
  branch_arm arm[BRANCH_ARMS];
  uint32_t nslot;
  wick_type *slot;  /* types of the results that are added */
  wick_value taken; /* the first of these */
} branch_rule;

/* ---- values that are kept ---- */

static void branch_symbols(const branch_rule *s, wick_value v, wick_dim_list *list)
{
  wick_builder *b = s->a->b;
  const wick_type_info *t = wick_built_info(b, v);
  for (uint32_t k = 0; t->kind == WICK_TENSOR && k < t->rank; k++)
    wick_dim_symbols(b->module->dims, t->dim[k], b->mem, list);
}

/* Finds the sizes that are known outside of a region and that its values are made of. */
static wick_dim_list branch_outside(const branch_rule *s, const wick_region *g)
{
  const wick_builder *b = s->a->b;
  wick_dim_list list = {0};
  uint32_t inside = UINT32_MAX;
  for (uint32_t i = g->begin; i < g->end; i++)
    if (b->nodes.at[i].nout && b->nodes.at[i].first.id < inside) inside = b->nodes.at[i].first.id;
  for (uint32_t i = g->begin; i < g->end; i++)
    for (uint32_t k = 0; k < b->nodes.at[i].nin; k++)
      if (b->nodes.at[i].in[k].id < inside) branch_symbols(s, b->nodes.at[i].in[k], &list);
  return list;
}

/* Returns whether v can be a result of the branch: its size does not come from inside. */
static bool branch_can_give(const branch_rule *s, wick_value v, const wick_dim_list *outside)
{
  wick_dim_list own = {0};
  branch_symbols(s, v, &own);
  for (uint32_t i = 0; i < own.n; i++) {
    bool known = false;
    for (uint32_t k = 0; k < outside->n && !known; k++)
      known = wick_dim_eq(own.at[i], outside->at[k]);
    if (!known) return false;
  }
  return true;
}

/* Returns a result of type t that the arm does not use yet. Arms share results. */
static uint32_t branch_slot(branch_rule *s, const branch_arm *arm, wick_type t)
{
  for (uint32_t i = 0; i < s->nslot; i++) {
    bool free = wick_type_eq(s->slot[i], t);
    for (uint32_t k = 0; k < arm->nkept && free; k++) free = arm->slot[k] != i;
    if (free) return i;
  }
  s->slot[s->nslot] = t;
  return s->nslot++;
}

static void branch_find(branch_rule *s)
{
  wick_builder *b = s->a->b;
  uint32_t most = 1;
  for (uint32_t r = 0; r < BRANCH_ARMS; r++) {
    const wick_region *g = &s->a->node->region[r];
    for (uint32_t i = g->begin; i < g->end; i++) most += b->nodes.at[i].nout;
  }
  s->slot = wick_new(b->mem, wick_type, most);
  for (uint32_t r = 0; r < BRANCH_ARMS; r++) {
    const wick_region *g = &s->a->node->region[r];
    const wick_dim_list outside = branch_outside(s, g);
    branch_arm *arm = &s->arm[r];
    arm->kept = wick_new(b->mem, wick_value, most);
    arm->slot = wick_new(b->mem, uint32_t, most);
    for (uint32_t i = g->begin; i + 1 < g->end; i = b->nodes.at[i].end) {
      const wick_node *n = &b->nodes.at[i];
      for (uint32_t k = 0; k < n->nout && !wick_grad_is_cheap(b, n); k++) {
        wick_value v = {n->first.id + k};
        if (!branch_can_give(s, v, &outside)) continue;
        arm->slot[arm->nkept] = branch_slot(s, arm, wick_built_type(b, v));
        arm->kept[arm->nkept++] = v;
      }
    }
  }
}

/* ---- the branch again, with more results ---- */

static void branch_again(branch_rule *s)
{
  wick_builder *b = s->a->b;
  const wick_node *n = s->a->node;
  wick_value *y = wick_new(b->mem, wick_value, n->nout + s->nslot + 1u);
  wick_build_open(b, WICK_OP_if, 1, s->a->in, n->attr, 0, NULL);
  for (uint32_t r = 0; r < BRANCH_ARMS && !b->status; r++) {
    const wick_region *g = &n->region[r];
    const branch_arm *arm = &s->arm[r];
    wick_region_begin(b, 0, NULL);
    wick_replay again = wick_replay_begin(b);
    wick_replay_nodes(&again, g->begin, g->end - 1);
    for (uint32_t k = 0; k < n->nout; k++)
      y[k] = wick_replayed(&again, again.node[g->end - 1].in[k]);
    for (uint32_t k = 0; k < s->nslot; k++) y[n->nout + k] = (wick_value){0};
    for (uint32_t k = 0; k < arm->nkept; k++)
      y[n->nout + arm->slot[k]] = wick_replayed(&again, arm->kept[k]);
    for (uint32_t k = 0; k < s->nslot && !b->status; k++)
      if (!y[n->nout + k].id) y[n->nout + k] = wick_build_const(b, s->slot[k], 0, 0);
    wick_yield(b, n->nout + s->nslot, y);
  }
  wick_value first = wick_build_close(b);
  s->taken = (wick_value){first.id + n->nout};
}

/* ---- the branch backwards ---- */

/* Replays the nodes of an arm, with kept values instead of the nodes that would compute them. */
static void branch_replay(const branch_rule *s, uint32_t r, wick_replay *to, wick_grad_kept *kept)
{
  const wick_region *g = &s->a->node->region[r];
  const branch_arm *arm = &s->arm[r];
  uint32_t next = 0;
  for (uint32_t i = g->begin; i < g->end - 1 && !s->a->b->status; i = to->node[i].end) {
    const wick_node *n = &to->node[i];
    wick_replay_nodes(to, i, n->end);
    for (; next < arm->nkept && arm->kept[next].id >= n->first.id &&
           arm->kept[next].id < n->first.id + n->nout;
         next++) {
      wick_value *made = &to->to[arm->kept[next].id];
      kept[next] = (wick_grad_kept){*made, {s->taken.id + arm->slot[next]}};
      *made = kept[next].taken;
    }
  }
}

/* Builds one arm of the second branch. It yields the cotangents of the captured values. */
static void branch_back(const branch_rule *s, uint32_t arm)
{
  const wick_adjoint *a = s->a;
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  const wick_region *g = &n->region[arm];
  wick_value *of = wick_new(b->mem, wick_value, n->nout + 1u),
             *cotangent = wick_new(b->mem, wick_value, n->nout + 1u),
             *got = wick_new(b->mem, wick_value, a->ncaptured + 1u);
  wick_grad_kept *kept = wick_new(b->mem, wick_grad_kept, s->arm[arm].nkept + 1u);
  wick_replay r = wick_replay_begin(b);
  wick_grad_request request = {.of = of,
                               .cotangent = cotangent,
                               .nwrt = a->ncaptured,
                               .wrt = a->captured,
                               .nkept = s->arm[arm].nkept,
                               .kept = kept};
  wick_region_begin(b, 0, NULL);
  request.begin = b->nodes.n;
  branch_replay(s, arm, &r, kept);
  request.end = b->nodes.n;
  for (uint32_t k = 0; k < n->nout && !b->status; k++)
    if (a->dout[k].id) {
      of[request.nof] = wick_replayed(&r, r.node[g->end - 1].in[k]);
      cotangent[request.nof++] = a->dout[k];
    }
  wick_grad_build(b, &request, got);
  for (uint32_t k = 0; k < a->ncaptured && !b->status; k++)
    if (!got[k].id) got[k] = wick_grad_fill(b, a->captured[k], 0);
  wick_yield(b, a->ncaptured, got);
}

void wick_grad_if(wick_adjoint *a)
{
  wick_builder *b = a->b;
  branch_rule s = {.a = a};
  if (!a->ncaptured || b->status) return;
  branch_find(&s);
  if (s.nslot) branch_again(&s);
  if (b->status) return;
  wick_build_open(b, WICK_OP_if, 1, a->in, a->node->attr, 0, NULL);
  for (uint32_t k = 0; k < BRANCH_ARMS && !b->status; k++) branch_back(&s, k);
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < a->ncaptured && first.id; k++)
    a->dcaptured[k] = (wick_value){first.id + k};
}
