/* Every scalar operator with machine code, on every element type, as scalar and vector, on every
 * level of this processor, compared with its evaluation. */
#include "codegen/llvm/testing.h"

#include <math.h>
#include <stdlib.h>

#include "codegen/llvm/emit.h"
#include "ir/element.h"
#include "ops/elementwise/scalar.h"

enum { ROWS_LANES = 8, ROWS_MOST = 32 };

static const double rows_floats[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     2.5,
                                     -2.5,
                                     3.7,
                                     -3.7,
                                     1e10,
                                     -1e10,
                                     3e38,
                                     -3e38,
                                     1e-40,
                                     -1e-40,
                                     127.9,
                                     -128.9,
                                     255.5,
                                     256.0,
                                     2147483648,
                                     -2147483649.0,
                                     4294967296,
                                     9.3e18,
                                     -9.3e18,
                                     1.8e19,
                                     1e300,
                                     -1e300,
                                     (double)INFINITY,
                                     -(double)INFINITY,
                                     (double)NAN};

static const int64_t rows_ints[] = {0,          1,          -1,        2,          -2,
                                    3,          7,          -7,        8,          15,
                                    31,         32,         63,        64,         100,
                                    127,        -128,       128,       255,        256,
                                    32767,      -32768,     65535,     2147483647, -2147483647 - 1,
                                    4294967295, INT64_MAX,  INT64_MIN, 42,         -42,
                                    1000000007, -1000000007};

static bool rows_plain(wick_elem e)
{
  return WICK_PLAIN & WICK_BIT(e) && e != WICK_F16 && e != WICK_BF16;
}

/* Returns value number k for operand `operand`. The operands go through all pairs. */
static wick_scalar rows_value(wick_elem e, uint32_t k, uint32_t operand)
{
  uint32_t n = ROWS_MOST, at = operand == 0 ? k % n : operand == 1 ? k / n % n : (k * 7 + 3) % n;
  wick_scalar s = wick_elem_is_float(e) ? (wick_scalar){.f = rows_floats[at]}
                                        : (wick_scalar){.i = rows_ints[at]};
  if (e == WICK_BOOL) s.i &= 1;
  return wick_round_elem(e, s);
}

typedef struct rows_case {
  wick_opcode op;
  wick_elem in[3], out;
  uint32_t nin;
  bool upper; /* mul_high: the upper word, without a number to add */
  char name[48];
} rows_case;

static void rows_attributes(const rows_case *c, wick_attr *out)
{
  out[0].i = out[1].i = 1;
  if (c->op != WICK_OP_mul_high) return;
  out[WICK_ATTR_mul_high_add].i = c->upper ? 0 : 1 << 30;
  out[WICK_ATTR_mul_high_bits].i = c->upper ? 32 : 31;
}

/* loop @NAME(@out %y, @in %x..., %begin, %end): each task processes a vector of `lanes`
 * elements. */
static void rows_build(testing *t, const rows_case *c, uint32_t lanes)
{
  wick_builder b;
  wick_build_begin(&b, t->m, WICK_LOOP, wick_str_printf(&t->mem, "%s.%u", c->name, lanes), &t->mem);
  wick_dim n = wick_dim_const(1024);
  wick_type i64 = wick_type_scalar(t->m, WICK_I64, 1);
  wick_value y = wick_build_param(&b, wick_type_buffer(t->m, c->out, 1, &n, WICK_IO), WICK_OUT,
                                  "y"),
             x[3];
  for (uint32_t i = 0; i < c->nin; i++)
    x[i] = wick_build_param(&b, wick_type_buffer(t->m, c->in[i], 1, &n, WICK_IO), WICK_IN, "x");
  wick_value range[2];
  range[0] = wick_build_param(&b, i64, WICK_IN, "begin");
  range[1] = wick_build_param(&b, i64, WICK_IN, "end");
  wick_build_open(&b, WICK_OP_for, 2, range, NULL, 0, NULL);
  wick_value task = wick_region_begin(&b, 1, &i64);
  wick_value at = wick_build2(&b, WICK_OP_mul, task, wick_build_i64(&b, lanes)), v[3];
  for (uint32_t i = 0; i < c->nin; i++) {
    wick_type want = wick_type_scalar(t->m, c->in[i], lanes);
    v[i] = wick_build(&b, WICK_OP_load, 2, (wick_value[]){x[i], at}, NULL, 1, &want);
  }
  wick_type out = wick_type_scalar(t->m, c->out, lanes);
  bool typed = wick_ops[c->op]->typed;
  wick_attr form[2] = {{0}};
  rows_attributes(c, form);
  wick_value r = wick_build(&b, c->op, c->nin, v, c->op == WICK_OP_mul_high ? form : NULL, typed,
                            typed ? &out : NULL);
  wick_build(&b, WICK_OP_store, 3, (wick_value[]){y, at, r}, NULL, 0, NULL);
  wick_yield(&b, 0, NULL);
  wick_build_close(&b);
  wick_build_return(&b, 0, NULL);
  testing_add(t, &b);
}

