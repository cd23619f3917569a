/* Simplification of element-wise operators that equal something cheaper. */
#include <math.h>

#include "ops/elementwise/scalar.h"
#include "ops/simplify.h"

#define END                                                                                        \
  {                                                                                                \
    NULL, NULL, NULL, NULL                                                                         \
  }

static const wick_value simplify_none = {0};

static wick_elem simplify_elem(const wick_rewriter *r, wick_value v)
{
  return wick_rewrite_info(r, v)->elem;
}

const wick_rewrite wick_simplify_add[] = {
    /* not x + 0, because -0 + 0 is 0 */
    {"add(-0, x)", "x", NULL, NULL},
    {"add(x, -0)", "x", NULL, NULL},
    {"sub(x, 0)", "x", NULL, NULL},
    END};

/* Rewrites x / c as x * (1 / c) if that number is exact: c is a power of two. */
static wick_value simplify_div(wick_rewriter *r)
{
  double c;
  int exponent;
  wick_value by = wick_rewrite_var(r, 'c');
  /* within the range of f16, no type has subnormal reciprocals */
  if (!wick_rewrite_number(r, by, &c) || !isfinite(c) || fabs(frexp(c, &exponent)) != 0.5 ||
      exponent < -12 || exponent > 14)
    return simplify_none;
  wick_value k = wick_build_const(&r->c.b, wick_built_type(&r->c.b, by), 1 / c, 0);
  return wick_build2(&r->c.b, WICK_OP_mul, wick_rewrite_var(r, 'x'), k);
}

const wick_rewrite wick_simplify_div[] = {{"div(x, c)", NULL, NULL, simplify_div}, END};

static bool simplify_is_signed(wick_rewriter *r) /* unsigned integers wrap */
{
  return wick_elem_class(simplify_elem(r, wick_rewrite_var(r, 'x'))) != WICK_UINT;
}

const wick_rewrite wick_simplify_again[] = {{"abs(a=abs(x))", "a", NULL, NULL},
                                            {"abs(neg(x))", "abs(x)", simplify_is_signed, NULL},
                                            {"neg(neg(x))", "x", NULL, NULL},
                                            {"not(not(x))", "x", NULL, NULL},
                                            END};

/* Finds the operand of a max or min that is a number other than NaN, and that number. */
static bool simplify_bounded(wick_rewriter *r, const wick_value *in, uint32_t *k, double *c)
{
  for (*k = 0; *k < 2; ++*k)
    if (wick_rewrite_number(r, in[*k], c) && !isnan(*c)) return true;
  return false;
}

/* Rewrites max(max(x, a), b) as max(x, max(a, b)), for any order of the operands; the same for min.
 */
static wick_value simplify_bound(wick_rewriter *r)
{
  wick_node d;
  uint32_t k, inner;
  double b, a;
  const wick_value *in = r->in;
  if (!simplify_bounded(r, in, &k, &b) || !wick_rewrite_def(r, in[1 - k], r->node->op, &d) ||
      !simplify_bounded(r, d.in, &inner, &a))
    return simplify_none;
  bool max = r->node->op == WICK_OP_max;
  /* the outer one determines the result */
  bool own = a == b ? (signbit(b) != 0) != max : max ? b > a : b < a;
  wick_value bound = own ? in[k] : d.in[inner];
  return wick_build2(&r->c.b, r->node->op, d.in[1 - inner], bound);
}

/* Removes a bound that no number of the integer type exceeds. */
static wick_value simplify_bound_of_integers(wick_rewriter *r)
{
  wick_node d;
  uint32_t k;
  double c;
  if (!simplify_bounded(r, r->in, &k, &c) || !wick_rewrite_def(r, r->in[1 - k], WICK_OP_cast, &d))
    return simplify_none;
  wick_elem e = wick_rewrite_info(r, d.in[0])->elem;
  if (!wick_elem_is_int(e)) return simplify_none;
  bool is_signed = wick_elem_class(e) == WICK_SINT;
  double range = ldexp(1, (int)wick_elem_storage[e].bits - is_signed);
  bool holds = r->node->op == WICK_OP_max ? c <= (is_signed ? -range : 0) : c >= range - 1;
  return holds ? r->in[1 - k] : simplify_none;
}

