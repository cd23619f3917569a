/* Shape constraints: sizes that must be equal for a function's code to be correct, if ranges alone
 * do not imply it. Two constraints are equivalent if their differences are equal up to a factor. */
#include "ir/build.h"

bool wick_shape_constraints_imply(wick_dims *t, uint32_t n, const wick_shape_constraint *check,
                                  wick_dim a, wick_dim b)
{
  wick_dim d = n ? wick_dim_difference(t, a, b) : a, e = n ? wick_dim_difference(t, b, a) : b;
  for (uint32_t i = 0; i < n; i++) {
    if ((wick_dim_eq(check[i].a, a) && wick_dim_eq(check[i].b, b)) ||
        (wick_dim_eq(check[i].a, b) && wick_dim_eq(check[i].b, a)))
      return true;
    wick_dim have = wick_dim_difference(t, check[i].a, check[i].b);
    if (!wick_dim_eq(have, WICK_DIM_INVALID) && (wick_dim_eq(have, d) || wick_dim_eq(have, e)))
      return true;
  }
  return false;
}

static const char *shape_constraint_text(const wick_module *m, wick_dim d, wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  wick_dim_print(m->dims, d, &t);
  return t.at;
}

void wick_build_shape_constraint(wick_builder *b, wick_dim x, wick_dim y, wick_loc loc)
{
  wick_dims *t = b->module->dims;
  if (b->status || wick_dim_eq(x, y)) return;
  if (!wick_dim_may_equal(t, x, y)) {
    b->loc = loc;
    wick_build_fail(b, WICK_ETYPE, "sizes %s and %s differ",
                    shape_constraint_text(b->module, x, b->mem),
                    shape_constraint_text(b->module, y, b->mem));
    return;
  }
  if (!wick_shape_constraints_imply(t, b->constraints.n, b->constraints.at, x, y))
    wick_push(b->mem, &b->constraints, (wick_shape_constraint){x, y, loc, false});
}

wick_dim_list wick_build_branch_constraints(wick_builder *b, uint32_t from)
{
  wick_dim_list pairs = {0};
  for (uint32_t i = from; i < b->constraints.n; i++) {
    wick_shape_constraint check = b->constraints.at[i];
    check.branch = true;
    wick_push(b->mem, &b->branch_constraints, check);
    wick_push(b->mem, &pairs, check.a);
    wick_push(b->mem, &pairs, check.b);
  }
  b->constraints.n = from;
  return pairs;
}

void wick_build_taken(wick_builder *b, const wick_attr *pairs, wick_loc loc)
{
  for (uint32_t i = 0; i + 1 < pairs->n; i += 2) {
    uint32_t n = b->constraints.n, k = 0;
    while (k < n && (!wick_dim_eq(b->constraints.at[k].a, pairs->dims[i]) ||
                     !wick_dim_eq(b->constraints.at[k].b, pairs->dims[i + 1])))
      k++;
    if (k < n)
      b->constraints.at[k].branch = false;
    else
      wick_build_shape_constraint(b, pairs->dims[i], pairs->dims[i + 1], loc);
  }
}

void wick_build_keep_constraints(wick_builder *b, const wick_func *f)
{
  for (uint32_t i = 0; i < f->nconstraint; i++)
    wick_push(b->mem, &b->constraints, f->constraint[i]);
}

static wick_status shape_constraint_broken(const wick_func *f, const wick_shape_constraint *check,
                                           const int64_t have[2], uint32_t n, const wick_dim *sym,
                                           const int64_t *val, wick_arena *mem)
{
  wick_dim_list used = {0};
  wick_text sizes = wick_text_begin(mem);
  wick_dim_symbols(f->module->dims, check->a, mem, &used);
  wick_dim_symbols(f->module->dims, check->b, mem, &used);
  for (uint32_t i = 0; i < used.n; i++)
    for (uint32_t k = 0; k < n; k++)
      if (wick_dim_eq(sym[k], used.at[i]))
        wick_text_printf(&sizes, "%s%s = %lld", i ? ", " : "",
                         shape_constraint_text(f->module, sym[k], mem), (long long)val[k]);
  const char *location = check->loc.id ? wick_loc_text(f->module, check->loc) : f->name;
  return wick_fail(mem, WICK_ETYPE, location, "sizes %s and %s differ: %lld and %lld, for %s",
                   shape_constraint_text(f->module, check->a, mem),
                   shape_constraint_text(f->module, check->b, mem), (long long)have[0],
                   (long long)have[1], sizes.at);
}

wick_status wick_shape_constraints_hold(const wick_func *f, uint32_t n, const wick_dim *sym,
                                        const int64_t *val, wick_arena *mem)
{
  const wick_dims *t = f->module->dims;
  for (uint32_t i = 0; i < f->nconstraint; i++) {
    const wick_shape_constraint *check = &f->constraint[i];
    if (check->branch) continue;
    int64_t have[2] = {0, 0};
    if (!wick_dim_eval(t, check->a, n, sym, val, &have[0]) ||
        !wick_dim_eval(t, check->b, n, sym, val, &have[1]))
      return wick_fail(mem, WICK_ERANGE, wick_loc_text(f->module, check->loc),
                       "the sizes %s and %s cannot be computed",
                       shape_constraint_text(f->module, check->a, mem),
                       shape_constraint_text(f->module, check->b, mem));
    if (have[0] != have[1]) return shape_constraint_broken(f, check, have, n, sym, val, mem);
  }
  return NULL;
}
