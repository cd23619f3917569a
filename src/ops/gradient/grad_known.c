/* Values that a derivative may look at, because they are computed from constants alone: indices that a program
 * writes out, wraps and clips. Their operators' references compute them. */
#include <string.h>

#include "ir/op.h"
#include "ops/elementwise/scalar.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"

enum { KNOWN_NUMEL = 1 << 16 }; /* most elements of one value */

typedef struct known {
  const wick_builder *b;
  wick_arena *mem;
  bool *needed;     /* per value */
  wick_tensor *has; /* per value that is computed */
  uint32_t pending; /* values that are needed and whose nodes have not been found */
} known;

static void known_need(known *k, wick_value v)
{
  if (!v.id || k->needed[v.id]) return;
  k->needed[v.id] = true;
  k->pending++;
}

/* Returns whether the node's result follows from its operands, and is small. */
static bool known_follows(const known *k, const wick_node *n)
{
  const wick_type_info *t = wick_built_info(k->b, n->first);
  int64_t dim[WICK_MAX_RANK], numel = 1;
  if (n->nout != 1 || n->nregion || t->kind != WICK_TENSOR || t->elem == WICK_STRING ||
      !wick_type_const_dims(t, dim))
    return false;
  for (uint32_t i = 0; i < t->rank; i++)
    if (dim[i] > KNOWN_NUMEL || (numel *= dim[i]) > KNOWN_NUMEL) return false;
  return n->op == WICK_OP_const || (wick_ref_of(n->op) && wick_op_of(n)->effect == WICK_PURE);
}

/* Marks what v is computed from. Returns the index of the first node of these; the number of nodes if it does not
 * follow from constants. */
static uint32_t known_mark(known *k, wick_value v)
{
  uint32_t i = k->b->nodes.n;
  known_need(k, v);
  while (k->pending && i-- > 0) {
    const wick_node *n = &k->b->nodes.at[i];
    bool any = false;
    for (uint32_t o = 0; o < n->nout; o++) any = any || k->needed[n->first.id + o];
    if (!any) continue;
    if (!known_follows(k, n)) return k->b->nodes.n;
    k->pending--;
    for (uint32_t o = 0; o < n->nin; o++) known_need(k, n->in[o]);
  }
  return k->pending ? k->b->nodes.n : i;
}

static bool known_const(const known *k, const wick_node *n, wick_tensor *out)
{
  const wick_imm *imm = wick_const_imm(n);
  bool is_float = wick_elem_is_float(out->elem);
  uint64_t numel = wick_ref_numel(out);
  wick_scalar x = is_float ? (wick_scalar){.f = imm->f} : (wick_scalar){.i = imm->i};
  const void *data = imm->constant ? wick_constant_bytes(k->b->module, imm->constant) : NULL;
  if (data) memcpy(out->data, data, wick_elem_bytes(out->elem, numel));
  for (uint64_t i = 0; !imm->constant && i < numel; i++)
    wick_store_elem(out->elem, out->data, i, x);
  return data || !imm->constant;
}

/* Computes the result of n; those of its operands are there. */
static bool known_compute(known *k, const wick_node *n)
{
  wick_tensor *out = &k->has[n->first.id], *in = wick_new(k->mem, wick_tensor, n->nin + 1u);
  const wick_type_info *t = wick_built_info(k->b, n->first);
  out->elem = t->elem, out->rank = t->rank;
  wick_type_const_dims(t, out->dim);
  uint64_t nbytes = wick_elem_bytes(t->elem, wick_ref_numel(out));
  out->data = memset(wick_arena_alloc(k->mem, nbytes, 64), 0, nbytes);
  if (n->op == WICK_OP_const) return known_const(k, n, out);
  for (uint32_t i = 0; i < n->nin; i++) in[i] = k->has[n->in[i].id];
  wick_ref r = {.op = n->op,
                .mem = k->mem,
                .module = k->b->module,
                .attr = n->attr,
                .location = "",
                .nin = n->nin,
                .nout = 1,
                .in = in,
                .out = out};
  return !wick_ref_of(n->op)(&r);
}

const wick_tensor *wick_grad_known(const wick_builder *b, wick_value v, wick_arena *mem)
{
  known k = {.b = b, .mem = mem};
  k.needed = wick_new(mem, bool, b->values.n);
  uint32_t first = known_mark(&k, v);
  if (first == b->nodes.n) return NULL;
  k.has = wick_new(mem, wick_tensor, b->values.n);
  for (uint32_t i = first; i < b->nodes.n && !k.has[v.id].data; i++) {
    const wick_node *n = &b->nodes.at[i];
    if (n->nout == 1 && k.needed[n->first.id] && !known_compute(&k, n)) return NULL;
  }
  return k.has[v.id].data ? &k.has[v.id] : NULL;
}