const wick_rewrite wick_simplify_bound[] = {{"max(x, y)", NULL, NULL, simplify_bound_of_integers},
                                            {"min(x, y)", NULL, NULL, simplify_bound_of_integers},
                                            {"max(x, x)", "x", NULL, NULL},
                                            {"min(x, x)", "x", NULL, NULL},
                                            {"max(x, y)", NULL, NULL, simplify_bound},
                                            {"min(x, y)", NULL, NULL, simplify_bound},
                                            END};

/* Returns true if every element of v is NaN or at least +0. */
static bool simplify_positive(wick_rewriter *r, wick_value v, unsigned depth)
{
  wick_node d;
  double c;
  uint32_t k;
  if (wick_rewrite_number(r, v, &c)) return c > 0 || (c == 0 && !signbit(c));
  if (wick_rewrite_def(r, v, WICK_OP_relu, &d) || wick_rewrite_def(r, v, WICK_OP_abs, &d) ||
      wick_rewrite_def(r, v, WICK_OP_exp, &d) || wick_rewrite_def(r, v, WICK_OP_sigmoid, &d))
    return true;
  if (wick_rewrite_def(r, v, WICK_OP_max, &d)) {
    for (k = 0; k < 2; k++)
      if (wick_rewrite_number(r, d.in[k], &c) && (c > 0 || (c == 0 && !signbit(c)))) return true;
    return false;
  }
  if (!depth || !wick_rewrite_def(r, v, WICK_OP_min, &d)) return false;
  return simplify_positive(r, d.in[0], depth - 1) && simplify_positive(r, d.in[1], depth - 1);
}

static bool simplify_is_positive(wick_rewriter *r)
{
  wick_value x = wick_rewrite_var(r, 'x');
  return wick_elem_is_float(simplify_elem(r, x)) && simplify_positive(r, x, 4);
}

const wick_rewrite wick_simplify_relu[] = {{"relu(x)", "x", simplify_is_positive, NULL}, END};

/* Returns true if `to` can represent every value of `from`. */
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

enum { SIMPLIFY_DEEP = 12 };

/* Finds the largest and the least magnitude of a constant's elements; infinity and 0 if an element
 * is not a number. */
