/* Transformations are expanded in the order of a depth-first walk over the functions that are
 * transformed. A function may be transformed if neither it nor a function that it calls contains
 * a transformation. */
#include "graph/expand_transformations.h"

#include <string.h>

#include "graph/defunctionalize.h"
#include "graph/grad/transform.h"
#include "graph/partial_eval.h"
#include "graph/vmap/vmap.h"
#include "ir/copy.h"

static const struct {
  wick_opcode op;
  /* Builds the node's results on the operands c->to[..], and sets c->to of its results. The callee,
   * and all functions that it calls, contain no transformations. */
  void (*expand)(wick_copier *c, const wick_node *n);
} expand_table[] = {
    {WICK_OP_value_and_grad, wick_expand_value_and_grad},
    {WICK_OP_vjp, wick_expand_vjp},
    {WICK_OP_jvp, wick_expand_jvp},
    {WICK_OP_vmap, wick_expand_vmap},
};

static uint32_t expand_row(wick_opcode op)
{
  uint32_t i = 0;
  while (i < WICK_COUNT(expand_table) && expand_table[i].op != op) i++;
  return i;
}

static bool expand_is(const wick_node *n) { return expand_row(n->op) < WICK_COUNT(expand_table); }

static bool expand_is_mark(const wick_node *n)
{
  return n->op == WICK_OP_stop_gradient || n->op == WICK_OP_checkpoint || n->op == WICK_OP_with_vjp;
}

static bool expand_is_function(const wick_node *n)
{
  return n->op == WICK_OP_closure || n->op == WICK_OP_apply;
}

bool wick_has_transformations(const wick_module *m)
{
  for (uint32_t i = 0; i < m->funcs.n; i++) {
    const wick_func *f = m->funcs.at[i];
    for (uint32_t k = 0; k < f->nnode; k++)
      if (expand_is(&f->node[k]) || expand_is_mark(&f->node[k])) return true;
  }
  return false;
}

enum { EXPAND_DEPTH = 1000 }; /* most functions that call one another in a row */

typedef wick_list(const char *) expand_list; /* of names, which are interned */

typedef struct expand {
  const wick_pass_context *pass;
  wick_module *m;
  wick_arena *mem;
  expand_list path;           /* the functions that are being expanded */
  wick_list(bool) transforms; /* for each of them: it transforms the next one */
  expand_list done, named;    /* named: by transformations, directly or through others */
} expand;

/* ---- the order ---- */

/* Returns the index of a name among n names, or n. */
static uint32_t expand_find(uint32_t n, const char *const *at, const char *name)
{
  uint32_t i = 0;
  while (i < n && at[i] != name) i++;
  return i;
}

/* The path from function i of the path comes back to it. Fails if a transformation is on the way.
 */
static wick_status expand_cycle(expand *e, uint32_t from)
{
  bool transforms = false;
  wick_text t = wick_text_begin(e->mem);
  for (uint32_t i = from; i < e->path.n; i++) {
    transforms = transforms || e->transforms.at[i];
    wick_text_printf(&t, "%s@%s, which %s ",
                     i > from ? "" : "a cycle through transformations: ", e->path.at[i],
                     e->transforms.at[i] ? "transforms" : "calls");
  }
  if (!transforms) return NULL;
  return wick_fail(e->mem, WICK_EUNSUPPORTED, NULL, "%s@%s", t.at, e->path.at[from]);
}

/* Replaces function values in the new function f that transformations have given: known ones are called
 * directly, or written out where they are passed. If f is transformed, the others become data. */
static wick_status expand_functions(expand *e, const wick_func *f)
{
  bool has = false;
  wick_func *out;
  const char *name = f->name;
  for (uint32_t i = 0; i < f->nnode; i++) has = has || expand_is_function(&f->node[i]);
  if (!has) return NULL;
  WICK_TRY(wick_pass_partial_eval(e->pass, f, &out));
  wick_module_set(e->m, out);
  has = false;
  for (uint32_t i = 0; i < out->nnode; i++) has = has || expand_is_function(&out->node[i]);
  if (!has || expand_find(e->named.n, e->named.at, name) == e->named.n) return NULL;
  uint32_t first = 0;
  while (e->m->funcs.at[first]->level != WICK_GRAPH) first++;
  return wick_pass_defunctionalize(e->pass, e->m->funcs.at[first], &out);
}

static wick_status expand_nodes(expand *e, const wick_func *f)
{
  wick_func *out;
  wick_copier c = wick_copy_begin(f, e->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!expand_is(n) || c.b.status) {
      wick_copy_node(&c, n);
      continue;
    }
    c.b.loc = n->loc;
    expand_table[expand_row(n->op)].expand(&c, n);
    for (uint32_t k = 0; k < n->nout && !c.b.status; k++) {
      const wick_value_info *old = &f->value[n->first.id + k];
      wick_value *to = &c.to[n->first.id + k];
      if (old->name && c.b.values.at[to->id].name) *to = wick_build_again(&c.b, *to);
      if (old->name) wick_build_name(&c.b, *to, old->name, old->relation);
    }
  }
  WICK_TRY(wick_copy_finish(&c, &out));
  wick_module_set(f->module, out);
  return expand_functions(e, out);
}

