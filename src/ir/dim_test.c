/* Dimension expressions: the canonical form by table, and the laws of arithmetic by random testing.
 */
#include "ir/dim.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static wick_guard guard;
static wick_arena mem;
static wick_dims *table;

static int dim_setup(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) return -1;
  table = wick_dims_create(&mem);
  return 0;
}

static int dim_teardown(void **state)
{
  (void)state;
  wick_arena_free(&mem);
  return 0;
}

static const char *dim_text(const wick_dims *t, wick_dim d)
{
  wick_text text = wick_text_begin(&mem);
  wick_dim_print(t, d, &text);
  return text.at;
}

static wick_dim num(int64_t v) { return wick_dim_const(v); }
static wick_dim sym(const char *name, int64_t lo, int64_t hi)
{
  return wick_dim_symbol(table, name, lo, hi);
}
static wick_dim add(wick_dim a, wick_dim b) { return wick_dim_add(table, a, b); }
static wick_dim sub(wick_dim a, wick_dim b) { return wick_dim_sub(table, a, b); }
static wick_dim mul(wick_dim a, wick_dim b) { return wick_dim_mul(table, a, b); }
static wick_dim quo(wick_dim a, wick_dim b) { return wick_dim_floordiv(table, a, b); }
static wick_dim rem_(wick_dim a, wick_dim b) { return wick_dim_mod(table, a, b); }
static wick_dim least(wick_dim a, wick_dim b) { return wick_dim_min(table, a, b); }
static wick_dim most(wick_dim a, wick_dim b) { return wick_dim_max(table, a, b); }

/* ---- an expression as a tree, in a text of its own ---- */

static const struct {
  const char *name;
  int64_t lo, hi;
} symbols[] = {
    {"N", 1, 64}, {"M", 1, 1000}, {"b", 0, 3},    {"i", 0, 6},
    {"o", 0, 7},  {"x", 0, 99},   {"y", -20, 20}, {"z", -9, -1},
};

/* Prefix notation, one character each: + - * / % < > are binary (< is min), ~ is ceildiv; a symbol
 * by its letter; a number in decimal, ended by a space; _ negates. */
static wick_dim dim_read(const char **s)
{
  char c = *(*s)++;
  while (c == ' ') c = *(*s)++;
  if (c >= '0' && c <= '9') {
    int64_t v = c - '0';
    while (**s >= '0' && **s <= '9') v = v * 10 + (*(*s)++ - '0');
    return num(v);
  }
  for (size_t i = 0; i < WICK_COUNT(symbols); i++)
    if (symbols[i].name[0] == c) return sym(symbols[i].name, symbols[i].lo, symbols[i].hi);
  wick_dim a = dim_read(s);
  if (c == '_') return sub(num(0), a);
  wick_dim b = dim_read(s);
  switch (c) {
  case '+': return add(a, b);
  case '-': return sub(a, b);
  case '*': return mul(a, b);
  case '/': return quo(a, b);
  case '~': return wick_dim_ceildiv(table, a, b);
  case '%': return rem_(a, b);
  case '<': return least(a, b);
  case '>': return most(a, b);
  default: fail_msg("a test's expression has '%c'", c);
  }
  return WICK_DIM_INVALID;
}

