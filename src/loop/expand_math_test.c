/* Compares the expansion of every scalar operator that has one with the operator's evaluation, in
 * the interpreter, on every type, within the stated error. */
#include "loop/scalar_testing.h"

#include <fenv.h>

/* Attributes other than the defaults, in the operator's order. */
static const struct {
  const char *op;
  double attr[WICK_MAX_ATTR];
} variants[] = {
    {"elu", {1.3}},
    {"celu", {0.7}},
    {"celu", {-0.7}},
    {"swish", {1.702}},
    {"gelu", {1}},
    {"leaky_relu", {0.2}},
    {"shrink", {1.5, 0.25}},
    {"hard_sigmoid", {0.25}},
    {"isinf", {0, 1}},
    {"isinf", {1, 0}},
    {"isinf", {0, 0}},
    {"selu", {1.5, 2}},
    {"thresholded_relu", {0}},
};

static void set_attrs(scalar_test *t, const double *value)
{
  const wick_op *row = wick_ops[t->op];
  for (uint32_t i = 0; i < wick_op_nattr(row); i++) {
    double v = value && i < 2 ? value[i] : row->attr[i].dflt;
    t->attr[i] =
        row->attr[i].kind == WICK_ATTR_FLOAT ? (wick_attr){.f = v} : (wick_attr){.i = (int64_t)v};
  }
}

/* The C library, which evaluates f64, has errors of its own. 16-bit floats are rounded from f32. */
static double allowed(const wick_op *row, wick_elem out)
{
  if (out == WICK_F64) return row->ulp + 0.6;
  return out == WICK_F32 ? row->ulp : 0.5 + row->ulp * (out == WICK_F16 ? 0x1p-12 : 0x1p-15);
}

static void check_one(const scalar_test *t, uint32_t i)
{
  const wick_op *row = wick_ops[t->op];
  wick_scalar in[3] = {t->in[0][i], t->in[1][i], t->in[2][i]};
  wick_scalar want = wick_eval_scalar(t->op, t->attr, t->elem, t->out, in), got = t->got[i];
  if (scalar_same(t->out, got, want)) return;
  if (row->ulp != 0 && wick_elem_is_float(t->out)) {
    double exact = row->eval(t->attr, t->elem, t->out, in).f;
    if (scalar_ulps(t->out, got.f, exact) <= allowed(row, t->out)) return;
    fail_msg("%s %s(%a, %a): got %a, expected %a: %g ulp", wick_elem_name(t->elem), row->name,
             in[0].f, t->nin > 1 ? in[1].f : 0, got.f, exact, scalar_ulps(t->out, got.f, exact));
  }
  if (wick_elem_is_float(t->elem))
    fail_msg("%s %s(%a, %a): got %a or %lld, expected %a", wick_elem_name(t->elem), row->name,
             in[0].f, t->nin > 1 ? in[1].f : 0, got.f, (long long)got.i, want.f);
  fail_msg("%s %s(%lld, %lld): got %lld, expected %lld", wick_elem_name(t->elem), row->name,
           (long long)in[0].i, t->nin > 1 ? (long long)in[1].i : 0, (long long)got.i,
           (long long)want.i);
}

static void check_row(scalar_test *t, wick_opcode op, wick_elem e, const double *attr)
{
  const wick_op *row = wick_ops[op];
  t->op = op;
  t->elem = e;
  t->out = row->scalar == WICK_RULE_COMPARE ? WICK_BOOL : e;
  t->nin = row->nin[0];
  set_attrs(t, attr);
  scalar_begin(t);
  scalar_fill(t, 8192);
  scalar_run(t);
  for (uint32_t i = 0; i < t->n; i++) check_one(t, i);
  scalar_end(t);
}

static bool expands_on(const wick_op *row, wick_elem e)
{
  return row->scalar && row->expand && (row->elems & WICK_BIT(e)) &&
         (!row->expands || row->expands & WICK_BIT(e));
}

static void each_row_keeps_its_error(void **state)
{
  scalar_test *t = *state;
  for (wick_opcode op = 1; op < WICK_NOP; op++)
    for (wick_elem e = WICK_F64; e < WICK_BOOL; e++)
      if (expands_on(wick_ops[op], e)) check_row(t, op, e, NULL);
}

static void each_attribute_keeps_it(void **state)
{
  scalar_test *t = *state;
  for (uint32_t i = 0; i < WICK_COUNT(variants); i++) {
    wick_opcode op = wick_op_find(variants[i].op, strlen(variants[i].op));
    check_row(t, op, WICK_F32, variants[i].attr);
    check_row(t, op, WICK_F64, variants[i].attr);
  }
}

/* The same on a target without fused multiply-add, and on one that has only sums and products. */
static void a_poor_machine_keeps_it(void **state)
{
  scalar_test *t = *state;
  wick_target poor = {.row = "poor"};
  t->target = &poor;
  for (wick_opcode op = 1; op < WICK_NOP; op++)
    if (expands_on(wick_ops[op], WICK_F32)) check_row(t, op, WICK_F32, NULL);
  check_row(t, WICK_OP_exp, WICK_F64, NULL);
  check_row(t, WICK_OP_pow, WICK_F64, NULL);
  check_row(t, WICK_OP_fmod, WICK_F64, NULL);
  t->target = NULL;
}

