/* Each operator has a rule that adds facts of its result. Integers wrap around: a rule that needs a
 * sum or a product without overflow proves that first. */
#include "loop/integer_facts.h"

void wick_integer_facts_begin(wick_integer_facts *s, const wick_func *f, wick_arena *mem)
{
  s->f = f;
  s->definer = wick_definers_of(f, mem);
  wick_differences_begin(&s->d, f->nvalue, mem);
}

bool wick_is_integer(const wick_integer_facts *s, wick_value v)
{
  const wick_type_info *t = wick_info_of(s->f, v);
  return t->kind == WICK_SCALAR && t->elem == WICK_I64 && t->lanes == 1;
}

const wick_node *wick_integer_definer(const wick_integer_facts *s, wick_value v)
{
  uint32_t i = s->definer[v.id];
  return i == UINT32_MAX ? NULL : &s->f->node[i];
}

static const wick_node *facts_definer_is(const wick_integer_facts *s, wick_value v, wick_opcode op)
{
  const wick_node *n = wick_integer_definer(s, v);
  return n && n->op == op ? n : NULL;
}

static wick_interval facts_interval(wick_integer_facts *s, wick_value v)
{
  return wick_difference_interval(&s->d, v.id);
}

void wick_integer_facts_within(wick_integer_facts *s, wick_value v, wick_interval x)
{
  if (x.hi != INT64_MAX) wick_difference_add(&s->d, v.id, 0, x.hi);
  if (x.lo != INT64_MIN) wick_difference_add(&s->d, 0, v.id, -x.lo);
}

/* ---- sums and differences ---- */

/* Adds v = x + y, which does not overflow. */
static void facts_sum(wick_integer_facts *s, wick_value v, wick_value x, wick_value y)
{
  wick_interval at = facts_interval(s, y);
  if (at.lo == at.hi) {
    wick_difference_equal(&s->d, v.id, x.id, at.lo);
    return;
  }
  if (at.hi != INT64_MAX) wick_difference_add(&s->d, v.id, x.id, at.hi);
  if (at.lo != INT64_MIN) wick_difference_add(&s->d, x.id, v.id, -at.lo);
}

static bool facts_sub_fits(wick_interval x, wick_interval y)
{
  int64_t c;
  return !wick_sub_overflows(x.lo, y.hi, &c) && !wick_sub_overflows(x.hi, y.lo, &c);
}

/* Adds v = x + y <= b + c for each fact x <= (b - y) + c with c < 0: x counts from 0 to the length of
 * a range that begins at y. Returns whether there was one: then the sum does not overflow. */
static bool facts_range(wick_integer_facts *s, wick_value v, wick_value x, wick_value y)
{
  bool found = false;
  for (uint32_t i = s->d.first_of_a[x.id]; i; i = s->d.fact.at[i].next_of_a) {
    wick_difference f = s->d.fact.at[i];
    const wick_node *length = f.b ? facts_definer_is(s, (wick_value){f.b}, WICK_OP_sub) : NULL;
    if (!length || length->in[1].id != y.id || f.c >= 0 ||
        !facts_sub_fits(facts_interval(s, length->in[0]), facts_interval(s, y)))
      continue;
    wick_difference_add(&s->d, v.id, length->in[0].id, f.c);
    found = true;
  }
  return found;
}

static void facts_add(wick_integer_facts *s, const wick_node *n)
{
  wick_value x = n->in[0], y = n->in[1], v = n->first;
  wick_interval a = facts_interval(s, x), b = facts_interval(s, y);
  int64_t c;
  bool range = facts_range(s, v, x, y);
  range = facts_range(s, v, y, x) || range;
  if (wick_add_overflows(a.lo, b.lo, &c) || (wick_add_overflows(a.hi, b.hi, &c) && !range)) return;
  facts_sum(s, v, x, y);
  facts_sum(s, v, y, x);
}

static void facts_sub(wick_integer_facts *s, const wick_node *n)
{
  wick_value x = n->in[0], y = n->in[1], v = n->first;
  wick_interval a = facts_interval(s, x), b = facts_interval(s, y), r = {INT64_MIN, INT64_MAX};
  if (!facts_sub_fits(a, b)) return;
  if (b.lo != INT64_MIN) wick_difference_add(&s->d, v.id, x.id, -b.lo);
  if (b.hi != INT64_MAX) wick_difference_add(&s->d, x.id, v.id, b.hi);
  if (!wick_difference_least(&s->d, x.id, y.id, &r.lo)) r.lo = INT64_MIN;
  if (!wick_difference_most(&s->d, x.id, y.id, &r.hi)) r.hi = INT64_MAX;
  wick_integer_facts_within(s, v, r);
}