static void test_forms(void **state)
{
  (void)state;
  static const struct {
    const char *in, *want;
  } rows[] = {
      {"+1 2", "3"},
      {"+N1", "N + 1"},
      {"+1+MN", "M + N + 1"},
      {"-NN", "0"},
      {"_N", "-N"},
      {"-*2N*3M", "-3*M + 2*N"},
      {"*+N1 -N1 ", "N*N - 1"},
      {"*NM", "M*N"},
      {"-*+N1 MM", "M*N"},
      /* floordiv */
      {"/*4x8 ", "floordiv(x, 2)"},
      {"/+*7oi7 ", "o"},
      {"%+*7oi7 ", "i"},
      {"/+*14o+*7bi14 ", "o + floordiv(b, 2)"},
      {"/+*4xb8 ", "floordiv(x, 2)"},
      {"%+*4xb8 ", "b + 4*mod(x, 2)"},
      {"/+N15 16 ", "floordiv(N + 15, 16)"},
      {"/-N1 16 ", "floordiv(N + 15, 16) - 1"},
      {"~N16 ", "floordiv(N + 15, 16)"},
      {"_/_N16 ", "floordiv(N + 15, 16)"},
      {"/*9x7 ", "x + floordiv(2*x, 7)"},
      {"//x3 5 ", "floordiv(x, 15)"},
      {"//xN M", "floordiv(x, M*N)"},
      {"/+/x4 y8 ", "floordiv(x + 4*y, 32)"},
      {"/x_4 ", "-floordiv(x + 3, 4)"},
      {"/x1 ", "x"},
      {"/x0 ", "?"},
      {"%x0 ", "?"},
      {"/i7 ", "0"},
      {"/z9 ", "-1"},
      /* mod */
      {"%x8 ", "mod(x, 8)"},
      {"%*4x8 ", "4*mod(x, 2)"},
      {"%%x12 4 ", "mod(x, 4)"},
      {"%i7 ", "i"},
      {"%i9 ", "i"},
      {"/%x8 2 ", "mod(floordiv(x, 2), 4)"},
      {"+*7 /x7 %x7 ", "x"},
      {"+*7 */x7 N*N%x7 ", "N*x"},
      {"-x*7 /x7 ", "mod(x, 7)"},
      {"+/x7 %x7 ", "floordiv(x, 7) + mod(x, 7)"},
      {"+*N%x7 y", "N*mod(x, 7) + y"},
      {"%_x7 ", "-mod(x + 6, 7) + 6"},
      {"%x_7 ", "mod(x + 6, 7) - 6"},
      {"/+%+xy16 y8 ", "floordiv(y + mod(x + y, 16), 8)"},
      {"%+*58 x y16 ", "mod(10*x + y, 16)"},
      /* division by expressions */
      {"/*NMN", "M"},
      {"/+*NM*NxN", "M + x"},
      {"/*+N1 M+N1 ", "M"},
      {"%*NMN", "0"},
      {"/xN", "floordiv(x, N)"},
      {"%xN", "mod(x, N)"},
      {"+*N/xN%xN", "x"},
      {"/*6N*4N", "1"},
      {"/*6x*4N", "floordiv(3*x, 2*N)"},
      {"/N+N1 ", "0"},
      {"~+*NxN N", "x + 1"},
      /* an image that was flattened: x = n*56*56 + h*56 + w is split again, then in blocks of 8 */
      {"/%+*49 o+*7bi49 7 ", "b"},
      {"/%x49 7 ", "mod(floordiv(x, 7), 7)"},
      {"%%x49 7 ", "mod(x, 7)"},
      {"+*49 /x49 +*7/%x49 7 %x7 ", "x"},
      {"/+*8x%y8 16 ", "floordiv(x, 2)"},
      {"%+*8x%y8 16 ", "8*mod(x, 2) + mod(y, 8)"},
      {"-*2/%x8 2 *2%/x2 4 ", "0"},
      /* min and max */
      {"<N8 ", "min(N, 8)"},
      {"<8 N", "min(N, 8)"},
      {"<N64 ", "N"},
      {"<N+N1 ", "N"},
      {">N+N1 ", "N + 1"},
      {"<<N8 <M4 ", "min(M, N, 4)"},
      {"+<N8 1 ", "min(N, 8) + 1"},
      {"<x>xy", "x"},
      {">N1 ", "N"},
      {"<NN", "N"},
      {"<*NM*N+M1 ", "M*N"},
  };
  int nwrong = 0;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    const char *s = rows[i].in;
    const char *got = dim_text(table, dim_read(&s));
    if (strcmp(got, rows[i].want) == 0) continue;
    print_error("%s is %s, wanted %s\n", rows[i].in, got, rows[i].want);
    nwrong++;
  }
  assert_int_equal(nwrong, 0);
}

/* ---- random trees ---- */

static uint64_t random_state;
static uint32_t pick(uint32_t n)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % n);
}

