/* Worklists follow the functions that nodes name. A call is inlined by a replay of the callee. */
#include "ir/call.h"

#include <string.h>

#include "ir/replay.h"

const wick_func *wick_callee(const wick_module *m, const wick_node *n)
{
  const wick_func *f =
      n->op == WICK_OP_call ? wick_module_find(m, n->attr[WICK_ATTR_call_callee].s) : NULL;
  return f && f->level == WICK_GRAPH ? f : NULL;
}

const char *wick_named_func(const wick_node *n, uint32_t k)
{
  const wick_op *op = wick_op_of(n);
  for (uint32_t i = 0; op->level & WICK_GRAPH && i < n->nattr; i++)
    if (op->attr[i].kind == WICK_ATTR_FUNC && k-- == 0) return n->attr[i].s;
  return NULL;
}

bool wick_node_names(const wick_node *n, const wick_func *f)
{
  const char *name;
  for (uint32_t k = 0; (name = wick_named_func(n, k)); k++)
    if (name == f->name) return true;
  return false;
}

void wick_func_note_callees(wick_func *f, wick_arena *mem)
{
  wick_list(wick_use_of_func) all = {0};
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    const char *name;
    f->acts = f->acts || wick_op_of(n)->effect == WICK_EFFECT;
    for (uint32_t k = 0; (name = wick_named_func(n, k)); k++) {
      uint32_t at = 0;
      while (at < all.n && all.at[at].name != name) at++;
      if (at == all.n) wick_push(mem, &all, ((wick_use_of_func){name, false}));
      all.at[at].run = all.at[at].run || wick_func_run(n, k);
    }
  }
  f->ncallee = all.n, f->callee = all.at;
}

typedef wick_list(const wick_func *) call_list;

static bool call_listed(const call_list *list, const wick_func *f)
{
  for (uint32_t i = 0; i < list->n; i++)
    if (list->at[i] == f) return true;
  return false;
}

/* Adds the functions that f names, directly or through others, each once. Functions in the list are
 * not followed. */
static void call_reach(const wick_func *f, wick_arena *mem, call_list *out)
{
  const wick_func *of = f;
  for (uint32_t at = out->n; of; of = at < out->n ? out->at[at++] : NULL)
    for (uint32_t i = 0; i < of->ncallee; i++) {
      const wick_func *g = wick_module_find(f->module, of->callee[i].name);
      if (g && !call_listed(out, g)) wick_push(mem, out, g);
    }
}

bool wick_func_recurs(const wick_func *f, wick_arena *tmp)
{
  call_list seen = {0};
  const wick_func *own = wick_module_find(f->module, f->name);
  call_reach(f, tmp, &seen);
  for (uint32_t i = 0; i < seen.n; i++)
    if (seen.at[i] == f || seen.at[i] == own) return true;
  return false;
}

bool wick_func_recurs_through(const wick_func *f, const wick_func *g, wick_arena *tmp)
{
  call_list around = {0}, seen = {0};
  const wick_func *own = wick_module_find(f->module, f->name);
  bool back = false;
  if (g == own) return false;
  wick_push(tmp, &around, own);
  call_reach(g, tmp, &around);
  for (uint32_t i = 1; i < around.n; i++)
    if (around.at[i] == g) return false;
  call_reach(g, tmp, &seen);
  for (uint32_t i = 0; i < seen.n; i++) back = back || seen.at[i] == own;
  return back;
}

void wick_func_drop(const wick_func *f, const wick_func *now, wick_arena *tmp)
{
  wick_module *m = f->module;
  call_list old = {0}, keep = {0};
  call_reach(f, tmp, &old);
  wick_module_set(m, now);
  call_reach(now, tmp, &keep);
  for (uint32_t i = 0; i < m->funcs.n; i++) {
    const wick_func *g = m->funcs.at[i];
    bool root = strcmp(g->name, "main") == 0 || !call_listed(&old, g);
    if (g->name != f->name && root) call_reach(g, tmp, &keep);
  }
  for (uint32_t i = 0; i < old.n; i++) {
    const wick_func *g = old.at[i];
    if (g->name == f->name || strcmp(g->name, "main") == 0 || call_listed(&keep, g)) continue;
    wick_module_remove(m, g->name);
  }
}