/* ---- other operators ---- */

static void facts_const(wick_integer_facts *s, const wick_node *n)
{
  int64_t c = wick_const_imm(n)->i;
  if (!wick_const_imm(n)->constant) wick_difference_equal(&s->d, n->first.id, 0, c);
}

static void facts_mul(wick_integer_facts *s, const wick_node *n)
{
  wick_interval a = facts_interval(s, n->in[0]), b = facts_interval(s, n->in[1]), r = {0};
  int64_t x[2] = {a.lo, a.hi}, y[2] = {b.lo, b.hi};
  for (uint32_t i = 0; i < 4; i++) {
    int64_t c;
    if (wick_mul_overflows(x[i / 2], y[i % 2], &c)) return;
    if (!i || c < r.lo) r.lo = c;
    if (!i || c > r.hi) r.hi = c;
  }
  wick_integer_facts_within(s, n->first, r);
}

static int64_t facts_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t facts_larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void facts_extreme(wick_integer_facts *s, const wick_node *n)
{
  wick_interval a = facts_interval(s, n->in[0]), b = facts_interval(s, n->in[1]);
  bool max = n->op == WICK_OP_max;
  for (uint32_t k = 0; k < 2; k++)
    if (max)
      wick_difference_add(&s->d, n->in[k].id, n->first.id, 0);
    else
      wick_difference_add(&s->d, n->first.id, n->in[k].id, 0);
  wick_interval r = {max ? facts_larger(a.lo, b.lo) : facts_smaller(a.lo, b.lo),
                     max ? facts_larger(a.hi, b.hi) : facts_smaller(a.hi, b.hi)};
  wick_integer_facts_within(s, n->first, r);
}

/* Integers of fewer bits. */
static void facts_cast(wick_integer_facts *s, const wick_node *n)
{
  const wick_type_info *t = wick_info_of(s->f, n->in[0]);
  if (t->elem == WICK_BOOL || t->elem == WICK_U8)
    wick_integer_facts_within(s, n->first, (wick_interval){0, t->elem == WICK_U8 ? UINT8_MAX : 1});
  else if (t->elem == WICK_I8 || t->elem == WICK_I16 || t->elem == WICK_I32)
    wick_integer_facts_within(s, n->first, (wick_interval){INT32_MIN, INT32_MAX});
  else if (t->elem == WICK_U16 || t->elem == WICK_U32)
    wick_integer_facts_within(s, n->first, (wick_interval){0, UINT32_MAX});
}

static void facts_bit_and(wick_integer_facts *s, const wick_node *n)
{
  for (uint32_t k = 0; k < 2; k++) {
    if (facts_interval(s, n->in[k]).lo < 0) continue;
    wick_difference_add(&s->d, n->first.id, n->in[k].id, 0);
    wick_difference_add(&s->d, 0, n->first.id, 0);
  }
}

static void facts_div(wick_integer_facts *s, const wick_node *n)
{
  wick_interval a = facts_interval(s, n->in[0]), b = facts_interval(s, n->in[1]);
  if (a.lo < 0 || b.lo < 1) return;
  wick_difference_add(&s->d, n->first.id, n->in[0].id, 0);
  wick_integer_facts_within(s, n->first, (wick_interval){0, a.hi / b.lo});
}

/* The remainder has the sign of the dividend. */
static void facts_rem(wick_integer_facts *s, const wick_node *n)
{
  wick_interval a = facts_interval(s, n->in[0]), b = facts_interval(s, n->in[1]);
  if (b.lo < 1) return;
  if (a.lo >= 0) wick_difference_add(&s->d, n->first.id, n->in[0].id, 0);
  wick_integer_facts_within(s, n->first,
                            (wick_interval){a.lo >= 0 ? 0 : 1 - b.hi, a.hi <= 0 ? 0 : b.hi - 1});
}

void wick_integer_facts_beside(wick_integer_facts *s, wick_value v, wick_value y,
                               wick_interval apart)
{
  if (apart.lo != INT64_MIN) wick_difference_add(&s->d, y.id, v.id, -facts_smaller(apart.lo, 0));
  if (apart.hi != INT64_MAX) wick_difference_add(&s->d, v.id, y.id, facts_larger(apart.hi, 0));
}