enum { NSYM = 4, NNODE = 24 };

typedef struct tree_node {
  char op; /* one of dim_read's, s for a symbol, n for a number */
  int a, b;
  int64_t v;
} tree_node;

typedef struct tree {
  tree_node at[NNODE];
  int n;
} tree;

static int tree_make(tree *t, int budget, const char *ops)
{
  tree_node *n;
  if (budget <= 1) {
    n = &t->at[t->n];
    bool number = pick(3) == 0;
    *n = (tree_node){.op = number ? 'n' : 's', .v = number ? (int64_t)pick(26) - 8 : pick(NSYM)};
    return t->n++;
  }
  int left = 1 + (int)pick((uint32_t)budget - 1);
  tree_node made = {.op = ops[pick((uint32_t)strlen(ops))]};
  made.a = tree_make(t, left, ops);
  made.b = tree_make(t, budget - left, ops);
  bool divides = made.op == '/' || made.op == '%' || made.op == '~';
  if (divides && pick(8)) { /* mostly by a small constant */
    static const int64_t by[] = {2, 3, 4, 6, 7, 8, 12, 16, -3, 1};
    t->at[made.b] = (tree_node){.op = 'n', .v = by[pick(WICK_COUNT(by))]};
  }
  t->at[t->n] = made;
  return t->n++;
}

static wick_dim tree_dim(const tree *t, int i, const wick_dim *s)
{
  const tree_node *n = &t->at[i];
  if (n->op == 's') return s[n->v];
  if (n->op == 'n') return num(n->v);
  wick_dim a = tree_dim(t, n->a, s), b = tree_dim(t, n->b, s);
  switch (n->op) {
  case '+': return add(a, b);
  case '-': return sub(a, b);
  case '*': return mul(a, b);
  case '/': return quo(a, b);
  case '%': return rem_(a, b);
  case '~': return wick_dim_ceildiv(table, a, b);
  case '<': return least(a, b);
  default: return most(a, b);
  }
}

/* The meaning, by another road. False where something divides by 0 or is large. */
static bool tree_eval(const tree *t, int i, const int64_t *v, int64_t *out)
{
  const tree_node *n = &t->at[i];
  int64_t a, b, q;
  if (n->op == 's' || n->op == 'n') {
    *out = n->op == 's' ? v[n->v] : n->v;
    return true;
  }
  if (!tree_eval(t, n->a, v, &a) || !tree_eval(t, n->b, v, &b)) return false;
  switch (n->op) {
  case '+': *out = a + b; break;
  case '-': *out = a - b; break;
  case '*': *out = a * b; break;
  case '<': *out = a < b ? a : b; break;
  case '>': *out = a > b ? a : b; break;
  default:
    if (b == 0) return false;
    q = a / b;
    if (q * b != a && n->op == '~' && (a < 0) == (b < 0)) q++;
    if (q * b != a && n->op != '~' && (a < 0) != (b < 0)) q--;
    *out = n->op == '%' ? a - q * b : q;
  }
  return *out > -1000000000 && *out < 1000000000;
}

typedef struct random_symbols {
  wick_dim s[NSYM];
  int64_t lo[NSYM], hi[NSYM];
} random_symbols;

static random_symbols random_symbols_make(void)
{
  static const char *const name[NSYM] = {"a", "b", "c", "d"};
  random_symbols r;
  for (int i = 0; i < NSYM; i++) {
    r.lo[i] = pick(3) ? 0 : (int64_t)pick(20) - 10;
    r.hi[i] = r.lo[i] + 1 + pick(pick(2) ? 8 : 40);
    r.s[i] = sym(name[i], r.lo[i], r.hi[i]);
  }
  return r;
}

static void random_point(const random_symbols *r, int64_t *v)
{
  for (int i = 0; i < NSYM; i++) v[i] = r->lo[i] + pick((uint32_t)(r->hi[i] - r->lo[i]) + 1);
}

static const char *const all_ops = "+++--*//%%~<>";

static void dim_fresh(uint32_t round)
{
  if (round % 500) return;
  wick_arena_free(&mem);
  table = wick_dims_create(&mem);
}

