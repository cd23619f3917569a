/* Eliminates common subexpressions in one traversal, with a table of the nodes built so far. The
 * entries of a region are removed at its end. */
#include "graph/cse.h"

#include <string.h>

#include "base/hash.h"
#include "ir/call.h"
#include "ir/copy.h"

typedef struct cse_entry {
  const wick_node *node; /* in the old function */
  const wick_value *in;  /* its new operands */
  uint32_t next;         /* next entry of the same slot: index + 1 into the list; 0: none */
  uint32_t slot;
} cse_entry;

typedef struct cse_state {
  wick_copier c;
  wick_arena *mem;
  uint32_t *slot; /* index + 1 into the list */
  uint32_t nslot; /* a power of two */
  wick_list(cse_entry) entries;
  /* per constant of the module: the first one with equal bytes; 0: not yet known */
  uint32_t *constant;
  wick_effects effects;
} cse_state;

enum { CSE_SAMPLE = 4096 }; /* bytes of a constant that its hash reads; the comparison reads all */

/* ---- constants ---- */

static uint64_t cse_constant_hash(const cse_state *s, const wick_constant *k)
{
  uint64_t h = wick_hash_u64(WICK_HASH_SEED, k->type.id);
  if (k->deferred) return wick_hash_u64(h, s->constant[k->deferred->from]);
  size_t n = k->nbytes < CSE_SAMPLE ? (size_t)k->nbytes : CSE_SAMPLE;
  return wick_hash_bytes(h, k->data, n);
}

static bool cse_constant_eq(const cse_state *s, const wick_constant *a, const wick_constant *b)
{
  const wick_deferred_constant *x = a->deferred, *y = b->deferred;
  if (!wick_type_eq(a->type, b->type) || !x != !y) return false;
  if (!x) return memcmp(a->data, b->data, a->nbytes) == 0;
  return s->constant[x->from] == s->constant[y->from] && x->nparts == y->nparts &&
         x->make == y->make && x->other == y->other;
}

/* Finds, for each constant with data, or computed from another one, the first equal constant. */
static void cse_constants(cse_state *s)
{
  const wick_module *m = s->c.f->module;
  uint32_t n = m->constants.n, nslot = 16;
  s->constant = wick_new(s->mem, uint32_t, n);
  while (nslot < 2 * n) nslot *= 2;
  uint32_t *slot = wick_new(s->mem, uint32_t, nslot);
  for (uint32_t i = 1; i < n; i++) {
    const wick_constant *k = &m->constants.at[i];
    s->constant[i] = i;
    if (!k->data && !k->deferred) continue;
    uint64_t at = cse_constant_hash(s, k);
    for (;; at++) {
      uint32_t other = slot[at & (nslot - 1)];
      const wick_constant *o = other ? &m->constants.at[other] : NULL;
      if (!o) slot[at & (nslot - 1)] = i;
      if (o && !cse_constant_eq(s, o, k)) continue;
      if (o) s->constant[i] = other;
      break;
    }
  }
}

/* ---- attributes ---- */

static bool cse_attr_eq(const cse_state *s, wick_attr_kind kind, const wick_attr *a,
                        const wick_attr *b)
{
  wick_attr x = *a, y = *b; /* with constants replaced by the first ones with equal bytes */
  if (kind == WICK_ATTR_CONST) {
    x.imm.constant = s->constant[x.imm.constant];
    y.imm.constant = s->constant[y.imm.constant];
  }
  return wick_attr_eq(kind, &x, &y);
}

/* ---- nodes ---- */

static bool cse_takes_part(const cse_state *s, const wick_node *n)
{
  return !wick_op_of(n)->terminator && !n->nregion && n->nout && !wick_node_acts(&s->effects, n);
}

static uint64_t cse_hash(const cse_state *s, const wick_node *n, const wick_value *in)
{
  uint64_t h = wick_hash_u64(WICK_HASH_SEED, n->op);
  for (uint32_t k = 0; k < n->nin; k++) h = wick_hash_u64(h, in[k].id);
  h = wick_hash_u64(h, wick_type_of(s->c.f, n->first).id);
  if (n->op == WICK_OP_const) {
    const wick_imm *imm = wick_const_imm(n);
    uint64_t bits;
    memcpy(&bits, &imm->f, sizeof bits);
    h = wick_hash_u64(h, imm->constant ? s->constant[imm->constant] : bits ^ (uint64_t)imm->i);
  }
  return h;
}

static bool cse_same(const cse_state *s, const cse_entry *e, const wick_node *n,
                     const wick_value *in)
{
  const wick_node *o = e->node;
  if (o->op != n->op || o->nin != n->nin || o->nout != n->nout) return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (e->in[k].id != in[k].id) return false;
  for (uint32_t k = 0; k < n->nout; k++)
    if (!wick_type_eq(wick_type_of(s->c.f, (wick_value){o->first.id + k}),
                      wick_type_of(s->c.f, (wick_value){n->first.id + k})))
      return false;
  for (uint32_t k = 0; k < n->nattr; k++)
    if (!cse_attr_eq(s, wick_op_of(n)->attr[k].kind, &o->attr[k], &n->attr[k])) return false;
  return true;
}

/* Gives the names of n to the results of the equal node, if these have none. */
static void cse_take(cse_state *s, const wick_node *n, const wick_node *equal)
{
  for (uint32_t k = 0; k < n->nout; k++) {
    const wick_value_info *old = &s->c.f->value[n->first.id + k];
    wick_value to = s->c.to[n->first.id + k] = s->c.to[equal->first.id + k];
    if (to.id && !s->c.b.values.at[to.id].name)
      wick_build_name(&s->c.b, to, old->name, old->relation);
  }
}

static void cse_node(cse_state *s, const wick_node *n)
{
  wick_value *in = wick_new(s->mem, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = s->c.to[n->in[k].id];
  uint32_t slot = (uint32_t)(cse_hash(s, n, in) & (s->nslot - 1));
  for (uint32_t e = s->slot[slot]; e; e = s->entries.at[e - 1].next)
    if (cse_same(s, &s->entries.at[e - 1], n, in)) {
      cse_take(s, n, s->entries.at[e - 1].node);
      return;
    }
  wick_push(s->mem, &s->entries, (cse_entry){n, in, s->slot[slot], slot});
  s->slot[slot] = s->entries.n;
  wick_copy_node(&s->c, n);
}

static void cse_leave(cse_state *s, uint32_t nentry)
{
  while (s->entries.n > nentry) {
    cse_entry *e = &s->entries.at[--s->entries.n];
    s->slot[e->slot] = e->next;
  }
}

wick_status wick_pass_cse(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  cse_state s = {.mem = mem, .nslot = 16, .effects = wick_effects_of(f->module, mem)};
  while (s.nslot < 2 * f->nnode) s.nslot *= 2;
  s.c = wick_copy_begin(f, mem);
  s.slot = wick_new(mem, uint32_t, s.nslot);
  cse_constants(&s);
  uint32_t depth = 0, *outside = wick_new(mem, uint32_t, WICK_MAX_DEPTH + 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    /* number of entries at the beginning of its first region */
    if (n->nregion) outside[depth++] = s.entries.n;
    if (cse_takes_part(&s, n))
      cse_node(&s, n);
    else
      wick_copy_node(&s.c, n);
    if (n->op != WICK_OP_yield) continue;
    cse_leave(&s, outside[depth - 1]);
    if (s.c.open.n < depth) depth--; /* the last region has ended: the node is closed */
  }
  return wick_copy_finish(&s.c, out);
}