/* Runs an operator on numbers from -`most` to `most`, an eighth of them down to 2^least, and fails if
 * a result or a step is below the normal range. */
static void check_normal(scalar_test *t, wick_opcode op, wick_elem e, const double *attr,
                         double most, int least)
{
  t->op = op;
  t->elem = t->out = e;
  t->nin = 1;
  t->n = 4096;
  set_attrs(t, attr);
  scalar_begin(t);
  for (uint32_t i = 0; i < t->n; i++) {
    double x = i / (t->n / 2.0) - 1 + 1e-5;
    t->in[0][i] = wick_round_elem(e, (wick_scalar){.f = i % 8 ? most * x : ldexp(x, least)});
  }
  feclearexcept(FE_UNDERFLOW);
  scalar_run(t);
  bool underflow = fetestexcept(FE_UNDERFLOW);
  scalar_end(t);
  if (underflow) fail_msg("%s %s underflows", wick_elem_name(e), wick_ops[op]->name);
}

/* gelu squares x. */
static void activations_that_vanish_do_not_underflow(void **state)
{
  static const struct {
    wick_opcode op;
    double attr[WICK_MAX_ATTR];
    int least;
  } rows[] = {
      {WICK_OP_exp_minus, {0}, -100}, {WICK_OP_sigmoid, {0}, -100}, {WICK_OP_softplus, {0}, -100},
      {WICK_OP_swish, {1}, -100},     {WICK_OP_mish, {0}, -100},    {WICK_OP_gelu, {0}, -30},
      {WICK_OP_gelu, {1}, -30},       {WICK_OP_tanh, {0}, -100},    {WICK_OP_elu, {1}, -100}};
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    check_normal(*state, rows[i].op, WICK_F32, rows[i].attr, 300, rows[i].least);
    check_normal(*state, rows[i].op, WICK_F64, rows[i].attr, 3000, rows[i].least);
  }
}

/* ---- functions that procedures use often ---- */

enum { OFTEN = 40, SELDOM = 3 };

/* Builds a procedure that applies sin `nsin` times and sqrt once. */
static void build_procedure(wick_module *m, const char *name, int nsin, wick_arena *mem)
{
  wick_builder b;
  wick_func *f;
  wick_build_begin(&b, m, WICK_LOOP, name, mem);
  wick_value x = wick_build_param(&b, wick_type_scalar(m, WICK_F64, 1), WICK_IN, NULL);
  for (int i = 0; i < nsin; i++) x = wick_build1(&b, WICK_OP_sin, x);
  x = wick_build1(&b, WICK_OP_sqrt, x);
  wick_build_return(&b, 1, &x);
  assert_null(wick_build_end(&b, &f));
  wick_module_set(m, f);
}

static uint32_t count_calls(const wick_func *f)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nnode; i++) n += f->node[i].op == WICK_OP_call;
  return n;
}

/* Expands the procedures @one and @two, which use sin. Returns the number of calls in both, and the
 * nodes of what they call. */
static uint32_t expand_two(scalar_test *t, int none, int ntwo, uint32_t *out_nnode)
{
  void *memo = NULL;
  uint32_t ncall = 0;
  t->mem = wick_arena_make(&t->guard), t->tmp = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
  build_procedure(t->m, "one", none, &t->mem);
  build_procedure(t->m, "two", ntwo, &t->mem);
  const wick_pass_context pass = {.memo = &memo, .mem = &t->mem, .tmp = &t->tmp};
  for (int i = 0; i < 2; i++) {
    wick_func *f;
    assert_null(wick_pass_expand_math(&pass, wick_module_find(t->m, i ? "two" : "one"), &f));
    wick_module_set(t->m, f);
    ncall += count_calls(f);
  }
  const wick_func *shared = wick_module_find(t->m, "math.sin.f64");
  *out_nnode = shared ? shared->nnode : 0;
  assert_null(wick_verify_module(t->m, &t->tmp));
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
  wick_arena_free(&t->tmp);
  return ncall;
}

static void functions_that_are_used_often_are_procedures(void **state)
{
  uint32_t nnode;
  assert_int_equal(expand_two(*state, SELDOM, SELDOM, &nnode), 0);
  assert_int_equal(nnode, 0);
  assert_int_equal(expand_two(*state, SELDOM, OFTEN, &nnode), SELDOM + OFTEN);
  assert_true(nnode > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_row_keeps_its_error),
      cmocka_unit_test(each_attribute_keeps_it),
      cmocka_unit_test(a_poor_machine_keeps_it),
      cmocka_unit_test(activations_that_vanish_do_not_underflow),
      cmocka_unit_test(functions_that_are_used_often_are_procedures),
  };
  return cmocka_run_group_tests(tests, scalar_setup, scalar_teardown);
}