/* The canonical form has the value of the tree, within its range; also after substitution. */
static void test_values(void **state)
{
  (void)state;
  random_state = 1;
  uint32_t nvalue = 0, nsame = 0;
  for (uint32_t round = 0; round < 40000; round++) {
    dim_fresh(round);
    random_symbols r = random_symbols_make();
    tree t = {.n = 0};
    int root = tree_make(&t, 2 + (int)pick(NNODE / 2 - 2), all_ops);
    wick_dim d = tree_dim(&t, root, r.s), by[NSYM];
    for (int i = 0; i < NSYM; i++)
      by[i] = pick(2) ? r.s[i] : num(r.lo[i] + pick((uint32_t)(r.hi[i] - r.lo[i]) + 1));
    wick_dim e = wick_dim_substitute(table, d, NSYM, r.s, by);
    int64_t lo, hi;
    wick_dim_range(table, d, &lo, &hi);
    for (int point = 0; point < 12; point++) {
      int64_t v[NSYM], want, got;
      random_point(&r, v);
      if (!tree_eval(&t, root, v, &want)) continue;
      nvalue++;
      bool ok =
          wick_dim_eval(table, d, NSYM, r.s, v, &got) && got == want && lo <= want && want <= hi;
      if (!ok) {
        print_error("round %u: %s in [%" PRId64 ", %" PRId64 "], wanted %" PRId64 "\n", round,
                    dim_text(table, d), lo, hi, want);
        for (int i = 0; i < NSYM; i++)
          print_error("  %" PRId64 " in %" PRId64 "..%" PRId64 "\n", v[i], r.lo[i], r.hi[i]);
        for (int i = 0; i < t.n; i++)
          print_error("  %d: %c %d %d %" PRId64 "\n", i, t.at[i].op, t.at[i].a, t.at[i].b,
                      t.at[i].v);
      }
      assert_true(ok);
      for (int i = 0; i < NSYM; i++)
        if (wick_dim_is_const(by[i])) v[i] = by[i].v;
      if (!tree_eval(&t, root, v, &want)) continue;
      assert_true(wick_dim_eval(table, e, NSYM, r.s, v, &got));
      assert_int_equal(got, want);
      nsame++;
    }
  }
  assert_true(nvalue > 200000 && nsame > 200000);
}

static wick_dim random_dim(const random_symbols *r, int budget, const char *ops)
{
  tree t = {.n = 0};
  return tree_dim(&t, tree_make(&t, 1 + (int)pick((uint32_t)budget), ops), r->s);
}

static void assert_same(const char *law, wick_dim a, wick_dim b)
{
  if (wick_dim_eq(a, b)) return;
  if (wick_dim_eq(a, WICK_DIM_INVALID) || wick_dim_eq(b, WICK_DIM_INVALID)) return;
  int64_t lo[2], hi[2]; /* a range of one value may have decided */
  wick_dim_range(table, a, &lo[0], &hi[0]);
  wick_dim_range(table, b, &lo[1], &hi[1]);
  if (lo[0] == hi[0] && lo[1] == hi[1] && lo[0] == lo[1]) return;
  fail_msg("%s: %s is not %s", law, dim_text(table, a), dim_text(table, b));
}