wick_interval wick_integer_facts_apart(wick_integer_facts *s, wick_value x, wick_value y)
{
  wick_interval r;
  if (!wick_difference_least(&s->d, x.id, y.id, &r.lo)) r.lo = INT64_MIN;
  if (!wick_difference_most(&s->d, x.id, y.id, &r.hi)) r.hi = INT64_MAX;
  return r;
}

static void facts_where(wick_integer_facts *s, const wick_node *n)
{
  wick_interval x[2], apart[2];
  wick_truth known = wick_integer_facts_truth(s, n->in[0]);
  if (known) {
    wick_difference_equal(&s->d, n->first.id, n->in[known == WICK_TRUE ? 1 : 2].id, 0);
    return;
  }
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t mark = wick_differences_mark(&s->d);
    wick_integer_facts_assume(s, n->in[0], k == 0);
    x[k] = facts_interval(s, n->in[1 + k]);
    apart[k] = wick_integer_facts_apart(s, n->in[1 + k], n->in[2 - k]);
    wick_differences_rewind(&s->d, mark);
  }
  wick_integer_facts_within(
      s, n->first,
      (wick_interval){facts_smaller(x[0].lo, x[1].lo), facts_larger(x[0].hi, x[1].hi)});
  for (uint32_t k = 0; k < 2; k++) wick_integer_facts_beside(s, n->first, n->in[2 - k], apart[k]);
}

static const struct facts_rule {
  wick_opcode op;
  void (*add)(wick_integer_facts *s, const wick_node *n);
} facts_rules[] = {
    {WICK_OP_const, facts_const},       {WICK_OP_add, facts_add},
    {WICK_OP_sub, facts_sub},           {WICK_OP_mul, facts_mul},
    {WICK_OP_min, facts_extreme},       {WICK_OP_max, facts_extreme},
    {WICK_OP_cast, facts_cast},         {WICK_OP_bit_and, facts_bit_and},
    {WICK_OP_where, facts_where},       {WICK_OP_div_unchecked, facts_div},
    {WICK_OP_rem_unchecked, facts_rem},
};

void wick_integer_facts_define(wick_integer_facts *s, const wick_node *n)
{
  if (n->nout != 1 || !wick_is_integer(s, n->first)) return;
  for (uint32_t i = 0; i < WICK_COUNT(facts_rules); i++)
    if (facts_rules[i].op == n->op) facts_rules[i].add(s, n);
}

/* ---- what follows from a fact ---- */

void wick_integer_facts_add(wick_integer_facts *s, uint32_t a, uint32_t b, int64_t c)
{
  wick_difference_add(&s->d, a, b, c);
  const wick_node *n = b ? wick_integer_definer(s, (wick_value){b}) : NULL;
  if (!n) return;
  int64_t least;
  for (uint32_t k = 0; n->op == WICK_OP_max && k < 2; k++) /* a <= max(x, y) + c, and a > y + c */
    if (wick_difference_least(&s->d, a, n->in[k].id, &least) && least > c)
      wick_difference_add(&s->d, a, n->in[1 - k].id, c);
  if (n->op != WICK_OP_add || facts_interval(s, (wick_value){b}).lo < 0) return;
  /* A sum that wraps around, of a number and one that is not negative, is negative. */
  wick_interval x = facts_interval(s, n->in[0]), y = facts_interval(s, n->in[1]);
  if (x.lo < 0 && y.lo < 0) return;
  facts_sum(s, n->first, n->in[0], n->in[1]);
  facts_sum(s, n->first, n->in[1], n->in[0]);
}

/* ---- conditions ---- */

static const struct facts_order {
  wick_opcode op;
  bool swap; /* b <= a + c instead of a <= b + c */
  int64_t c;
} facts_orders[] = {
    {WICK_OP_lt, false, -1}, {WICK_OP_le, false, 0}, {WICK_OP_gt, true, -1}, {WICK_OP_ge, true, 0}};

bool wick_integer_comparison(const wick_integer_facts *s, const wick_node *n, bool holds,
                             wick_difference *out)
{
  for (uint32_t i = 0; i < WICK_COUNT(facts_orders); i++) {
    const struct facts_order *o = &facts_orders[i];
    if (n->op != o->op || !wick_is_integer(s, n->in[0])) continue;
    bool swap = o->swap == holds; /* not (a <= b + c): b <= a - c - 1 */
    *out = (wick_difference){
        .a = n->in[swap ? 1 : 0].id, .b = n->in[swap ? 0 : 1].id, .c = holds ? o->c : -o->c - 1};
    return true;
  }
  return false;
}

