/* Random dimension expressions: laws of arithmetic, and values, which must not depend on the
 * form. */
#include "ir/dim_testing.h"

static uint64_t random_state;
static uint32_t pick(uint32_t n)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % n);
}

enum { NSYM = 4, NNODE = 24 };

typedef struct tree_node {
  char op; /* an operator of dim_read, s for a symbol, n for a number */
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

/* Evaluates the tree directly. Returns false for a division by 0 or a large number. */
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
        print_error("round %u: %s in [%" PRId64 ", %" PRId64 "], expected %" PRId64 "\n", round,
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
  int64_t lo[2], hi[2]; /* a range of one value may make it constant */
  wick_dim_range(table, a, &lo[0], &hi[0]);
  wick_dim_range(table, b, &lo[1], &hi[1]);
  if (lo[0] == hi[0] && lo[1] == hi[1] && lo[0] == lo[1]) return;
  fail_msg("%s: %s is not %s", law, dim_text(table, a), dim_text(table, b));
}

/* Expressions that are equal by the laws of a ring, or of division by a constant, have the same
 * handle. */
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

/* min and max are associative if the arguments are sums, because ranges then decide all
 * comparisons in the same way. */
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

/* Builds the expression again in the table `table`, from its parts by arithmetic, as a reader of
 * the text does. */
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

/* The form, read back, is the same expression. It has the same text in a table in which other
 * expressions were interned first. */
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_values, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_laws, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_min_max_laws, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_form_is_canonical, dim_setup, dim_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