/* Equal by the laws of a ring, or of division by a constant: the same handle. */
static void test_laws(void **state)
{
  (void)state;
  random_state = 2;
  for (uint32_t round = 0; round < 40000; round++) {
    dim_fresh(round);
    random_symbols r = random_symbols_make();
    wick_dim a = random_dim(&r, 5, all_ops), b = random_dim(&r, 4, all_ops),
             c = random_dim(&r, 4, all_ops), n = num(1 + (int64_t)pick(16));
    assert_same("a + b = b + a", add(a, b), add(b, a));
    assert_same("a + (b + c) = (a + b) + c", add(a, add(b, c)), add(add(a, b), c));
    assert_same("a - b + b = a", add(sub(a, b), b), a);
    assert_same("a * b = b * a", mul(a, b), mul(b, a));
    assert_same("a * (b * c) = (a * b) * c", mul(a, mul(b, c)), mul(mul(a, b), c));
    assert_same("a * (b + c) = a*b + a*c", mul(a, add(b, c)), add(mul(a, b), mul(a, c)));
    assert_same("a / n * n + a % n = a", add(mul(quo(a, n), n), rem_(a, n)), a);
    assert_same("a * (b / n * n + b % n) = a*b", add(mul(mul(quo(b, n), n), a), mul(a, rem_(b, n))),
                mul(a, b));
    random_symbols left = r, right = r;
    for (int i = 0; i < NSYM; i++) left.s[i] = r.s[i / 2], right.s[i] = r.s[2 + i / 2];
    wick_dim d = random_dim(&left, 5, "++--*<>"), e = random_dim(&right, 5, "++--*<>");
    assert_same("(d + n*e) / n = d/n + e", quo(add(d, mul(n, e)), n), add(quo(d, n), e));
    assert_same("(d + n*e) % n = d % n", rem_(add(d, mul(n, e)), n), rem_(d, n));
    assert_same("min(a, b) = min(b, a)", least(a, b), least(b, a));
    assert_same("max(a, b) = max(b, a)", most(a, b), most(b, a));
    assert_same("min(a, a) = a", least(a, a), a);
  }
}

/* min and max are associative where the arguments are sums, of which ranges decide all alike. */
static void test_min_max_laws(void **state)
{
  (void)state;
  random_state = 3;
  for (uint32_t round = 0; round < 20000; round++) {
    dim_fresh(round);
    random_symbols r = random_symbols_make();
    wick_dim a = random_dim(&r, 4, "+-"), b = random_dim(&r, 4, "+-"), c = random_dim(&r, 4, "+-");
    assert_same("min", least(a, least(b, c)), least(least(a, b), c));
    assert_same("min(a, max(a, b)) = a", least(a, most(a, b)), a);
    assert_same("max", most(a, most(b, c)), most(most(a, b), c));
  }
}

/* What a reader of the text does: the parts, put together again with arithmetic, in the table
 * `table`. */
static wick_dim rebuild(const wick_dims *from, wick_dim d)
{
  wick_dim_form f = wick_dim_get(from, d);
  wick_dim sum = num(f.constant);
  for (uint32_t i = 0; i < f.nterm; i++) {
    wick_dim product = num(f.term[i].coef);
    for (uint32_t k = 0; k < f.term[i].natom; k++) {
      const wick_atom *a = wick_dim_atom(from, f.term[i].atom[k]);
      wick_dim made = a->narg ? rebuild(from, a->arg[0]) : sym(a->name, a->lo, a->hi);
      for (uint32_t j = 1; j < a->narg; j++) {
        wick_dim b = rebuild(from, a->arg[j]);
        made = a->kind == WICK_ATOM_FLOORDIV ? quo(made, b)
               : a->kind == WICK_ATOM_MOD    ? rem_(made, b)
               : a->kind == WICK_ATOM_MIN    ? least(made, b)
                                             : most(made, b);
      }
      product = mul(product, made);
    }
    sum = add(sum, product);
  }
  return sum;
}

/* The form, read back, is the same expression; and the same text in a table where other things came
 * first. */
static void test_form_is_canonical(void **state)
{
  (void)state;
  random_state = 4;
  for (uint32_t round = 0; round < 20000; round++) {
    dim_fresh(round);
    random_symbols r = random_symbols_make();
    wick_dim d = random_dim(&r, NNODE / 2, all_ops);
    if (wick_dim_eq(d, WICK_DIM_INVALID)) continue;
    assert_same("read back", rebuild(table, d), d);
    const wick_dims *first = table;
    table = wick_dims_create(&mem);
    for (int i = NSYM; i-- > 0;) sym(i % 2 ? "d" : "a", r.lo[i], r.hi[i]);
    for (int i = NSYM; i-- > 0;)
      r.s[i] = sym((const char *[]){"a", "b", "c", "d"}[i], r.lo[i], r.hi[i]);
    random_dim(&r, NNODE / 2, all_ops);
    wick_dim e = rebuild(first, d);
    assert_string_equal(dim_text(first, d), dim_text(table, e));
  }
}

