/* One walk: every value is known plain, packed or both; a node takes what suits it, as its row
 * says, and conversions are built where they are missing. */
#include "graph/layout/block.h"

#include "ops/layout.h"

static bool block_node(wick_layouts *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  s->c.b.loc = n->loc;
  if (op->layout) return op->layout(s, n);
  if (op->scalar) return wick_layout_scalar(s, n);
  return op->view && n->nin && wick_layout_same(s, n);
}

wick_status wick_pass_block(const wick_func *f, const wick_target *t, bool strict,
                            wick_records *records, wick_arena *mem, wick_func **out)
{
  wick_layouts s = {
      .mem = mem, .target = t, .block = t->vector_bytes / 4, .strict = strict, .records = records};
  s.c = wick_copy_begin(f, mem);
  s.packed = wick_new(mem, wick_packed, f->nvalue + 1);
  s.second = wick_new(mem, wick_packed, f->nvalue + 1);
  s.weights = wick_new(mem, wick_value, f->nvalue + 1);
  s.definer = wick_definers_of(f, mem);
  s.uses = wick_uses_of(f, mem);
  bool flat = s.block > 1;
  for (uint32_t i = 0; i < f->nnode; i++) flat = flat && !f->node[i].nregion;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (flat && block_node(&s, n)) continue;
    for (uint32_t k = 0; k < n->nin; k++) wick_layout_plain(&s, n->in[k]);
    wick_copy_node(&s.c, n);
  }
  WICK_TRY(s.failed);
  return wick_copy_finish(&s.c, out);
}