/* Expands the function of this name, after those that it calls or transforms. */
static wick_status expand_visit(expand *e, const char *name)
{
  uint32_t at = expand_find(e->path.n, e->path.at, name);
  const wick_func *f = wick_module_find(e->m, name);
  if (at < e->path.n) return expand_cycle(e, at);
  if (!f || f->level != WICK_GRAPH || expand_find(e->done.n, e->done.at, name) < e->done.n)
    return NULL;
  if (e->path.n == EXPAND_DEPTH)
    return wick_fail(e->mem, WICK_ELIMIT, NULL, "more than %d functions call one another in a row",
                     EXPAND_DEPTH);
  bool acts = false;
  wick_push(e->mem, &e->path, f->name);
  wick_push(e->mem, &e->transforms, false);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    acts = acts || expand_is(n);
    for (uint32_t k = 0; k < n->nattr; k++) {
      if (wick_op_of(n)->attr[k].kind != WICK_ATTR_FUNC) continue;
      e->transforms.at[e->path.n - 1] = expand_is(n);
      WICK_TRY(expand_visit(e, n->attr[k].s));
    }
    const wick_func *now = wick_module_find(e->m, name);
    if (now && now != f) f = now, i = UINT32_MAX, acts = false; /* function values became data */
  }
  e->path.n--, e->transforms.n--;
  wick_push(e->mem, &e->done, f->name);
  return acts ? expand_nodes(e, f) : NULL;
}

/* ---- marks, and functions that are no longer used ---- */

static wick_status expand_marks(const wick_func *f, wick_arena *mem)
{
  wick_func *out;
  bool acts = false;
  for (uint32_t i = 0; i < f->nnode; i++) acts = acts || expand_is_mark(&f->node[i]);
  if (!acts) return NULL;
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    wick_node *n = wick_dup(mem, wick_node, &f->node[i], 1);
    if (n->op == WICK_OP_stop_gradient) {
      wick_value *to = &c.to[n->first.id];
      const wick_value_info *old = &f->value[n->first.id];
      *to = c.to[n->in[0].id];
      if (!old->name || c.b.status) continue;
      *to = wick_build_again(&c.b, *to);
      wick_build_name(&c.b, *to, old->name, old->relation);
      continue;
    }
    if (expand_is_mark(n)) n->op = WICK_OP_call, n->nattr = 1;
    wick_copy_node(&c, n);
  }
  WICK_TRY(wick_copy_finish(&c, &out));
  wick_module_set(f->module, out);
  return NULL;
}

/* Adds the functions to the list that f names, directly or through others, each once; of f itself
 * only those that transformations name, if `transformed`. */
static void expand_reach(expand *e, const wick_func *f, bool transformed, expand_list *out)
{
  uint32_t at = out->n;
  for (bool first = true; f; first = false) {
    for (uint32_t i = 0; i < f->nnode; i++) {
      const wick_node *n = &f->node[i];
      for (uint32_t k = 0; k < n->nattr; k++) {
        if (wick_op_of(n)->attr[k].kind != WICK_ATTR_FUNC) continue;
        if (first && transformed && !expand_is(n) && !expand_is_mark(n)) continue;
        if (expand_find(out->n, out->at, n->attr[k].s) == out->n)
          wick_push(e->mem, out, n->attr[k].s);
      }
    }
    f = NULL;
    while (at < out->n && !f) f = wick_module_find(e->m, out->at[at++]);
  }
}

/* Removes the functions of a list, and those that did not exist before, unless others reach them. */
static void expand_drop(expand *e, expand_list *list, const expand_list *before)
{
  expand_list used = {0};
  for (uint32_t i = 0; i < e->m->funcs.n; i++)
    if (expand_find(before->n, before->at, e->m->funcs.at[i]->name) == before->n)
      wick_push(e->mem, list, e->m->funcs.at[i]->name);
  for (uint32_t i = 0; i < e->m->funcs.n; i++) {
    const wick_func *f = e->m->funcs.at[i];
    bool entry = strcmp(f->name, "main") == 0;
    if (entry || expand_find(list->n, list->at, f->name) == list->n)
      expand_reach(e, f, false, &used);
  }
  for (uint32_t i = 0; i < list->n; i++)
    if (strcmp(list->at[i], "main") != 0 && expand_find(used.n, used.at, list->at[i]) == used.n)
      wick_module_remove(e->m, list->at[i]);
}

wick_status wick_pass_expand_transformations(const wick_pass_context *pass, const wick_func *f,
                                             wick_func **out)
{
  wick_module *m = f->module;
  expand e = {.pass = pass, .m = m, .mem = pass->mem};
  expand_list before = {0};
  for (uint32_t i = 0; i < m->funcs.n; i++) expand_reach(&e, m->funcs.at[i], true, &e.named);
  *out = (wick_func *)(uintptr_t)f;
  if (!e.named.n) return NULL;
  for (uint32_t i = 0; i < m->funcs.n; i++) wick_push(e.mem, &before, m->funcs.at[i]->name);
  const char *name = f->name;
  for (uint32_t i = 0; i < before.n; i++) WICK_TRY(expand_visit(&e, before.at[i]));
  for (uint32_t i = 0; i < m->funcs.n; i++) WICK_TRY(expand_marks(m->funcs.at[i], pass->mem));
  expand_drop(&e, &e.named, &before);
  *out = (wick_func *)(uintptr_t)wick_module_find(m, name); /* NULL: it has gone */
  return NULL;
}