/* ---- the rest of the interface ---- */

static void test_constants_and_limits(void **state)
{
  (void)state;
  const int64_t big = (int64_t)1 << 62;
  wick_dim n = sym("N", 1, 64), invalid = WICK_DIM_INVALID;
  assert_true(wick_dim_is(add(num(INT64_MAX - 1), num(1)), INT64_MAX));
  assert_true(wick_dim_is(sub(num(-big), num(0)), -big));
  const wick_dim bad[] = {
      add(num(INT64_MAX), num(1)),
      sub(num(-big), num(1)),
      mul(num(big), num(2)),
      mul(mul(n, num(big)), num(2)),
      add(n, WICK_DIM_ANY),
      mul(WICK_DIM_ANY, num(0)),
      add(invalid, n),
      mul(num(0), invalid),
      quo(n, num(0)),
      rem_(num(1), num(0)),
      least(invalid, num(1)),
      most(n, WICK_DIM_ANY),
      sub(n, num(-big - 1)),
      add(num(0), num(-big - 1)),
      quo(num(-big), sub(n, n)),
      wick_dim_ceildiv(table, n, num(0)),
      wick_dim_ceildiv(table, invalid, n),
      add((wick_dim){INT64_MIN + 1000000}, n), /* no such expression */
  };
  for (size_t i = 0; i < WICK_COUNT(bad); i++) assert_true(wick_dim_eq(bad[i], invalid));
  assert_true(wick_dim_is(quo(num(-7), num(2)), -4));
  assert_true(wick_dim_is(rem_(num(-7), num(2)), 1));
  assert_true(wick_dim_is(rem_(num(7), num(-2)), -1));
  assert_true(wick_dim_is(wick_dim_ceildiv(table, num(7), num(2)), 4));
  assert_string_equal(dim_text(table, WICK_DIM_ANY), "any");

  wick_dim deep = n, many = num(0);
  for (int i = 0; i < 1000; i++) deep = add(quo(mul(deep, deep), add(n, num(i + 1))), num(1));
  assert_true(wick_dim_eq(deep, invalid));
  for (int i = 0; i < 5000; i++) {
    char name[16];
    snprintf(name, sizeof name, "s%d", i);
    many = add(many, sym(name, 0, 9));
    assert_true(wick_dim_eq(many, invalid) == (i >= WICK_DIM_ATOMS));
  }
}

static void test_ranges(void **state)
{
  (void)state;
  wick_dim n = sym("N", 1, INT64_MAX), i = sym("i", 0, 6), o = sym("o", -3, 7);
  static const int64_t lo[] = {2, -1}, hi[] = {4, 2};
  const struct {
    wick_dim d;
    int64_t lo, hi, box_lo, box_hi;
  } rows[] = {
      {num(5), 5, 5, 5, 5},
      {i, 0, 6, 2, 4},
      {add(mul(i, num(2)), o), -3, 19, 3, 10},
      {mul(o, o), 0, 49, 0, 4},
      {mul(mul(o, o), o), -27, 343, -1, 8},
      {mul(i, o), -18, 42, -4, 8},
      {quo(o, num(4)), -1, 1, -1, 0},
      {rem_(i, num(5)), 0, 4, 2, 4},
      {least(i, o), -3, 6, -1, 2},
      {most(i, o), 0, 7, 2, 4},
      {n, 1, INT64_MAX, 1, INT64_MAX},
      {sub(n, num(5)), -4, INT64_MAX, -4, INT64_MAX},
      {sub(num(5), n), INT64_MIN + ((int64_t)1 << 33), 4, INT64_MIN + ((int64_t)1 << 33), 4},
      {mul(n, o), INT64_MIN + ((int64_t)1 << 33), INT64_MAX, INT64_MIN + ((int64_t)1 << 33),
       INT64_MAX},
      {quo(n, num(1000)), 0, INT64_MAX, 0, INT64_MAX},
      {rem_(n, num(1000)), 0, 999, 0, 999},
  };
  for (size_t k = 0; k < WICK_COUNT(rows); k++) {
    int64_t got_lo, got_hi;
    wick_dim_range(table, rows[k].d, &got_lo, &got_hi);
    assert_int_equal(got_lo, rows[k].lo);
    assert_int_equal(got_hi, rows[k].hi);
    wick_dim_range_with(table, rows[k].d, 2, (wick_dim[]){i, o}, lo, hi, &got_lo, &got_hi);
    assert_int_equal(got_lo, rows[k].box_lo);
    assert_int_equal(got_hi, rows[k].box_hi);
  }
}