static bool rows_same(wick_elem e, wick_scalar a, wick_scalar b)
{
  if (!wick_elem_is_float(e)) return a.i == b.i;
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) && isnan(b.f);
  return a.f == b.f && !signbit(a.f) == !signbit(b.f);
}

enum { ROWS_BYTES = 8200, ROWS_ELEMENTS = 1024 };

typedef struct rows_data { /* a kernel's operands; also the file format of run_artifact.c */
  int64_t ntask;
  unsigned char x[3][ROWS_BYTES];
} rows_data;

static bool rows_divides(wick_opcode op)
{
  return op == WICK_OP_div_unchecked || op == WICK_OP_rem_unchecked;
}

/* Returns an operand of mul_exp2: a factor from 1/2 to 2, or the second operand for an n. */
static wick_scalar rows_exp2(const rows_case *c, uint32_t j, uint32_t operand)
{
  bool wide = c->in[0] == WICK_F64;
  double least = wide ? -1100 : -150, most = -least, n = least + fmod(j * 7.0, most - least + 1);
  return (wick_scalar){.f = operand ? (wide ? 0x1.8p52 : 0x1.8p23) + n : 0.5 + 1.5 * (j % 61) / 61};
}

static void rows_fill(const rows_case *c, uint32_t lanes, rows_data *d)
{
  memset(d, 0, sizeof *d);
  d->ntask = ROWS_ELEMENTS / lanes;
  for (uint32_t i = 0; i < c->nin; i++)
    for (uint32_t j = 0; j < ROWS_ELEMENTS; j++) {
      wick_scalar s = rows_value(c->in[i], j, i);
      if (rows_divides(c->op) && i == 1 && (s.i == 0 || s.i == -1))
        s.i = 5; /* the operator requires such a divisor */
      if (c->op == WICK_OP_mul_exp2) s = rows_exp2(c, j, i);
      wick_store_elem(c->in[i], d->x[i], j, s);
    }
}

static void rows_compare(const rows_case *c, uint32_t lanes, const char *target, const rows_data *d,
                         const unsigned char *y)
{
  for (uint32_t j = 0; j < ROWS_ELEMENTS; j++) {
    wick_attr both[2] = {{0}};
    rows_attributes(c, both);
    wick_scalar in[3] = {{0}};
    for (uint32_t i = 0; i < c->nin; i++) in[i] = wick_load_elem(c->in[i], d->x[i], j);
    wick_elem data = c->op == WICK_OP_where ? c->in[1] : c->in[0];
    wick_scalar want = wick_eval_scalar(c->op, both, data, c->out, in),
                have = wick_load_elem(c->out, y, j);
    if (rows_same(c->out, want, have)) continue;
    fail_msg(
        "%s on %s, %u lanes, element %u: %g (%lld) of %g (%lld), %g (%lld): expected %g (%lld)",
        c->name, target, lanes, j, have.f, (long long)have.i, in[0].f, (long long)in[0].i, in[1].f,
        (long long)in[1].i, want.f, (long long)want.i);
  }
}

/* Lists the cases of an operator: one for each element type, or pair of types, that it accepts, and
 * for each form of operators that have two. */