/* Returns whether n compares an integer, read without a sign, with a positive number: *out_size, which
 * is above all indices that are in range. */
static bool facts_is_index(const wick_integer_facts *s, const wick_node *n, wick_value *out_index,
                           int64_t *out_size)
{
  if (n->op != WICK_OP_ge && n->op != WICK_OP_lt) return false;
  const wick_node *cast = facts_definer_is(s, n->in[0], WICK_OP_cast),
                  *size = facts_definer_is(s, n->in[1], WICK_OP_const);
  if (!cast || !size || wick_info_of(s->f, n->in[0])->elem != WICK_U64 ||
      !wick_is_integer(s, cast->in[0]))
    return false;
  *out_index = cast->in[0];
  *out_size = wick_const_imm(size)->i;
  return *out_size > 0;
}

static wick_truth facts_index_truth(wick_integer_facts *s, const wick_node *n, wick_value index,
                                    int64_t size)
{
  wick_interval x = facts_interval(s, index);
  const wick_node *sum = facts_definer_is(s, index, WICK_OP_add);
  bool in = n->op == WICK_OP_lt;
  if (x.lo >= 0 && x.hi < size) return in ? WICK_TRUE : WICK_FALSE;
  bool out = x.lo >= size || x.hi < 0;
  for (uint32_t k = 0; sum && k < 2; k++) /* the sum may wrap around, but not to less than `size` */
    out = out ||
          (facts_interval(s, sum->in[k]).lo >= 0 && facts_interval(s, sum->in[1 - k]).lo >= size);
  if (!out) return WICK_UNKNOWN;
  return in ? WICK_FALSE : WICK_TRUE;
}

static wick_truth facts_not(wick_truth t)
{
  return t == WICK_UNKNOWN ? t : t == WICK_TRUE ? WICK_FALSE : WICK_TRUE;
}

static wick_truth facts_comparison_truth(wick_integer_facts *s, const wick_node *n)
{
  wick_value index;
  int64_t size, c;
  wick_difference t;
  if (facts_is_index(s, n, &index, &size)) return facts_index_truth(s, n, index, size);
  for (uint32_t holds = 0; holds < 2; holds++)
    if (wick_integer_comparison(s, n, holds, &t) && wick_difference_most(&s->d, t.a, t.b, &c) &&
        c <= t.c)
      return holds ? WICK_TRUE : WICK_FALSE;
  if ((n->op != WICK_OP_eq && n->op != WICK_OP_ne) || !wick_is_integer(s, n->in[0]))
    return WICK_UNKNOWN;
  wick_interval apart = wick_integer_facts_apart(s, n->in[0], n->in[1]);
  if (apart.lo > 0 || apart.hi < 0) return n->op == WICK_OP_eq ? WICK_FALSE : WICK_TRUE;
  if (apart.lo == 0 && apart.hi == 0) return n->op == WICK_OP_eq ? WICK_TRUE : WICK_FALSE;
  return WICK_UNKNOWN;
}

enum { FACTS_DEPTH = 8 }; /* of the conditions that are looked into */

static wick_truth facts_truth(wick_integer_facts *s, wick_value v, uint32_t depth)
{
  const wick_node *n = wick_integer_definer(s, v);
  if (!n || depth == FACTS_DEPTH) return WICK_UNKNOWN;
  if (n->op == WICK_OP_const && wick_info_of(s->f, v)->elem == WICK_BOOL)
    return wick_const_imm(n)->i ? WICK_TRUE : WICK_FALSE;
  if (n->op == WICK_OP_not) return facts_not(facts_truth(s, n->in[0], depth + 1));
  if (n->op != WICK_OP_and && n->op != WICK_OP_or)
    return n->nregion || n->nin != 2 ? WICK_UNKNOWN : facts_comparison_truth(s, n);
  wick_truth x = facts_truth(s, n->in[0], depth + 1), y = facts_truth(s, n->in[1], depth + 1),
             decides = n->op == WICK_OP_and ? WICK_FALSE : WICK_TRUE;
  if (x == decides || y == decides) return decides;
  return x && y ? facts_not(decides) : WICK_UNKNOWN;
}

wick_truth wick_integer_facts_truth(wick_integer_facts *s, wick_value v)
{
  return facts_truth(s, v, 0);
}