static void simplify_sizes(wick_rewriter *r, const wick_node *k, double *most, double *least)
{
  const wick_module *m = r->c.f->module;
  const wick_imm *imm = wick_const_imm(k);
  wick_elem e = wick_rewrite_info(r, k->first)->elem;
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

/* Returns a bound on the magnitude of v's elements, none of which is NaN; infinity if no bound is
 * known. Intermediate roundings are ignored: callers leave a margin. */
static double simplify_limit(wick_rewriter *r, wick_value v, uint32_t depth)
{
  wick_node d;
  double most, least;
  if (depth > SIMPLIFY_DEEP) return INFINITY;
  if (wick_rewrite_def(r, v, WICK_OP_const, &d)) {
    simplify_sizes(r, &d, &most, &least);
    return most;
  }
  if (wick_rewrite_def(r, v, WICK_OP_cast, &d)) {
    wick_elem e = wick_rewrite_info(r, d.in[0])->elem;
    bool is_signed = wick_elem_class(e) == WICK_SINT;
    return wick_elem_is_int(e) ? ldexp(1, (int)wick_elem_storage[e].bits - is_signed) : INFINITY;
  }
  if (wick_rewrite_def(r, v, WICK_OP_mul, &d) || wick_rewrite_def(r, v, WICK_OP_add, &d)) {
    double x = simplify_limit(r, d.in[0], depth + 1), y = simplify_limit(r, d.in[1], depth + 1);
    return d.op == WICK_OP_add ? x + y : isinf(x) || isinf(y) ? INFINITY : x * y;
  }
  if (wick_rewrite_def(r, v, WICK_OP_div, &d)) {
    wick_node k;
    if (!wick_rewrite_def(r, d.in[1], WICK_OP_const, &k)) return INFINITY;
    simplify_sizes(r, &k, &most, &least);
    return least > 0 ? simplify_limit(r, d.in[0], depth + 1) / least : INFINITY;
  }
  if (wick_rewrite_def(r, v, WICK_OP_relu, &d)) return simplify_limit(r, d.in[0], depth + 1);
  if (wick_rewrite_def(r, v, WICK_OP_round_even, &d))
    return simplify_limit(r, d.in[0], depth + 1) + 1;
  return INFINITY;
}

/* Marks casts of floats to short integers whose operand is known to fit into a word. */
static wick_value simplify_within(wick_rewriter *r)
{
  wick_type type = wick_rewrite_type(r);
  wick_elem e = wick_info_of(r->c.f, r->node->first)->elem;
  if (r->node->attr[WICK_ATTR_cast_within].i || simplify_elem(r, r->in[0]) != WICK_F32 ||
      !wick_elem_is_int(e) || wick_elem_storage[e].bits > 8 ||
      !(simplify_limit(r, r->in[0], 0) < ldexp(1, 29)))
    return simplify_none;
  wick_attr within = {.i = 1};
  return wick_build(&r->c.b, WICK_OP_cast, 1, r->in, &within, 1, &type);
}

static wick_value simplify_widened(wick_rewriter *r)
{
  wick_value x = wick_rewrite_var(r, 'x');
  wick_type type = wick_rewrite_type(r);
  if (!simplify_widens(simplify_elem(r, x), simplify_elem(r, r->in[0]))) return simplify_none;
  if (wick_type_eq(wick_built_type(&r->c.b, x), type)) return x;
  return wick_build(&r->c.b, WICK_OP_cast, 1, &x, NULL, 1, &type);
}

const wick_rewrite wick_simplify_cast[] = {{"cast(x)", "x", NULL, NULL},
                                           {"cast(x)", NULL, NULL, wick_simplify_saturated},
                                           {"cast(x)", NULL, NULL, wick_simplify_requantized},
                                           {"cast(x)", NULL, NULL, simplify_within},
                                           {"cast(cast(x))", NULL, NULL, simplify_widened},
                                           END};

static wick_value simplify_const(wick_rewriter *r)
{
  wick_module *m = r->c.f->module;
  wick_type type = wick_rewrite_type(r);
  const wick_type_info *t = wick_type_get(m, type);
  const wick_imm *imm = wick_const_imm(r->node);
  const wick_constant *k = imm->constant ? wick_constant_get(m, imm->constant) : NULL;
  if (!k || !k->data || t->kind != WICK_TENSOR || t->rank || !(WICK_BIT(t->elem) & WICK_PLAIN))
    return simplify_none;
  wick_scalar x = wick_load_elem(t->elem, k->data, 0);
  bool is_float = wick_elem_is_float(t->elem);
  if (is_float && isnan(x.f)) return simplify_none; /* its bits must not change */
  return wick_build_const(&r->c.b, type, is_float ? x.f : 0, is_float ? 0 : x.i);
}

const wick_rewrite wick_simplify_const[] = {{"const()", NULL, NULL, simplify_const}, END};

static bool simplify_is_float(wick_rewriter *r) /* x has the node's type */
{
  wick_value x = wick_rewrite_var(r, 'x');
  return wick_elem_is_float(simplify_elem(r, x)) &&
         wick_type_eq(wick_built_type(&r->c.b, x), wick_rewrite_type(r));
}

const wick_rewrite wick_simplify_pow[] = {{"pow(x, 1)", "x", simplify_is_float, NULL},
                                          {"pow(x, 2)", "mul(x, x)", simplify_is_float, NULL},
                                          END};

const wick_rewrite wick_simplify_where[] = {{"where(c, x, x)", "x", NULL, NULL},
                                            {"where(0, x, y)", "y", NULL, NULL},
                                            {"where(1, x, y)", "x", NULL, NULL},
                                            END};
