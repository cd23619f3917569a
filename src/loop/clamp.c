/* Walks from a value to the nodes that define it. */
#include "loop/clamp.h"

static const wick_node *clamp_def(const wick_func *f, const uint32_t *definer, wick_value v)
{
  uint32_t d = definer[v.id];
  return d == UINT32_MAX ? NULL : &f->node[d];
}

bool wick_splat_number(const wick_func *f, const uint32_t *definer, wick_value v, wick_scalar *out)
{
  const wick_node *n = clamp_def(f, definer, v);
  while (n && n->op == WICK_OP_broadcast) n = clamp_def(f, definer, v = n->in[0]);
  if (!n || n->op != WICK_OP_const || wick_const_imm(n)->constant) return false;
  bool is_float = wick_elem_is_float(wick_info_of(f, v)->elem);
  *out = is_float ? (wick_scalar){.f = wick_const_imm(n)->f}
                  : (wick_scalar){.i = wick_const_imm(n)->i};
  return true;
}

bool wick_clamp_of(const wick_func *f, const uint32_t *definer, wick_value v, wick_clamp *out)
{
  const wick_node *outer = clamp_def(f, definer, v);
  if (!outer || (outer->op != WICK_OP_min && outer->op != WICK_OP_max) ||
      !wick_elem_is_int(wick_info_of(f, v)->elem))
    return false;
  const wick_node *inner = clamp_def(f, definer, outer->in[0]);
  wick_opcode other = outer->op == WICK_OP_min ? WICK_OP_max : WICK_OP_min;
  wick_scalar a, b;
  if (!inner || inner->op != other || !wick_splat_number(f, definer, outer->in[1], &a) ||
      !wick_splat_number(f, definer, inner->in[1], &b))
    return false;
  *out = (wick_clamp){inner->in[0], b.i, a.i};
  if (outer->op == WICK_OP_max) out->lo = a.i, out->hi = b.i;
  return out->lo <= out->hi;
}

bool wick_clamp_of_bytes(const wick_func *f, const uint32_t *definer, wick_value v, wick_elem to,
                         wick_clamp *out)
{
  if ((to != WICK_I8 && to != WICK_U8) || wick_info_of(f, v)->elem != WICK_I32 ||
      !wick_clamp_of(f, definer, v, out))
    return false;
  return to == WICK_I8 ? out->lo >= INT8_MIN && out->hi <= INT8_MAX
                       : out->lo >= 0 && out->hi <= UINT8_MAX;
}
