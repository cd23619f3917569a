/* Inserts frees at the end of each buffer's life, in the region that defines the buffer. */
#include "low/insert_frees.h"

#include "ir/copy.h"
#include "low/alias.h"

/* after[i]: the first root that is freed after node i; next: per root, the next one after the
 * same node. */
typedef struct insert_frees_lists {
  uint32_t *after, *next;
} insert_frees_lists;

/* Finds the last access other than `free`, as a node of the region that defines the root. */
static bool insert_frees_last(const wick_alias *a, wick_value root, uint32_t *out)
{
  const wick_access_list *list = &a->access[root.id];
  uint32_t scope = wick_alias_scope(a, root);
  for (uint32_t i = list->n; i-- > 0;) {
    uint32_t at = list->at[i].node;
    if (a->f->node[at].op == WICK_OP_free) continue;
    while (a->parent[at] != scope) at = a->parent[at];
    *out = a->f->node[at].end - 1;
    return true;
  }
  return false;
}

static insert_frees_lists insert_frees_find(const wick_alias *a, wick_arena *tmp)
{
  const wick_func *f = a->f;
  insert_frees_lists l = {wick_new(tmp, uint32_t, f->nnode),
                          wick_new(tmp, uint32_t, f->nvalue + 1)};
  for (uint32_t v = f->nvalue; v >= 1; v--) {
    wick_value root = {v};
    uint32_t last;
    if (a->memref[v].root.id != v || a->tied[v]) continue;
    if (!wick_alias_planned(f, a->definer, root) || !insert_frees_last(a, root, &last)) continue;
    l.next[v] = l.after[last];
    l.after[last] = v;
  }
  return l;
}

wick_status wick_pass_insert_frees(const wick_pass_context *pass, const wick_func *f,
                                   wick_func **out)
{
  wick_arena *tmp = pass->tmp;
  wick_mark mark = wick_arena_mark(tmp);
  wick_alias a = wick_alias_of(f, tmp);
  insert_frees_lists l = insert_frees_find(&a, tmp);
  wick_copier c = wick_copy_begin(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    bool old = n->op == WICK_OP_free && !a.tied[a.memref[n->in[0].id].root.id];
    if (!old) wick_copy_node(&c, n);
    for (uint32_t v = l.after[i]; v; v = l.next[v])
      wick_build(&c.b, WICK_OP_free, 1, &c.to[v], NULL, 0, NULL);
  }
  wick_arena_rewind(tmp, mark);
  return wick_copy_finish(&c, out);
}