void wick_module_keep_reached(wick_module *m, const char *entry, wick_arena *tmp)
{
  const wick_func *f = wick_module_find(m, entry);
  call_list keep = {0}, drop = {0};
  if (!f) return;
  wick_push(tmp, &keep, f);
  call_reach(f, tmp, &keep);
  for (uint32_t i = 0; i < m->funcs.n; i++)
    if (m->funcs.at[i]->level == WICK_GRAPH && !call_listed(&keep, m->funcs.at[i]))
      wick_push(tmp, &drop, m->funcs.at[i]);
  for (uint32_t i = 0; i < drop.n; i++) wick_module_remove(m, drop.at[i]->name);
}

const char wick_entry_name[] = "main";

bool wick_func_is_entry(const wick_func *f) { return f && strcmp(f->name, wick_entry_name) == 0; }

bool wick_func_is_called(const wick_func *f)
{
  const wick_module *m = f->module;
  for (uint32_t k = 0; k < m->funcs.n; k++)
    for (uint32_t i = 0; i < m->funcs.at[k]->ncallee; i++)
      if (m->funcs.at[k]->callee[i].name == f->name) return true;
  return false;
}

/* ---- effects ---- */

const char *wick_func_run(const wick_node *n, uint32_t k)
{
  return n->op == WICK_OP_closure ? NULL : wick_named_func(n, k);
}

/* The effect of an operator by itself. A name without a function, or with the head of one, may
 * stand for anything. */
static bool call_unknown(const wick_module *m, const wick_node *n)
{
  const char *name;
  for (uint32_t k = 0; (name = wick_func_run(n, k)); k++) {
    const wick_func *g = wick_module_find(m, name);
    if (!g || g->head) return true;
  }
  return false;
}

typedef struct call_edge {
  uint32_t caller, callee; /* indices into the module's functions */
} call_edge;

wick_effects wick_effects_of(const wick_module *m, wick_arena *mem)
{
  bool *acts = wick_new(mem, bool, m->funcs.n + 1);
  wick_list(call_edge) edges = {0};
  for (uint32_t k = 0; k < m->funcs.n; k++) {
    const wick_func *f = m->funcs.at[k];
    acts[k] = f->acts;
    for (uint32_t i = 0; i < f->ncallee && !acts[k]; i++) {
      if (!f->callee[i].run) continue;
      const wick_func *g = wick_module_find(m, f->callee[i].name);
      acts[k] = !g || g->head;
      if (!acts[k]) wick_push(mem, &edges, (call_edge){k, wick_module_index(m, g->name)});
    }
  }
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = edges.n; i-- > 0;) {
      bool *caller = &acts[edges.at[i].caller];
      more = more || (!*caller && acts[edges.at[i].callee]);
      *caller = *caller || acts[edges.at[i].callee];
    }
  }
  return (wick_effects){m, acts};
}

bool wick_node_acts(const wick_effects *e, const wick_node *n)
{
  if (wick_op_of(n)->effect == WICK_EFFECT || call_unknown(e->module, n)) return true;
  const char *name;
  for (uint32_t k = 0; (name = wick_func_run(n, k)); k++)
    if (e->acts[wick_module_index(e->module, name)]) return true;
  return false;
}

bool wick_nodes_act(const wick_effects *e, const wick_func *f, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i++)
    if (wick_node_acts(e, &f->node[i])) return true;
  return false;
}

/* ---- what functions contain ---- */

static bool call_has(const wick_func *f, wick_opcode op)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == op) return true;
  return false;
}

bool wick_func_reaches(const wick_func *f, bool (*has)(const wick_func *), wick_arena *tmp)
{
  call_list seen = {0};
  call_reach(f, tmp, &seen);
  for (uint32_t i = 0; i < seen.n; i++)
    if (has(seen.at[i])) return true;
  return has(f);
}

