/* Simplification of element-wise operators that equal something cheaper. */
#include <math.h>

#include "ops/elementwise/scalar.h"
#include "ops/simplify.h"

static const wick_value simplify_none = {0};

static wick_type simplify_type(const wick_simplify *s, const wick_node *n)
{
  return wick_type_of(s->c.f, n->first);
}

/* v where it has the node's type: broadcasting does not come into it. */
static wick_value simplify_whole(const wick_simplify *s, const wick_node *n, wick_value v)
{
  return wick_type_eq(wick_built_type(&s->c.b, v), simplify_type(s, n)) ? v : simplify_none;
}

/* x - 0, x + -0; not x + 0, since -0 + 0 is 0. Integers have no -0. */
wick_value wick_simplify_add(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  bool sub = n->op == WICK_OP_sub;
  for (uint32_t k = sub ? 1 : 0; k < 2; k++) {
    double c;
    int64_t i;
    bool zero = wick_simplify_number(s, in[k], &c) && c == 0 && (signbit(c) != 0) == !sub;
    if (zero || (wick_simplify_int(s, in[k], &i) && i == 0)) return simplify_whole(s, n, in[1 - k]);
  }
  return simplify_none;
}

/* x / c is x * (1 / c) where that number is exact: c a power of two. */
wick_value wick_simplify_div(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  double c;
  int exponent;
  (void)n;
  if (!wick_simplify_number(s, in[1], &c)) return simplify_none;
  /* within the range of f16: no type's reciprocal is subnormal there */
  if (!isfinite(c) || fabs(frexp(c, &exponent)) != 0.5 || exponent < -12 || exponent > 14)
    return simplify_none;
  wick_value k = wick_build_const(&s->c.b, wick_built_type(&s->c.b, in[1]), 1 / c, 0);
  return wick_build2(&s->c.b, WICK_OP_mul, in[0], k);
}

wick_value wick_simplify_again(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_node d;
  if (wick_simplify_def(s, in[0], n->op, &d)) return n->op == WICK_OP_abs ? in[0] : d.in[0];
  wick_elem e = wick_built_info(&s->c.b, in[0])->elem;
  if (n->op == WICK_OP_abs && wick_elem_class(e) != WICK_UINT && /* they wrap */
      wick_simplify_def(s, in[0], WICK_OP_neg, &d))
    return wick_build1(&s->c.b, WICK_OP_abs, d.in[0]);
  return simplify_none;
}

/* The operand of a max or min that is a number, and the number; not NaN. */
static bool simplify_bounded(wick_simplify *s, const wick_node *n, const wick_value *in,
                             uint32_t *k, double *c)
{
  (void)n;
  for (*k = 0; *k < 2; ++*k)
    if (wick_simplify_number(s, in[*k], c) && !isnan(*c)) return true;
  return false;
}

/* max(max(x, a), b) is max(x, max(a, b)); min alike; of x with itself it is x. */
wick_value wick_simplify_bound(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_node d;
  uint32_t k, inner;
  double b, a;
  if (in[0].id == in[1].id) return in[0];
  if (!simplify_bounded(s, n, in, &k, &b) || !wick_simplify_def(s, in[1 - k], n->op, &d) ||
      !simplify_bounded(s, &d, d.in, &inner, &a))
    return simplify_none;
  bool max = n->op == WICK_OP_max;
  bool own = a == b ? (signbit(b) != 0) != max : max ? b > a : b < a; /* the outer one decides */
  wick_value bound = own ? in[k] : d.in[inner];
  return wick_build2(&s->c.b, n->op, d.in[1 - inner], bound);
}

/* v is NaN or at least +0 in every element. */
static bool simplify_positive(wick_simplify *s, wick_value v, unsigned depth)
{
  wick_node d;
  double c;
  uint32_t k;
  if (wick_simplify_number(s, v, &c)) return c > 0 || (c == 0 && !signbit(c));
  if (wick_simplify_def(s, v, WICK_OP_relu, &d) || wick_simplify_def(s, v, WICK_OP_abs, &d) ||
      wick_simplify_def(s, v, WICK_OP_exp, &d) || wick_simplify_def(s, v, WICK_OP_sigmoid, &d))
    return true;
  if (wick_simplify_def(s, v, WICK_OP_max, &d)) {
    for (k = 0; k < 2; k++)
      if (wick_simplify_number(s, d.in[k], &c) && (c > 0 || (c == 0 && !signbit(c)))) return true;
    return false;
  }
  if (!depth || !wick_simplify_def(s, v, WICK_OP_min, &d)) return false;
  return simplify_positive(s, d.in[0], depth - 1) && simplify_positive(s, d.in[1], depth - 1);
}

