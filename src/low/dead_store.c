/* Removes dead stores. The buffers of the caller are live; an instruction that writes a live buffer
 * makes the buffers live that it reads. */
#include "low/dead_store.h"

#include "ir/call.h"
#include "ir/copy.h"
#include "low/alias.h"

typedef struct dead_store {
  wick_alias a;
  bool *wanted;             /* per root, by its class: its contents are needed */
  bool *live;               /* per node: it is kept */
  wick_list(uint32_t) todo; /* roots that have become live */
} dead_store;

static uint32_t dead_store_root(const dead_store *d, wick_value v)
{
  uint32_t root = d->a.memref[v.id].root.id;
  return d->a.tied[root] ? d->a.tied[root] : root;
}

static void dead_store_want(dead_store *d, wick_value v, wick_arena *tmp)
{
  uint32_t root = dead_store_root(d, v);
  if (!root || d->wanted[root]) return;
  d->wanted[root] = true;
  wick_push(tmp, &d->todo, root);
}

static void dead_store_keep(dead_store *d, uint32_t i, wick_arena *tmp)
{
  const wick_node *n = &d->a.f->node[i];
  if (d->live[i]) return;
  d->live[i] = true;
  for (uint32_t k = 0; k < n->nin; k++) {
    bool reads, writes;
    wick_low_effect(d->a.f, n, k, &reads, &writes);
    if (n->in[k].id && (reads || !wick_op_of(n)->launched)) dead_store_want(d, n->in[k], tmp);
  }
}

static void dead_store_find(dead_store *d, wick_arena *tmp)
{
  const wick_func *f = d->a.f;
  bool says = wick_module_says(f->module);
  for (uint32_t v = 1; v <= f->nparam; v++)
    if (f->qual[v - 1] != WICK_IN) dead_store_want(d, (wick_value){v}, tmp);
  for (uint32_t i = 0; i < f->nnode; i++)
    if (wick_op_of(&f->node[i])->launched ? says && wick_kernel_says(f, &f->node[i], tmp)
                                          : f->node[i].op != WICK_OP_view)
      dead_store_keep(d, i, tmp);
  while (d->todo.n) {
    const wick_access_list *list = &d->a.access[d->todo.at[--d->todo.n]];
    for (uint32_t i = 0; i < list->n; i++)
      if (list->at[i].writes) dead_store_keep(d, list->at[i].node, tmp);
  }
}

wick_status wick_pass_dead_store(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *tmp = pass->tmp;
  wick_mark mark = wick_arena_mark(tmp);
  dead_store d = {.a = wick_alias_of(f, tmp)};
  d.wanted = wick_new(tmp, bool, f->nvalue + 1);
  d.live = wick_new(tmp, bool, f->nnode);
  dead_store_find(&d, tmp);
  wick_copier c = wick_copy_begin(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++)
    if (d.live[i] || !wick_op_of(&f->node[i])->launched) wick_copy_node(&c, &f->node[i]);
  wick_arena_rewind(tmp, mark);
  return wick_copy_finish(&c, out);
}