static bool call_has_say(const wick_func *f) { return call_has(f, WICK_OP_say); }

static bool call_has_fail(const wick_func *f)
{
  return call_has(f, WICK_OP_fail) || call_has(f, WICK_OP_host_call) || call_has_say(f);
}

bool wick_module_says(const wick_module *m)
{
  for (uint32_t i = 0; i < m->funcs.n; i++)
    if (call_has_say(m->funcs.at[i])) return true;
  return false;
}

static bool call_kernel_reaches(const wick_func *f, const wick_node *n,
                                bool (*has)(const wick_func *), wick_arena *tmp)
{
  const wick_func *g = n->op == WICK_OP_kernel || n->op == WICK_OP_call
                           ? wick_module_find(f->module, n->attr[WICK_ATTR_kernel_callee].s)
                           : NULL;
  return g && wick_func_reaches(g, has, tmp);
}

bool wick_kernel_says(const wick_func *f, const wick_node *n, wick_arena *tmp)
{
  return call_kernel_reaches(f, n, call_has_say, tmp);
}

bool wick_kernel_fails(const wick_func *f, const wick_node *n, wick_arena *tmp)
{
  return call_kernel_reaches(f, n, call_has_fail, tmp);
}

bool wick_func_reaches_fail(const wick_func *f, wick_arena *tmp)
{
  return wick_func_reaches(f, call_has_fail, tmp);
}

static bool call_has_heap(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (wick_op_of(&f->node[i])->heap) return true;
  return false;
}

bool wick_func_reaches_heap(const wick_func *f, wick_arena *tmp)
{
  return wick_func_reaches(f, call_has_heap, tmp);
}

bool wick_func_reaches_recursion(const wick_func *f, wick_arena *tmp)
{
  call_list seen = {0};
  if (!call_has(f, WICK_OP_call)) return false;
  call_reach(f, tmp, &seen);
  for (uint32_t i = 0; i < seen.n; i++)
    if (wick_func_recurs(seen.at[i], tmp)) return true;
  return wick_func_recurs(f, tmp);
}

/* ---- functions that are too large to be inlined ---- */

enum {
  CALL_LARGE = 100,  /* nodes from which on a function may stay because of its size */
  CALL_GROWTH = 200, /* if all of its calls become at least so many nodes more */
  CALL_MIDDLE = 20,  /* the same of a function that is called often */
  CALL_SPREAD = 600,
  CALL_CHAIN = 64 /* calls inside each other that are followed */
};

/* A function, and the number of nodes that inlining it builds. */
typedef struct call_size {
  const wick_func *f;
  uint32_t nnode;
} call_size;

typedef wick_list(call_size) call_sizes;

/* Returns whether f has numbers and objects alone, and branches, loops or objects among them: what is
 * straight code on numbers becomes kernels, and tensors are fused with those of the caller. */
static bool call_is_code(const wick_func *f)
{
  bool code = false;
  for (uint32_t v = 1; v <= f->nvalue; v++) {
    bool object = wick_kind_is_object(wick_info_of(f, (wick_value){v})->kind);
    if (!object && !wick_type_is_one(f->module, f->value[v].type)) return false;
    code = code || object;
  }
  for (uint32_t i = 0; i < f->nnode && !code; i++) code = f->node[i].nregion;
  return code;
}

/* Counts the calls of f in its module, up to `most`. */
static uint32_t call_count(const wick_func *f, uint32_t most)
{
  const wick_module *m = f->module;
  uint32_t count = 0;
  for (uint32_t k = 0; k < m->funcs.n; k++)
    for (uint32_t i = 0; i < m->funcs.at[k]->nnode && count < most; i++) {
      const wick_node *n = &m->funcs.at[k]->node[i];
      count += n->op == WICK_OP_call && n->attr[WICK_ATTR_call_callee].s == f->name;
    }
  return count;
}