static uint32_t rows_cases(wick_opcode op, rows_case *out)
{
  const wick_op *row = wick_ops[op];
  uint32_t n = 0;
  for (int e = 0; e < WICK_NELEM; e++)
    for (int to = 0; to < WICK_NELEM; to++) {
      wick_elem from = (wick_elem)e, result = (wick_elem)to;
      if (!rows_plain(from) || !rows_plain(result)) continue;
      if (row->elems && !(row->elems & WICK_BIT(from))) continue;
      bool typed = row->scalar == WICK_RULE_TYPED;
      if (!typed && result != (row->scalar == WICK_RULE_COMPARE ? WICK_BOOL : from)) continue;
      if (op == WICK_OP_bitcast &&
          (wick_elem_storage[from].bits != wick_elem_storage[result].bits || from == WICK_BOOL ||
           result == WICK_BOOL))
        continue;
      rows_case *c = &out[n++];
      *c = (rows_case){.op = op, .out = result, .nin = row->nin[0]};
      for (uint32_t i = 0; i < 3; i++) c->in[i] = from;
      if (op == WICK_OP_where) c->in[0] = WICK_BOOL;
      snprintf(c->name, sizeof c->name, "%s.%s.%s", row->name, wick_elem_name(from),
               wick_elem_name(result));
      if (op != WICK_OP_mul_high) continue;
      out[n] = *c;
      out[n].upper = true;
      snprintf(out[n++].name, sizeof c->name, "%s.upper.%s", row->name, wick_elem_name(from));
    }
  return n;
}

/* Returns true if a pass expands the operator for this target and these types. */
static bool rows_expanded(const rows_case *c, const wick_target *t)
{
  bool is_float = wick_elem_is_float(c->in[0]);
  uint64_t bit = WICK_BIT(c->in[0]);
  switch (c->op) {
  case WICK_OP_fma: return !(t->fma & bit);
  case WICK_OP_muladd: return !(t->fma & bit); /* its reference is fused */
  case WICK_OP_sqrt: return !(t->sqrt & bit);
  case WICK_OP_floor:
  case WICK_OP_ceil:
  case WICK_OP_trunc:
  case WICK_OP_round_even: return !(t->round & bit);
  case WICK_OP_mod:
  case WICK_OP_fmod: return is_float;
  default: return false;
  }
}

static const wick_opcode rows_all[] = {WICK_OP_add,
                                       WICK_OP_sub,
                                       WICK_OP_mul,
                                       WICK_OP_fma,
                                       WICK_OP_muladd,
                                       WICK_OP_mul_exp2,
                                       WICK_OP_mul_high,
                                       WICK_OP_neg,
                                       WICK_OP_abs,
                                       WICK_OP_sign,
                                       WICK_OP_max,
                                       WICK_OP_min,
                                       WICK_OP_div,
                                       WICK_OP_mod,
                                       WICK_OP_fmod,
                                       WICK_OP_div_unchecked,
                                       WICK_OP_rem_unchecked,
                                       WICK_OP_eq,
                                       WICK_OP_ne,
                                       WICK_OP_lt,
                                       WICK_OP_le,
                                       WICK_OP_gt,
                                       WICK_OP_ge,
                                       WICK_OP_isnan,
                                       WICK_OP_isinf,
                                       WICK_OP_where,
                                       WICK_OP_and,
                                       WICK_OP_or,
                                       WICK_OP_xor,
                                       WICK_OP_not,
                                       WICK_OP_bit_and,
                                       WICK_OP_bit_or,
                                       WICK_OP_bit_xor,
                                       WICK_OP_bit_not,
                                       WICK_OP_shift_left,
                                       WICK_OP_shift_right,
                                       WICK_OP_floor,
                                       WICK_OP_ceil,
                                       WICK_OP_trunc,
                                       WICK_OP_round_even,
                                       WICK_OP_sqrt,
                                       WICK_OP_cast,
                                       WICK_OP_bitcast};

/* ---- running ---- */

typedef struct rows_run { /* a kernel */
  rows_case c;
  uint32_t lanes;
  rows_data in;
  unsigned char y[ROWS_BYTES];
} rows_run;

/* QEMU 7.2 crashes in vfncvt.rtz, which converts vectors of floats to narrower integers. */
static bool rows_unemulated(const rows_case *c, const wick_target *t)
{
  return c->op == WICK_OP_cast && t->machine == WICK_MACHINE_RISCV64 && t->vector_bytes &&
         wick_elem_is_float(c->in[0]) && wick_elem_is_int(c->out) &&
         wick_elem_storage[c->out].bits < wick_elem_storage[c->in[0]].bits;
}

