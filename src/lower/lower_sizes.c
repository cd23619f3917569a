/* Builds the loop function that computes dimension expressions by integer arithmetic. */
#include "lower/lower_sizes.h"

#define SIZES_MOST 0x1p62             /* bound of the results */
#define SIZES_SURE ((int64_t)1 << 61) /* numbers up to this bound need no guard */

wick_sizes wick_sizes_begin(const wick_func *f, wick_arena *mem)
{
  wick_sizes s = {.module = f->module, .mem = mem, .slot = wick_func_sizes(f, mem)};
  s.nsymbol = s.slot.n;
  return s;
}

uint32_t wick_sizes_slot(wick_sizes *s, wick_dim d)
{
  for (uint32_t i = 0; i < s->slot.n; i++)
    if (wick_dim_eq(s->slot.at[i], d)) return i;
  wick_push(s->mem, &s->slot, d);
  return s->slot.n - 1;
}

/* ---- the function ---- */

typedef struct sizes_code {
  const wick_sizes *s;
  wick_builder b;
  wick_value table;
  wick_value large; /* true if a size was too large; 0: none can be */
  wick_list(struct sizes_known {
    wick_dim d;
    wick_value v;
  }) known;
  wick_arena *tmp;
} sizes_code;

static wick_value sizes_value(sizes_code *c, wick_dim d);

/* Divides and rounds down, as dimension expressions do. The remainder, which has the divisor's
 * sign, is subtracted first. */
static wick_value sizes_divided(sizes_code *c, const wick_atom *a)
{
  wick_builder *b = &c->b;
  int64_t lo[2], hi[2];
  wick_value x = sizes_value(c, a->arg[0]), y = sizes_value(c, a->arg[1]);
  for (uint32_t i = 0; i < 2; i++) wick_dim_range(c->s->module->dims, a->arg[i], &lo[i], &hi[i]);
  bool bare = lo[0] >= 0 && lo[1] > 0;
  if (a->kind == WICK_ATOM_MOD)
    return wick_build2(b, bare ? WICK_OP_rem_unchecked : WICK_OP_mod, x, y);
  if (bare) return wick_build2(b, WICK_OP_div_unchecked, x, y);
  x = wick_build2(b, WICK_OP_sub, x, wick_build2(b, WICK_OP_mod, x, y));
  return wick_build2(b, WICK_OP_div, x, y);
}

static wick_value sizes_atom(sizes_code *c, uint32_t atom)
{
  const wick_atom *a = wick_dim_atom(c->s->module->dims, atom);
  if (a->kind == WICK_ATOM_FLOORDIV || a->kind == WICK_ATOM_MOD) return sizes_divided(c, a);
  if (a->kind == WICK_ATOM_SYMBOL) {
    wick_build_fail(&c->b, WICK_EUNSUPPORTED, "the size %s follows from no input", a->name);
    return (wick_value){0};
  }
  wick_value v = sizes_value(c, a->arg[0]);
  for (uint32_t i = 1; i < a->narg; i++)
    v = wick_build2(&c->b, a->kind == WICK_ATOM_MIN ? WICK_OP_min : WICK_OP_max, v,
                    sizes_value(c, a->arg[i]));
  return v;
}

/* Computes the same in f64, where sums and products do not wrap, and sets `large` if the result is
 * too large. */
static void sizes_guard(sizes_code *c, wick_opcode op, wick_value x, wick_value y)
{
  wick_builder *b = &c->b;
  wick_type f64 = wick_type_scalar(c->s->module, WICK_F64, 1);
  wick_value in[2] = {x, y};
  for (uint32_t i = 0; i < 2; i++) in[i] = wick_build(b, WICK_OP_cast, 1, &in[i], NULL, 1, &f64);
  wick_value size = wick_build1(b, WICK_OP_abs, wick_build2(b, op, in[0], in[1]));
  wick_value over = wick_build2(b, WICK_OP_ge, size, wick_build_const(b, f64, SIZES_MOST, 0));
  c->large = c->large.id ? wick_build2(b, WICK_OP_or, c->large, over) : over;
}

static wick_value sizes_op(sizes_code *c, wick_opcode op, wick_value x, wick_value y, bool wide)
{
  if (wide && !c->b.status) sizes_guard(c, op, x, y);
  return wick_build2(&c->b, op, x, y);
}