wick_value wick_simplify_relu(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  (void)n;
  bool is_float = wick_elem_is_float(wick_built_info(&s->c.b, in[0])->elem);
  return is_float && simplify_positive(s, in[0], 4) ? in[0] : simplify_none;
}

/* Every value of `from` is one of `to`. */
static bool simplify_widens(wick_elem from, wick_elem to)
{
  const wick_storage *a = &wick_elem_storage[from], *b = &wick_elem_storage[to];
  if (from == to) return true;
  if (a->cls == WICK_FLOAT && b->cls == WICK_FLOAT)
    return (from == WICK_F32 && to == WICK_F64) ||
           ((from == WICK_F16 || from == WICK_BF16) && (to == WICK_F32 || to == WICK_F64));
  if (a->cls == WICK_UINT && b->cls == WICK_SINT) return b->bits > a->bits;
  return a->cls == b->cls && (a->cls == WICK_SINT || a->cls == WICK_UINT) && b->bits > a->bits;
}

/* To the same type; from a type that was widened. */
enum { SIMPLIFY_DEEP = 12 };

/* The largest and the least size of a constant's elements; infinity and 0 where one is no number.
 */
static void simplify_sizes(wick_simplify *s, const wick_node *k, double *most, double *least)
{
  const wick_module *m = s->c.f->module;
  const wick_imm *imm = &k->attr[WICK_ATTR_const_value].imm;
  wick_elem e = wick_built_info(&s->c.b, k->first)->elem;
  const wick_constant *c = imm->constant ? wick_constant_get(m, imm->constant) : NULL;
  uint64_t n = c ? c->nbytes * 8 / wick_elem_storage[e].bits : 1;
  *most = 0, *least = INFINITY;
  bool number = wick_elem_is_float(e) && (!c || c->data);
  for (uint64_t i = 0; number && i < n; i++) {
    double x = fabs(c ? wick_load_elem(e, c->data, i).f : imm->f);
    number = isfinite(x);
    *most = fmax(*most, x), *least = fmin(*least, x);
  }
  if (!number) *most = INFINITY, *least = 0;
}

/* No element of v is larger in size, or NaN; infinity where that is not known. Roundings on the way
 * do not count: who asks leaves room. */
static double simplify_limit(wick_simplify *s, wick_value v, uint32_t depth)
{
  wick_node d;
  double most, least;
  if (depth > SIMPLIFY_DEEP) return INFINITY;
  if (wick_simplify_def(s, v, WICK_OP_const, &d)) {
    simplify_sizes(s, &d, &most, &least);
    return most;
  }
  if (wick_simplify_def(s, v, WICK_OP_cast, &d)) {
    wick_elem e = wick_built_info(&s->c.b, d.in[0])->elem;
    bool is_signed = wick_elem_class(e) == WICK_SINT;
    return wick_elem_is_int(e) ? ldexp(1, (int)wick_elem_storage[e].bits - is_signed) : INFINITY;
  }
  if (wick_simplify_def(s, v, WICK_OP_mul, &d) || wick_simplify_def(s, v, WICK_OP_add, &d)) {
    double x = simplify_limit(s, d.in[0], depth + 1), y = simplify_limit(s, d.in[1], depth + 1);
    return d.op == WICK_OP_add ? x + y : isinf(x) || isinf(y) ? INFINITY : x * y;
  }
  if (wick_simplify_def(s, v, WICK_OP_div, &d)) {
    wick_node k;
    if (!wick_simplify_def(s, d.in[1], WICK_OP_const, &k)) return INFINITY;
    simplify_sizes(s, &k, &most, &least);
    return least > 0 ? simplify_limit(s, d.in[0], depth + 1) / least : INFINITY;
  }
  if (wick_simplify_def(s, v, WICK_OP_relu, &d)) return simplify_limit(s, d.in[0], depth + 1);
  if (wick_simplify_def(s, v, WICK_OP_round_even, &d))
    return simplify_limit(s, d.in[0], depth + 1) + 1;
  return INFINITY;
}