/* Adds the kernels of an operator for a target to the module, and lists them, sorted by name, in
 * *out. */
static uint32_t rows_module(testing *test, wick_opcode op, const wick_target *t, bool emulated,
                            rows_run **out)
{
  rows_case *c = wick_new(&test->mem, rows_case, 2 * WICK_NELEM * WICK_NELEM);
  uint32_t n = rows_cases(op, c), nrun = 0;
  *out = wick_new(&test->mem, rows_run, 2 * n);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t lanes = 1; lanes <= ROWS_LANES && !rows_expanded(&c[i], t); lanes *= ROWS_LANES) {
      if (emulated && lanes > 1 && rows_unemulated(&c[i], t)) continue;
      rows_run *r = &(*out)[nrun++];
      *r = (rows_run){.c = c[i], .lanes = lanes};
      rows_build(test, &c[i], lanes);
      rows_fill(&c[i], lanes, &r->in);
    }
  return nrun;
}

static const char *rows_symbol(testing *test, const rows_run *r)
{
  return wick_str_printf(&test->mem, "%s.%u", r->c.name, r->lanes);
}

static void rows_call(testing *test, uint32_t n, rows_run *run)
{
  for (uint32_t i = 0; i < n; i++) {
    rows_run *r = &run[i];
    wick_kernel k = wick_image_kernel(&test->image, rows_symbol(test, r));
    assert_non_null(k);
    k((void *[]){r->y, r->in.x[0], r->in.x[1], r->in.x[2]}, 0, r->in.ntask);
  }
}

/* ---- other machines, under an emulator ---- */

typedef struct rows_emulator {
  const char *cc, *qemu;
  char folder[32];
} rows_emulator;

static bool rows_shell(const char *fmt, const rows_emulator *e, const char *a)
{
  char command[512];
  snprintf(command, sizeof command, fmt, e->cc, e->qemu, e->folder, a);
  return system(command) == 0;
}

/* Builds the program that calls kernels, for the machine. */
static bool rows_emulator_begin(rows_emulator *e)
{
  strcpy(e->folder, "/tmp/wick-rows-XXXXXX");
  if (!mkdtemp(e->folder)) return false;
  return rows_shell("command -v %1$s >/dev/null && command -v %2$s >/dev/null && "
                    "%1$s -std=c17 -D_GNU_SOURCE -O1 -static -Isrc -Iinclude %4$s "
                    "src/runtime/artifact.c src/runtime/load.c src/base/arena.c src/base/cpu.c "
                    "src/base/file.c src/base/reader.c src/base/status.c src/base/str.c "
                    "-o %3$s/run 2>/dev/null",
                    e, "tests/codegen/run_artifact.c");
}

static void rows_emulator_end(const rows_emulator *e) { (void)rows_shell("rm -rf %3$s", e, ""); }

static rows_run *rows_find(testing *test, uint32_t n, rows_run *run, const char *symbol)
{
  for (uint32_t i = 0; i < n; i++)
    if (strcmp(rows_symbol(test, &run[i]), symbol) == 0) return &run[i];
  fail_msg("%s is no kernel of the test", symbol);
  return NULL;
}

static void rows_emulate(testing *test, const rows_emulator *e, uint32_t n, rows_run *run)
{
  const char *input = wick_path_join(&test->mem, e->folder, "in"),
             *output = wick_path_join(&test->mem, e->folder, "out"),
             *code = wick_path_join(&test->mem, e->folder, "code");
  wick_bytes all = {test->file.at, test->file.nbytes};
  testing_ok(wick_file_write(&test->mem, code, &all, 1));
  assert_int_equal(test->artifact.nsymbol, n);
  wick_bytes *part = wick_new(&test->mem, wick_bytes, n);
  for (uint32_t i = 0; i < n; i++) {
    rows_run *r = rows_find(test, n, run, test->artifact.symbol[i].name);
    part[i] = (wick_bytes){&r->in, 8 + sizeof r->in.x};
  }
  testing_ok(wick_file_write(&test->mem, input, part, n));
  if (!rows_shell("%2$s %4$s %3$s/run %3$s/code %3$s/in %3$s/out", e, ""))
    fail_msg("%s failed on %s", e->qemu, run[0].c.name);
  char *bytes;
  size_t nbytes;
  testing_ok(wick_file_read(&test->mem, output, 0, &bytes, &nbytes));
  assert_int_equal(nbytes, (size_t)n * ROWS_BYTES);
  for (uint32_t i = 0; i < n; i++)
    memcpy(rows_find(test, n, run, test->artifact.symbol[i].name)->y, bytes + i * ROWS_BYTES,
           ROWS_BYTES);
}

