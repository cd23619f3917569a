/* The values of number literals, and which element types have them. */
#include "lang/literal.h"

#include <math.h>

/* The number without its sign: a pattern's includes its minus. */
static uint64_t literal_magnitude(const wick_ast *n)
{
  return n->op == '-' ? 0 - (uint64_t)n->i : (uint64_t)n->i;
}

wick_scalar wick_literal_value(const wick_ast *n, wick_elem elem)
{
  wick_scalar v = {.i = n->i};
  if (!wick_elem_is_float(elem)) return v;
  double f = (double)literal_magnitude(n);
  v.f = n->kind == WICK_AST_FLOAT ? n->f : n->op == '-' ? -f : f;
  return v;
}

bool wick_literal_fits(const wick_ast *n, wick_elem elem)
{
  if (wick_elem_is_float(elem)) {
    wick_scalar v = wick_literal_value(n, elem);
    return isfinite(wick_round_elem(elem, v).f) || !isfinite(v.f);
  }
  if (n->kind != WICK_AST_INT || !wick_elem_is_int(elem)) return true;
  bool sign = wick_elem_class(elem) == WICK_SINT;
  uint32_t bits = wick_elem_storage[elem].bits - (sign ? 1u : 0u);
  uint64_t most = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
  if (n->flag) most = sign ? most + 1 : 0;
  return literal_magnitude(n) <= most;
}