/* A float becomes a short integer: that it is none of those which do not fit into a word is worth
 * knowing. */
static wick_value simplify_within(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_type type = simplify_type(s, n);
  wick_elem e = wick_info_of(s->c.f, n->first)->elem;
  if (n->attr[WICK_ATTR_cast_within].i || wick_built_info(&s->c.b, in[0])->elem != WICK_F32 ||
      !wick_elem_is_int(e) || wick_elem_storage[e].bits > 8 ||
      !(simplify_limit(s, in[0], 0) < ldexp(1, 29)))
    return simplify_none;
  wick_attr within = {.i = 1};
  return wick_build(&s->c.b, WICK_OP_cast, 1, in, &within, 1, &type);
}

/* A relu whose zero becomes the least of the integers does nothing: what is below saturates. */
static wick_value simplify_clamped(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_node add, round, relu;
  wick_elem e = wick_info_of(s->c.f, n->first)->elem;
  double zero = 0, least = wick_elem_class(e) == WICK_SINT ? -128 : 0;
  bool shifted = wick_simplify_def(s, in[0], WICK_OP_add, &add);
  if ((e != WICK_U8 && e != WICK_I8) || (shifted && !wick_simplify_number(s, add.in[1], &zero)) ||
      zero != least ||
      !wick_simplify_def(s, shifted ? add.in[0] : in[0], WICK_OP_round_even, &round) ||
      !wick_simplify_def(s, round.in[0], WICK_OP_relu, &relu))
    return simplify_none;
  wick_type type = simplify_type(s, n);
  wick_value v = wick_build1(&s->c.b, WICK_OP_round_even, relu.in[0]);
  if (shifted) v = wick_build2(&s->c.b, WICK_OP_add, v, add.in[1]);
  return wick_build(&s->c.b, WICK_OP_cast, 1, &v, n->attr, 1, &type);
}

wick_value wick_simplify_const(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  (void)in;
  wick_module *m = s->c.f->module;
  wick_type type = wick_type_of(s->c.f, n->first);
  const wick_type_info *t = wick_type_get(m, type);
  const wick_constant *k =
      wick_const_imm(n)->constant ? wick_constant_get(m, wick_const_imm(n)->constant) : NULL;
  if (!k || !k->data || t->kind != WICK_TENSOR || t->rank || !(WICK_BIT(t->elem) & WICK_PLAIN))
    return (wick_value){0};
  wick_scalar x = wick_load_elem(t->elem, k->data, 0);
  bool is_float = wick_elem_is_float(t->elem);
  if (is_float && isnan(x.f)) return (wick_value){0}; /* its bits stay */
  return wick_build_const(&s->c.b, type, is_float ? x.f : 0, is_float ? 0 : x.i);
}

wick_value wick_simplify_cast(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  wick_node d;
  wick_type type = simplify_type(s, n);
  if (wick_type_eq(wick_built_type(&s->c.b, in[0]), type)) return in[0];
  wick_value less = simplify_clamped(s, n, in);
  if (!less.id) less = simplify_within(s, n, in);
  if (less.id) return less;
  if (!wick_simplify_def(s, in[0], WICK_OP_cast, &d) ||
      !simplify_widens(wick_built_info(&s->c.b, d.in[0])->elem,
                       wick_built_info(&s->c.b, in[0])->elem))
    return simplify_none;
  if (wick_type_eq(wick_built_type(&s->c.b, d.in[0]), type)) return d.in[0];
  return wick_build(&s->c.b, WICK_OP_cast, 1, d.in, NULL, 1, &type);
}

/* x^1, x^2. */
wick_value wick_simplify_pow(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  double c;
  if (!wick_elem_is_float(wick_built_info(&s->c.b, in[0])->elem) ||
      !wick_simplify_number(s, in[1], &c) || !simplify_whole(s, n, in[0]).id)
    return simplify_none;
  if (c == 1) return in[0];
  return c == 2 ? wick_build2(&s->c.b, WICK_OP_mul, in[0], in[0]) : simplify_none;
}

wick_value wick_simplify_where(wick_simplify *s, const wick_node *n, const wick_value *in)
{
  int64_t c;
  if (in[1].id == in[2].id) return simplify_whole(s, n, in[1]);
  return wick_simplify_int(s, in[0], &c) ? simplify_whole(s, n, in[c ? 1 : 2]) : simplify_none;
}