/* ---- the tests ---- */

static void rows_on(const char *target, const rows_emulator *e)
{
  wick_target t;
  assert_true(wick_target_find(target, &t));
  for (uint32_t i = 0; i < WICK_COUNT(rows_all); i++) {
    testing test;
    rows_run *run;
    testing_begin(&test);
    uint32_t n = rows_module(&test, rows_all[i], &t, e != NULL, &run);
    testing_make(&test, target, false);
    if (e) {
      if (n) rows_emulate(&test, e, n, run);
    } else {
      testing_ok(wick_image_map(&test.artifact, &test.mem, &test.image));
      rows_call(&test, n, run);
    }
    for (uint32_t k = 0; k < n; k++)
      rows_compare(&run[k].c, run[k].lanes, target, &run[k].in, run[k].y);
    testing_end(&test);
  }
}

static void rows_are_what_they_say_on_this_machine(void **state)
{
  (void)state;
  for (uint32_t i = 0; testing_native(i); i++) rows_on(testing_native(i), NULL);
  rows_on("host", NULL);
}

static void rows_under(const char *cc, const char *qemu, const char *const *target)
{
  rows_emulator e = {cc, qemu, ""};
  bool have = rows_emulator_begin(&e);
  for (; have && *target; target++) rows_on(*target, &e);
  rows_emulator_end(&e);
  if (!have) print_message("skipped: %s and %s are expected\n", cc, qemu), skip();
}

static void rows_are_what_they_say_on_aarch64(void **state)
{
  (void)state;
  rows_under(
      "aarch64-linux-gnu-gcc", "qemu-aarch64",
      (const char *const[]){"armv8-a", "armv8.2-a", "armv8.2-a-sve256", "armv8.2-a-sve512", NULL});
}

static void rows_are_what_they_say_on_riscv64(void **state)
{
  (void)state;
  rows_under("riscv64-linux-gnu-gcc", "qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0,vlen=128",
             (const char *const[]){"rv64gc", "rv64gcv", NULL});
  rows_under("riscv64-linux-gnu-gcc", "qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0,vlen=512",
             (const char *const[]){"rv64gcv-zvl256b", "rv64gcv-zvl512b", NULL});
}

static void rows_compile_without_calls_for_all_machines(void **state)
{
  (void)state;
  for (uint32_t k = 0; wick_target_row(k); k++) {
    const wick_target *t = wick_target_row(k);
    for (uint32_t i = 0; i < WICK_COUNT(rows_all); i++) {
      testing test;
      rows_run *run;
      wick_span object;
      testing_begin(&test);
      rows_module(&test, rows_all[i], t, false, &run);
      testing_ok(testing_compile(&test, t->row, false, &object));
      testing_ok(wick_object_check(object, t, NULL, &test.mem));
      testing_end(&test);
    }
  }
}

/* The emitter's tables are by name: each name is an operator's. */
static void rows_have_the_names_of_rows(void **state)
{
  (void)state;
  static const struct emit_named *const all[] = {
      emit_scalar_rows, emit_float_rows, emit_cast_rows,    emit_memory_rows,
      emit_vector_rows, emit_high_rows,  emit_control_rows, emit_run_rows};
  for (uint32_t i = 0; i < WICK_COUNT(all); i++)
    for (const struct emit_named *r = all[i]; r->name; r++)
      if (!wick_op_find(r->name, strlen(r->name))) fail_msg("there is no row %s", r->name);
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_what_they_say_on_this_machine),
      cmocka_unit_test(rows_are_what_they_say_on_aarch64),
      cmocka_unit_test(rows_are_what_they_say_on_riscv64),
      cmocka_unit_test(rows_compile_without_calls_for_all_machines),
      cmocka_unit_test(rows_have_the_names_of_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