static void facts_assume(wick_integer_facts *s, wick_value v, bool truth, uint32_t depth);

/* One of two cases gave the value `truth`: if the other one cannot have, it was this one. */
static void facts_assume_case(wick_integer_facts *s, const wick_node *n, const wick_value *of,
                              bool truth, uint32_t depth)
{
  for (uint32_t k = 0; k < 2; k++) {
    if (facts_truth(s, of[1 - k], depth) != (truth ? WICK_FALSE : WICK_TRUE)) continue;
    facts_assume(s, n->in[0], k == 0, depth + 1);
    for (uint32_t i = n->nregion ? n->region[k].begin : 0; n->nregion && i < n->region[k].end;
         i = s->f->node[i].end)
      wick_integer_facts_define(s, &s->f->node[i]);
    facts_assume(s, of[k], truth, depth + 1);
    return;
  }
}

static void facts_assume_equal(wick_integer_facts *s, const wick_node *n, bool equal,
                               uint32_t depth)
{
  wick_value x = n->in[0], y = n->in[1];
  if (wick_info_of(s->f, x)->elem == WICK_BOOL) { /* x is what y is known to be, or is not */
    wick_truth t = facts_truth(s, y, depth);
    if (t) facts_assume(s, x, equal == (t == WICK_TRUE), depth + 1);
    return;
  }
  if (!wick_is_integer(s, x)) return;
  if (equal) {
    wick_integer_facts_add(s, x.id, y.id, 0);
    wick_integer_facts_add(s, y.id, x.id, 0);
    return;
  }
  wick_interval apart = wick_integer_facts_apart(s, x, y);
  if (apart.lo == 0) wick_integer_facts_add(s, y.id, x.id, -1);
  if (apart.hi == 0) wick_integer_facts_add(s, x.id, y.id, -1);
}

static void facts_assume_comparison(wick_integer_facts *s, const wick_node *n, bool truth,
                                    uint32_t depth)
{
  wick_difference t;
  wick_value index;
  int64_t size, c;
  if (facts_is_index(s, n, &index, &size)) {
    if (truth == (n->op == WICK_OP_lt)) {
      wick_integer_facts_add(s, 0, index.id, 0);
      wick_integer_facts_add(s, index.id, 0, size - 1);
    } else if (facts_interval(s, index).lo >= 0) {
      wick_integer_facts_add(s, 0, index.id, -size);
    }
  }
  if (!wick_integer_comparison(s, n, truth, &t)) return;
  wick_integer_facts_add(s, t.a, t.b, t.c);
  const wick_node *choice = facts_definer_is(s, (wick_value){t.b}, WICK_OP_where);
  for (uint32_t k = 0; choice && k < 2; k++) /* a <= b + c does not hold for one of its cases */
    if (wick_difference_least(&s->d, t.a, choice->in[1 + k].id, &c) && c > t.c)
      facts_assume(s, choice->in[0], k == 1, depth + 1);
}

static void facts_assume(wick_integer_facts *s, wick_value v, bool truth, uint32_t depth)
{
  const wick_node *n = wick_integer_definer(s, v);
  if (!n || depth >= FACTS_DEPTH) return;
  if (n->op == WICK_OP_not) {
    facts_assume(s, n->in[0], !truth, depth + 1);
  } else if (n->op == WICK_OP_and || n->op == WICK_OP_or) {
    for (uint32_t k = 0; k < 2 && truth == (n->op == WICK_OP_and); k++)
      facts_assume(s, n->in[k], truth, depth + 1);
  } else if (n->op == WICK_OP_eq || n->op == WICK_OP_ne) {
    facts_assume_equal(s, n, truth == (n->op == WICK_OP_eq), depth);
  } else if (n->op == WICK_OP_where) {
    facts_assume_case(s, n, n->in + 1, truth, depth);
  } else if (n->op == WICK_OP_if) {
    uint32_t k = v.id - n->first.id;
    wick_value of[2];
    for (uint32_t r = 0; r < 2; r++) of[r] = s->f->node[n->region[r].end - 1].in[k];
    facts_assume_case(s, n, of, truth, depth);
  } else if (n->nin == 2 && !n->nregion) {
    facts_assume_comparison(s, n, truth, depth);
  }
}

void wick_integer_facts_assume(wick_integer_facts *s, wick_value v, bool truth)
{
  facts_assume(s, v, truth, 0);
}
