/* The home of a node is the innermost loop that defines one of its operands. If that is outside of
 * the node's own loop, the node is built before the outermost loop that it can leave. One traversal
 * finds the homes, a second one copies. */
#include "loop/licm.h"

#include "ir/copy.h"
typedef struct licm_state {
  const wick_func *f;
  uint32_t *parent;         /* per node: the node around it, or UINT32_MAX */
  uint32_t *def;            /* per value: the node in whose regions it lives, or UINT32_MAX */
  uint32_t *before;         /* per node: the node before which it is built; itself: it stays */
  uint32_t *first, *next;   /* per node: the list of nodes that are built before it */
  const wick_node **number; /* per value: the constant that defines it; NULL: it is not one */
  uint32_t *nload;          /* per node: loads that have moved before it */
} licm_state;

enum { LICM_LOADS = 4 }; /* more of them would take the registers of what the loop computes */

static bool licm_movable(const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  return op->effect == WICK_PURE && !n->nregion && !op->terminator && n->op != WICK_OP_load &&
         n->op != WICK_OP_load_lanes;
}

/* Returns true if n divides integers by a positive number: this cannot fail. */
static bool licm_divides(const licm_state *s, const wick_node *n)
{
  if (n->op != WICK_OP_div_unchecked && n->op != WICK_OP_rem_unchecked) return false;
  const wick_node *by = s->number[n->in[1].id];
  return by && wick_const_imm(by)->i > 0 && !wick_elem_is_float(wick_info_of(s->f, n->first)->elem);
}

/* Returns true if n loads one element of a parameter that the function does not write. Where a
 * result is written into the same memory, an element is not overwritten before its last read. */
static bool licm_reads_number(const wick_func *f, const wick_node *n)
{
  return n->op == WICK_OP_load && n->nin == 2 && wick_info_of(f, n->first)->lanes == 1 &&
         n->in[0].id <= f->nparam && f->qual[n->in[0].id - 1] == WICK_IN;
}

/* Returns true if the element is in the buffer, whatever the loops around it do. */
static bool licm_exists(const licm_state *s, const wick_node *load)
{
  const wick_node *index = s->number[load->in[1].id];
  wick_dim n = wick_type_numel(s->f->module, wick_type_of(s->f, load->in[0]));
  int64_t at = load->attr[WICK_ATTR_load_offset].i;
  return index && wick_dim_is_const(n) && !wick_add_overflows(at, wick_const_imm(index)->i, &at) &&
         at >= 0 && at < n.v;
}

static bool licm_runs(const licm_state *s, const wick_node *loop)
{
  const wick_node *lo = s->number[loop->in[0].id], *hi = s->number[loop->in[1].id];
  return lo && hi && wick_const_imm(lo)->i < wick_const_imm(hi)->i;
}

/* Returns true if node n may be built before the loop. */
static bool licm_leaves(const licm_state *s, const wick_node *n, uint32_t loop)
{
  if (licm_movable(n) || licm_divides(s, n)) return true;
  return s->nload[loop] < LICM_LOADS && (licm_exists(s, n) || licm_runs(s, &s->f->node[loop]));
}

static void licm_parents(licm_state *s, wick_arena *mem)
{
  const wick_func *f = s->f;
  uint32_t depth = 0, stack[WICK_MAX_DEPTH + 1];
  s->parent = wick_new(mem, uint32_t, f->nnode);
  s->def = wick_new(mem, uint32_t, f->nvalue + 1);
  for (uint32_t v = 0; v <= f->nparam; v++) s->def[v] = UINT32_MAX;
  for (uint32_t i = 0; i < f->nnode; i++) {
    while (depth && f->node[stack[depth - 1]].end <= i) depth--;
    s->parent[i] = depth ? stack[depth - 1] : UINT32_MAX;
    const wick_node *n = &f->node[i];
    for (uint32_t k = 0; k < n->nout; k++) s->def[n->first.id + k] = s->parent[i];
    for (uint32_t r = 0; r < n->nregion; r++)
      for (uint32_t k = 0; k < n->region[r].nparam; k++) s->def[n->region[r].first.id + k] = i;
    if (n->nregion) stack[depth++] = i;
  }
}

/* Returns the innermost of the homes of node i's operands. All of them are on the path of parents
 * from i, so the innermost one has the largest index. */
static uint32_t licm_home(const licm_state *s, uint32_t i)
{
  const wick_node *n = &s->f->node[i];
  uint32_t home = UINT32_MAX;
  for (uint32_t k = 0; k < n->nin; k++) {
    uint32_t d = s->def[n->in[k].id];
    if (d != UINT32_MAX && (home == UINT32_MAX || d > home)) home = d;
  }
  return home;
}

static void licm_find(licm_state *s, wick_arena *mem)
{
  const wick_func *f = s->f;
  s->before = wick_new(mem, uint32_t, f->nnode);
  s->first = wick_new(mem, uint32_t, f->nnode);
  s->next = wick_new(mem, uint32_t, f->nnode);
  s->nload = wick_new(mem, uint32_t, f->nnode);
  s->number = wick_new(mem, const wick_node *, f->nvalue + 1);
  uint32_t *last = wick_new(mem, uint32_t, f->nnode);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    s->before[i] = i;
    s->first[i] = s->next[i] = last[i] = UINT32_MAX;
    bool is_number = n->op == WICK_OP_const && !wick_const_imm(n)->constant;
    if (is_number) s->number[n->first.id] = n;
    if (!licm_movable(n) && !licm_divides(s, n) && !licm_reads_number(f, n)) continue;
    uint32_t home = licm_home(s, i), at = i;
    for (uint32_t p = s->parent[i];
         p != UINT32_MAX && p != home && f->node[p].op == WICK_OP_for && licm_leaves(s, n, p);
         p = s->parent[p])
      at = p;
    if (at == i) continue;
    if (n->op == WICK_OP_load) s->nload[at]++;
    s->before[i] = at;
    for (uint32_t k = 0; k < n->nout; k++) s->def[n->first.id + k] = s->parent[at];
    if (last[at] == UINT32_MAX)
      s->first[at] = i;
    else
      s->next[last[at]] = i;
    last[at] = i;
  }
}

wick_status wick_licm_loop(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  licm_state s = {.f = f};
  licm_parents(&s, mem);
  licm_find(&s, mem);
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    for (uint32_t m = s.first[i]; m != UINT32_MAX; m = s.next[m]) wick_copy_node(&c, &f->node[m]);
    if (s.before[i] == i) wick_copy_node(&c, &f->node[i]);
  }
  return wick_copy_finish(&c, out);
}