static void test_parts(void **state)
{
  (void)state;
  wick_dim n = sym("N", 1, 64), i = sym("i", 0, 6), x = sym("x", 0, 99), coef, rest;
  wick_dim d = add(add(mul(n, i), mul(i, num(3))), add(quo(x, n), num(2)));
  assert_true(wick_dim_linear(table, d, i, &coef, &rest));
  assert_string_equal(dim_text(table, coef), "N + 3");
  assert_string_equal(dim_text(table, rest), "floordiv(x, N) + 2");
  assert_false(wick_dim_linear(table, d, n, &coef, &rest));
  assert_false(wick_dim_linear(table, mul(d, i), i, &coef, &rest));
  assert_false(wick_dim_linear(table, WICK_DIM_ANY, i, &coef, &rest));
  assert_true(wick_dim_linear(table, num(7), i, &coef, &rest));
  assert_true(wick_dim_is(coef, 0) && wick_dim_is(rest, 7));

  assert_true(wick_dim_is_symbol(table, n));
  assert_false(wick_dim_is_symbol(table, add(n, num(1))) || wick_dim_is_symbol(table, num(1)));
  assert_true(wick_dim_eq(sym("N", 1, 64), n));
  assert_false(wick_dim_eq(sym("N", 1, 65), n));
  assert_true(wick_dim_uses(table, d, x) && wick_dim_uses(table, d, n));
  assert_false(wick_dim_uses(table, rest, x) || wick_dim_uses(table, WICK_DIM_ANY, x));

  wick_dim_list list = {0};
  wick_dim_symbols(table, quo(x, n), &mem, &list);
  wick_dim_symbols(table, d, &mem, &list);
  assert_int_equal(list.n, 3);
  assert_true(wick_dim_eq(list.at[0], x) && wick_dim_eq(list.at[1], n) &&
              wick_dim_eq(list.at[2], i));

  /* All at once: a swap. A symbol alone may become ANY, a part of something may not. */
  wick_dim e = add(n, mul(x, num(2)));
  wick_dim swapped = wick_dim_substitute(table, e, 2, (wick_dim[]){n, x}, (wick_dim[]){x, n});
  assert_string_equal(dim_text(table, swapped), "2*N + x");
  assert_true(
      wick_dim_eq(wick_dim_substitute(table, x, 1, &x, &(wick_dim){WICK_DIM_ANY.v}), WICK_DIM_ANY));
  assert_true(wick_dim_eq(wick_dim_substitute(table, e, 1, &x, &(wick_dim){WICK_DIM_ANY.v}),
                          WICK_DIM_INVALID));

  int64_t got;
  assert_false(wick_dim_eval(table, e, 1, &n, (int64_t[]){1}, &got)); /* x has no value */
  assert_false(
      wick_dim_eval(table, mul(e, e), 2, (wick_dim[]){n, x}, (int64_t[]){1, INT64_MAX / 2}, &got));
  assert_false(wick_dim_eval(table, quo(x, n), 2, (wick_dim[]){n, x}, (int64_t[]){0, 5}, &got));
  assert_true(wick_dim_eval(table, quo(x, n), 2, (wick_dim[]){n, x}, (int64_t[]){2, 5}, &got) &&
              got == 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_forms, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_constants_and_limits, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_ranges, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_parts, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_values, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_laws, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_min_max_laws, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_form_is_canonical, dim_setup, dim_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