static wick_value sizes_value(sizes_code *c, wick_dim d)
{
  if (c->b.status) return (wick_value){0};
  if (wick_dim_is_const(d)) return wick_build_i64(&c->b, d.v);
  for (uint32_t i = 0; i < c->known.n; i++)
    if (wick_dim_eq(c->known.at[i].d, d)) return c->known.at[i].v;
  wick_dim_form f = wick_dim_get(c->s->module->dims, d);
  int64_t lo, hi;
  wick_dim_range(c->s->module->dims, d, &lo, &hi);
  bool wide = lo < -SIZES_SURE || hi > SIZES_SURE;
  wick_value sum = wick_build_i64(&c->b, f.constant);
  if (wick_dim_eq(d, WICK_DIM_INVALID) || wick_dim_eq(d, WICK_DIM_ANY))
    wick_build_fail(&c->b, WICK_EUNSUPPORTED, "a size is too large");
  for (uint32_t i = 0; i < f.nterm && !c->b.status; i++) {
    wick_value v = wick_build_i64(&c->b, f.term[i].coef);
    for (uint32_t k = 0; k < f.term[i].natom; k++) {
      wick_dim one = wick_dim_from_atom(c->s->module->dims, f.term[i].atom[k]);
      wick_value x = wick_dim_eq(one, d) ? sizes_atom(c, f.term[i].atom[k]) : sizes_value(c, one);
      v = sizes_op(c, WICK_OP_mul, v, x, wide);
    }
    sum = sizes_op(c, WICK_OP_add, sum, v, wide);
  }
  wick_push(c->tmp, &c->known, (struct sizes_known){d, sum});
  return sum;
}

static void sizes_fail(sizes_code *c, wick_value bad, wick_code code, uint32_t detail)
{
  wick_build_failure(&c->b, code, bad, wick_build_i64(&c->b, detail), wick_dim_const(0));
}

static void sizes_checks(sizes_code *c, const wick_func *f)
{
  wick_builder *b = &c->b;
  for (uint32_t i = 0; i < c->s->nsymbol && !b->status; i++) {
    int64_t lo, hi;
    wick_value v = sizes_value(c, c->s->slot.at[i]);
    wick_dim_range(c->s->module->dims, c->s->slot.at[i], &lo, &hi);
    wick_value under = wick_build2(b, WICK_OP_lt, v, wick_build_i64(b, lo));
    wick_value over = wick_build2(b, WICK_OP_gt, v, wick_build_i64(b, hi));
    sizes_fail(c, wick_build2(b, WICK_OP_or, under, over), WICK_ERANGE, i);
  }
  for (uint32_t i = 0; i < f->nconstraint && !b->status; i++) {
    if (f->constraint[i].branch) continue;
    wick_value x = sizes_value(c, f->constraint[i].a), y = sizes_value(c, f->constraint[i].b);
    sizes_fail(c, wick_build2(b, WICK_OP_ne, x, y), WICK_EINVAL, i);
  }
}

wick_status wick_sizes_function(const wick_sizes *s, const char *name, const wick_func *checked,
                                wick_arena *mem, wick_arena *tmp, const wick_func **out)
{
  sizes_code c = {.s = s, .tmp = tmp};
  wick_dim n = wick_dim_const((int64_t)s->slot.n + 1);
  wick_type i64 = wick_type_scalar(s->module, WICK_I64, 1);
  wick_build_begin(&c.b, s->module, WICK_LOOP, name, mem);
  c.table = wick_build_param(&c.b, wick_type_buffer(s->module, WICK_I64, 1, &n, WICK_IO),
                             WICK_INOUT, "table");
  for (uint32_t i = 0; i < s->slot.n && !c.b.status; i++) {
    wick_value in[3] = {c.table, wick_build_i64(&c.b, i), {0}};
    if (i < s->nsymbol) {
      wick_value v = wick_build(&c.b, WICK_OP_load, 2, in, NULL, 1, &i64);
      wick_push(tmp, &c.known, (struct sizes_known){s->slot.at[i], v});
    } else {
      in[2] = sizes_value(&c, s->slot.at[i]);
      if (!c.b.status) wick_build(&c.b, WICK_OP_store, 3, in, NULL, 0, NULL);
    }
  }
  wick_value last[3] = {c.table, wick_build_i64(&c.b, s->slot.n), wick_build_i64(&c.b, 0)};
  if (c.large.id && !c.b.status)
    last[2] = wick_build(&c.b, WICK_OP_cast, 1, &c.large, NULL, 1, &i64);
  wick_build(&c.b, WICK_OP_store, 3, last, NULL, 0, NULL);
  if (checked) sizes_checks(&c, checked);
  wick_build_return(&c.b, 0, NULL);
  wick_func *f;
  WICK_TRY(wick_build_end(&c.b, &f));
  *out = f;
  return NULL;
}