static uint32_t call_nnode(const wick_func *f, uint32_t depth, wick_arena *tmp, call_sizes *sizes);

static bool call_is_large(const wick_func *f, uint32_t depth, wick_arena *tmp, call_sizes *sizes)
{
  if (!call_is_code(f)) return false;
  uint32_t n = call_nnode(f, depth, tmp, sizes);
  if (n < CALL_MIDDLE) return false;
  uint32_t growth = n < CALL_LARGE ? CALL_SPREAD : CALL_GROWTH;
  uint32_t most = growth / n + 2, count = call_count(f, most);
  return count > 1 && (count - 1) * n >= growth;
}

/* Returns the number of nodes of f with those of the functions whose calls in it are inlined, or a
 * large number if it has more than that. */
static uint32_t call_nnode(const wick_func *f, uint32_t depth, wick_arena *tmp, call_sizes *sizes)
{
  for (uint32_t i = 0; i < sizes->n; i++)
    if (sizes->at[i].f == f) return sizes->at[i].nnode;
  if (depth > CALL_CHAIN) return CALL_GROWTH;
  uint32_t n = f->nnode;
  for (uint32_t i = 0; i < f->nnode && n < CALL_GROWTH; i++) {
    const wick_func *g = wick_callee(f->module, &f->node[i]);
    if (!g || wick_func_recurs(g, tmp) || call_is_large(g, depth + 1, tmp, sizes)) continue;
    n += call_nnode(g, depth + 1, tmp, sizes);
  }
  if (n > CALL_GROWTH) n = CALL_GROWTH;
  wick_push(tmp, sizes, (call_size){f, n});
  return n;
}

bool wick_func_is_large(const wick_func *f, wick_arena *tmp)
{
  call_sizes sizes = {0};
  return !wick_func_is_entry(f) && call_is_large(f, 0, tmp, &sizes);
}

bool wick_func_stays(const wick_func *f, wick_arena *tmp)
{
  if (wick_func_recurs(f, tmp) || wick_func_is_large(f, tmp)) return true;
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (!wick_type_is_one(f->module, f->value[v].type)) return false;
  return wick_return(f)->nin && call_has(f, WICK_OP_loop);
}

void wick_build_body(wick_builder *b, const wick_func *f, const wick_node *n, const wick_value *in,
                     wick_value *out)
{
  wick_replay r = wick_replay_func(b, f);
  r.call = n->loc;
  for (uint32_t k = 0; k < f->nparam; k++) r.to[1 + k] = in[k];
  for (uint32_t i = 0; i < f->nconstraint; i++)
    wick_build_shape_constraint(b, f->constraint[i].a, f->constraint[i].b, f->constraint[i].loc);
  wick_replay_nodes(&r, 0, f->nnode - 1);
  for (uint32_t k = 0; k < n->nout; k++) out[k] = wick_replayed(&r, wick_return(f)->in[k]);
}

void wick_build_inlined_call(wick_builder *b, const wick_node *n, const wick_value *in,
                             wick_value *out)
{
  const wick_func *f = wick_callee(b->module, n);
  if (b->status) return;
  if (!f || wick_func_recurs(f, b->mem))
    wick_build_fail(b, WICK_EUNSUPPORTED,
                    f ? "@%s calls itself, which is not supported" : "there is no function @%s",
                    n->attr[WICK_ATTR_call_callee].s);
  else
    wick_build_body(b, f, n, in, out);
}

bool wick_is_last(const wick_func *f, uint32_t i)
{
  const wick_node *n = &f->node[i], *after = &f->node[n->end];
  if (!wick_op_of(after)->terminator || after->nin != n->nout) return false;
  for (uint32_t k = 0; k < n->nout; k++)
    if (after->in[k].id != n->first.id + k) return false;
  if (after->op == WICK_OP_return) return true;
  uint32_t around = i - 1; /* the node that contains i */
  while (f->node[around].end <= i) around--;
  return f->node[around].op != WICK_OP_loop && wick_is_last(f, around);
}
