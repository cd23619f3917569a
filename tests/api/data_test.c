/* Data of programs through the public interface: built, passed, given up, read, written as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/torture.h"
#include "wick/wick.h"

static const char data_program[] =
    "type List[a] { Nil, Cons(a, List[a]) }\n"
    "struct Pair { a: f32, b: f32[2] }\n"
    "type Tree { Leaf, Node(Tree, Pair, (i64, bool), Tree) }\n"
    "fn upto(n: i64) -> List[i64] { for i in 0..n with l = Nil { Cons(i, l) } }\n"
    "fn total(l: List[i64]) -> i64 {\n"
    "  match l { Nil => 0, Cons(x, rest) => x + total(rest) }\n"
    "}\n"
    "fn map(f, l) { match l { Nil => Nil, Cons(x, rest) => Cons(f(x), map(f, rest)) } }\n"
    "fn double(l: List[i64]) { map(fn(x) { 2 * x }, l) }\n"
    "fn both(l: List[i64], k: f32[3]) { (l, k * 2.0, (l, double(l)), 5) }\n"
    "fn grow(t: Tree, p: Pair) { Node(t, p, (len(p.b), true), t) }\n"
    "fn unused(l: List[i64], n: i64) { n + 1 }\n"
    "fn fails(l: List[i64], i: i64) { Cons([1, 2][i], double(l)) }\n"
    "fn same(l: List[i64]) -> List[i64] { l }\n"
    "fn cell(r: Ref[i64]) { read(r) }\n"
    "type Box { Box(fn(i64) -> i64) }\n"
    "fn boxed(b: Box) { match b { Box(f) => f(1) } }\n"
    "type Text { Text(string) }\n"
    "fn text(n: i64) { Text(\"a\") }\n"
    "fn knot(l: List[i64]) -> i64 {\n"
    "  let r = ref(l)\n"
    "  write(r, Cons(1, read(r)))\n"
    "  total(read(r))\n"
    "}\n";

static char data_path[] = "/tmp/wick_dataXXXXXX", data_saved[] = "/tmp/wick_savedXXXXXX";

typedef struct data_fixture {
  wick_context *context;
  wick_data_heap *heap;
} data_fixture;

typedef struct data_function {
  wick_model *model;
  wick_compiled *compiled;
  wick_session *session;
} data_function;

static void good(wick_error *e)
{
  if (e) print_error("%s\n", wick_error_message(e));
  assert_null(e);
}

static void refused(wick_error *e, wick_code code, const char *message)
{
  if (!strstr(wick_error_message(e), message)) print_error("%s\n", wick_error_message(e));
  assert_int_equal(wick_error_code(e), code);
  assert_non_null(strstr(wick_error_message(e), message));
  wick_error_free(e);
}

static data_fixture data_begin(uint64_t max_bytes)
{
  data_fixture f;
  good(wick_context_create(NULL, &f.context));
  good(wick_data_heap_create(f.context, max_bytes, &f.heap));
  return f;
}

static void data_end(data_fixture *f)
{
  assert_int_equal(wick_data_heap_used(f->heap), 0);
  wick_data_heap_free(f->heap);
  wick_context_free(f->context);
}

static data_function data_of(data_fixture *f, const char *name)
{
  data_function g;
  const wick_compile_options o = {.size = sizeof o, .cache = ""};
  const wick_session_options s = {.size = sizeof s, .threads = 1, .heap = f->heap};
  good(wick_load_program(f->context, data_path, name, &g.model));
  good(wick_compile(g.model, &o, &g.compiled));
  good(wick_session_create(g.compiled, &s, &g.session));
  return g;
}

static void data_drop(data_function *g)
{
  wick_session_free(g->session);
  wick_compiled_free(g->compiled);
  wick_model_free(g->model);
}

static wick_datum *data_upto(data_fixture *f, int64_t n)
{
  data_function g = data_of(f, "upto");
  wick_datum *l;
  good(wick_run(g.session, (const void *[]){&n}, (void *[]){&l}));
  data_drop(&g);
  return l;
}

static int64_t data_total(data_fixture *f, const wick_datum *l)
{
  data_function g = data_of(f, "total");
  int64_t sum = -1;
  good(wick_run(g.session, (const void *[]){l}, (void *[]){&sum}));
  data_drop(&g);
  return sum;
}

/* ---- runs ---- */

static void test_runs(void **state)
{
  (void)state;
  data_fixture f = data_begin(0);
  data_function twice = data_of(&f, "double"), both = data_of(&f, "both"),
                unused = data_of(&f, "unused"), same = data_of(&f, "same");
  wick_datum *l = data_upto(&f, 1000), *x, *y, *z;
  uint64_t one = wick_data_heap_used(f.heap);
  assert_true(one > 0);
  assert_int_equal(data_total(&f, l), 499500);
  good(wick_run(twice.session, (const void *[]){l}, (void *[]){&x}));
  assert_int_equal(wick_data_heap_used(f.heap), 2 * one);
  assert_int_equal(data_total(&f, l), 499500);
  assert_int_equal(data_total(&f, x), 999000);
  /* What is given up is used again in place. */
  good(wick_run_donating(twice.session, (const void *[]){x}, (bool[]){true}, (void *[]){&x}));
  assert_int_equal(wick_data_heap_used(f.heap), 2 * one);
  assert_int_equal(data_total(&f, x), 1998000);
  const float k[3] = {1, 2, 3};
  float k2[3];
  int64_t five = 0, n = 6;
  wick_datum_free(x);
  good(wick_run(both.session, (const void *[]){l, k}, (void *[]){&x, k2, &y, &z, &five}));
  assert_float_equal(k2[2], 6, 0);
  assert_int_equal(five, 5);
  assert_int_equal(data_total(&f, z), 999000);
  assert_int_equal(wick_data_heap_used(f.heap), 2 * one);
  wick_datum_free(x), wick_datum_free(y), wick_datum_free(z);
  good(wick_run(unused.session, (const void *[]){l, &n}, (void *[]){&n}));
  assert_int_equal(n, 7);
  good(wick_run_donating(same.session, (const void *[]){l}, (bool[]){true}, (void *[]){&x}));
  assert_int_equal(wick_data_heap_used(f.heap), one);
  wick_datum_free(x);
  data_drop(&twice), data_drop(&both), data_drop(&unused), data_drop(&same);
  data_end(&f);
}

/* Runs leave nothing behind, also those that fail, and those that make cycles. */
static void test_flat(void **state)
{
  (void)state;
  data_fixture f = data_begin(1 << 20);
  data_function twice = data_of(&f, "double"), fails = data_of(&f, "fails"),
                knot = data_of(&f, "knot");
  wick_datum *l = data_upto(&f, 10), *m;
  uint64_t used = wick_data_heap_used(f.heap);
  for (int i = 0; i < 1000000; i++) {
    good(wick_run_donating(twice.session, (const void *[]){l}, (const bool[]){i % 2 == 0},
                           (void *[]){&m}));
    if (i % 2) wick_datum_free(l);
    l = m;
  }
  assert_int_equal(wick_data_heap_used(f.heap), used);
  const int64_t outside = 9, inside = 1;
  int64_t sum;
  for (int i = 0; i < 10000; i++) {
    m = l;
    refused(wick_run(fails.session, (const void *[]){l, &outside}, (void *[]){&m}), WICK_ERANGE,
            "out of bounds");
    assert_ptr_equal(m, l);
  }
  good(wick_run(fails.session, (const void *[]){l, &inside}, (void *[]){&m}));
  wick_datum_free(m);
  assert_int_equal(wick_data_heap_used(f.heap), used);
  for (int i = 0; i < 10000; i++)
    good(wick_run(knot.session, (const void *[]){l}, (void *[]){&sum}));
  assert_int_equal(wick_data_heap_used(f.heap), used);
  wick_datum_free(l);
  data_drop(&twice), data_drop(&fails), data_drop(&knot);
  data_end(&f);
}

/* ---- building and reading ---- */

static void test_build(void **state)
{
  (void)state;
  data_fixture f = data_begin(0);
  data_function grow = data_of(&f, "grow");
  const wick_datatype *type = wick_compiled_input(grow.compiled, 0)->data;
  assert_string_equal(type->name, "Tree");
  assert_int_equal(wick_datatype_find(type, "Node"), 1);
  assert_true(wick_datatype_find(type, "Nod") == UINT32_MAX);
  const wick_constructor *node = &type->constructor[1];
  assert_int_equal(node->nfield, 6);
  static const char *const name[] = {"0", "1.a", "1.b", "2.0", "2.1", "3"};
  for (uint32_t k = 0; k < 6; k++) assert_string_equal(node->field[k].name, name[k]);
  assert_ptr_equal(node->field[3].data, NULL);
  assert_ptr_equal(node->field[5].data, type);
  assert_int_equal(node->part[0].nitem, 4);
  assert_string_equal(node->part[2].type, "Pair");
  uint32_t npart;
  const wick_part *part = wick_compiled_parameters(grow.compiled, &npart);
  assert_int_equal(npart, 5);
  assert_string_equal(part[2].name, "p");
  assert_string_equal(part[4].name, "b");
  wick_datum *leaf, *tree, *more, *field, *none;
  good(wick_datum_create(f.heap, type, 0, NULL, &leaf));
  const float a = 1.5f, b[2] = {2, 3};
  const int64_t i = -7;
  const bool yes = true;
  const void *const fields[] = {leaf, &a, b, &i, &yes, leaf};
  good(wick_datum_create(f.heap, type, 1, fields, &tree));
  good(wick_run(grow.session, (const void *[]){tree, &a, b}, (void *[]){&more}));
  assert_int_equal(wick_datum_constructor(more), 1);
  assert_float_equal(((const float *)wick_datum_tensor(more, 2))[1], 3, 0);
  assert_int_equal(*(const int64_t *)wick_datum_tensor(more, 3), 2);
  assert_null(wick_datum_tensor(more, 0));
  assert_null(wick_datum_tensor(more, 6));
  good(wick_datum_field(more, 5, &field));
  assert_int_equal(*(const int64_t *)wick_datum_tensor(field, 3), -7);
  good(wick_datum_step(field, 0));
  assert_int_equal(wick_datum_constructor(field), 0);
  refused(wick_datum_step(field, 0), WICK_EINVAL, "Leaf has no field 0 that is data");
  refused(wick_datum_field(more, 1, &none), WICK_EINVAL, "Node has no field 1 that is data");
  assert_null(none);
  wick_datum_free(field);
  wick_datum_free(leaf), wick_datum_free(more), wick_datum_free(tree);
  data_drop(&grow);
  data_end(&f);
}

static void test_refused(void **state)
{
  (void)state;
  data_fixture f = data_begin(0);
  data_function grow = data_of(&f, "grow"), twice = data_of(&f, "double");
  wick_datum *l = data_upto(&f, 3), *x = NULL;
  const float a = 0, b[2] = {0};
  const wick_datatype *type = wick_compiled_input(grow.compiled, 0)->data;
  refused(wick_run(grow.session, (const void *[]){l, &a, b}, (void *[]){&x}), WICK_ETYPE,
          "input \"t\" is a List[i64], expected a Tree");
  refused(wick_run(grow.session, (const void *[]){NULL, &a, b}, (void *[]){&x}), WICK_EINVAL,
          "input \"t\" has no address");
  const int64_t i = 0;
  const void *const fields[] = {l, &a, b, &i, &i, l};
  refused(wick_datum_create(f.heap, type, 1, fields, &x), WICK_ETYPE,
          "field \"0\" of Node is a List[i64], expected a Tree");
  refused(wick_datum_create(f.heap, type, 2, fields, &x), WICK_EINVAL, "none has the index 2");
  wick_data_heap *other;
  good(wick_data_heap_create(f.context, 0, &other));
  const wick_session_options s = {.size = sizeof s, .threads = 1, .heap = other};
  wick_session *session;
  good(wick_session_create(twice.compiled, &s, &session));
  refused(wick_run(session, (const void *[]){l}, (void *[]){&x}), WICK_EINVAL,
          "input \"l\" is not in the session's heap");
  /* What is given up is gone, also if the run does not begin. */
  x = data_upto(&f, 3);
  refused(wick_run_donating(grow.session, (const void *[]){x, &a, b},
                            (const bool[]){true, false, false}, (void *[]){&x}),
          WICK_ETYPE, "expected a Tree");
  wick_session_free(session);
  wick_data_heap_free(other);
  wick_model *model;
  refused(wick_load_program(f.context, data_path, "cell", &model), WICK_ETYPE,
          ":15:9: error: the entry `cell` cannot take a reference");
  refused(wick_load_program(f.context, data_path, "boxed", &model), WICK_ETYPE,
          ":17:10: error: the entry `boxed` cannot take a function");
  refused(wick_load_program(f.context, data_path, "text", &model), WICK_ETYPE,
          ":19:4: error: the entry `text` cannot give data with strings");
  wick_datum_free(l);
  data_drop(&grow), data_drop(&twice);
  data_end(&f);
}

static void test_full(void **state)
{
  (void)state;
  data_fixture f = data_begin(1 << 16);
  data_function upto = data_of(&f, "upto");
  int64_t n = 100000;
  wick_datum *l = NULL, *m;
  refused(wick_run(upto.session, (const void *[]){&n}, (void *[]){&l}), WICK_ELIMIT, "heap_bytes");
  assert_null(l);
  n = 1000;
  good(wick_run(upto.session, (const void *[]){&n}, (void *[]){&l}));
  const wick_datatype *type = wick_datum_type(l);
  wick_error *e = NULL;
  for (int i = 0; i < 100000 && !e; i++) {
    e = wick_datum_create(f.heap, type, 1, (const void *[]){&n, l}, &m);
    if (!e) wick_datum_free(l), l = m;
  }
  refused(e, WICK_ELIMIT, "the heap of data is full");
  wick_datum_free(l);
  data_drop(&upto);
  data_end(&f);
}

/* ---- bytes ---- */

static void test_saved(void **state)
{
  (void)state;
  data_fixture f = data_begin(0);
  wick_datum *l = data_upto(&f, 1000000), *m;
  uint64_t used = wick_data_heap_used(f.heap);
  good(wick_datum_save(l, data_saved));
  good(wick_datum_load(f.heap, wick_datum_type(l), data_saved, &m));
  assert_int_equal(wick_data_heap_used(f.heap), 2 * used);
  assert_int_equal(data_total(&f, m), 499999500000);
  wick_datum_free(l), wick_datum_free(m);
  data_end(&f);
}

/* Bytes that were changed or cut are refused, and leave nothing behind: also those whose check sum
 * fits. */
static void test_hostile(void **state)
{
  (void)state;
  data_fixture f = data_begin(0);
  data_function grow = data_of(&f, "grow");
  const wick_datatype *type = wick_compiled_input(grow.compiled, 0)->data;
  const float a = 1.5f, b[2] = {2, 3};
  wick_datum *t, *x;
  good(wick_datum_create(f.heap, type, 0, NULL, &t));
  for (int i = 0; i < 3; i++)
    good(wick_run_donating(grow.session, (const void *[]){t, &a, b},
                           (const bool[]){true, false, false}, (void *[]){&t}));
  uint64_t used = wick_data_heap_used(f.heap);
  unsigned char *bytes;
  size_t n, nread = 0;
  good(wick_datum_write(t, (void **)&bytes, &n));
  unsigned char *copy = malloc(n);
  for (size_t k = 0; k < n; k++) {
    memcpy(copy, bytes, n);
    wick_error *e = wick_datum_read(f.heap, type, copy, k, &x);
    assert_non_null(e);
    wick_error_free(e);
    copy[k] ^= (unsigned char)(1u << k % 8);
    e = wick_datum_read(f.heap, type, copy, n, &x);
    assert_non_null(e);
    wick_error_free(e);
    for (unsigned bit = 0; bit < 8 && k < n - 8; bit++) {
      memcpy(copy, bytes, n);
      copy[k] ^= (unsigned char)(1u << bit);
      uint64_t sum = wick_hash_bytes(WICK_HASH_SEED, copy, n - 8);
      for (int i = 0; i < 8; i++) copy[n - 8 + (size_t)i] = (unsigned char)(sum >> (8 * i));
      e = wick_datum_read(f.heap, type, copy, n, &x);
      nread += !e; /* numbers may be others */
      if (!e) wick_datum_free(x);
      wick_error_free(e);
      assert_int_equal(wick_data_heap_used(f.heap), used);
    }
  }
  assert_true(nread > 0);
  refused(wick_datum_read(f.heap, type, "wickdat", 7, &x), WICK_EPARSE, "no data");
  wick_datum *l = data_upto(&f, 2);
  void *list;
  size_t nlist;
  good(wick_datum_write(l, &list, &nlist));
  refused(wick_datum_read(f.heap, type, list, nlist, &x), WICK_ETYPE,
          "the data is a List[i64], expected a Tree");
  wick_datum_free_bytes(t, bytes, n);
  wick_datum_free_bytes(t, list, nlist);
  free(copy);
  wick_datum_free(l), wick_datum_free(t);
  data_drop(&grow);
  data_end(&f);
}

/* ---- memory ---- */

/* Runs everything but the compiler with an allocator. */
static wick_error *torture_runs(wick_context *context, const char *artifact)
{
  wick_compiled *compiled = NULL;
  wick_session *session = NULL;
  wick_datum *l = NULL, *m = NULL, *x = NULL;
  void *bytes = NULL;
  size_t n = 0;
  wick_data_heap *heap = NULL;
  const wick_session_options o = {.size = sizeof o, .threads = 1};
  const int64_t one = 1;
  wick_error *e = wick_compiled_load(context, artifact, &compiled);
  if (!e) e = wick_session_create(compiled, &o, &session);
  heap = wick_session_heap(session);
  if (!e) e = wick_datum_create(heap, wick_compiled_input(compiled, 0)->data, 0, NULL, &l);
  if (!e) e = wick_datum_create(heap, wick_datum_type(l), 1, (const void *[]){&one, l}, &m);
  if (!e) e = wick_run(session, (const void *[]){m}, (void *[]){&x});
  if (!e) e = wick_datum_write(x, &bytes, &n);
  wick_datum_free(x), x = NULL;
  if (!e) e = wick_datum_read(heap, wick_datum_type(m), bytes, n, &x);
  wick_datum_free_bytes(m, bytes, n);
  wick_datum_free(l), wick_datum_free(m), wick_datum_free(x);
  wick_session_free(session);
  wick_compiled_free(compiled);
  return e;
}

static void test_torture(void **state)
{
  (void)state;
  data_fixture f = data_begin(0);
  data_function g = data_of(&f, "double");
  good(wick_save(g.compiled, data_saved));
  for (uint64_t n = 1;; n++) {
    wick_torture t = {.fail_at = n};
    const wick_options o = {.size = sizeof o, .allocator = wick_torture_allocator(&t)};
    wick_context *context = NULL;
    wick_error *e = wick_context_create(&o, &context);
    if (!e) e = torture_runs(context, data_saved);
    assert_true(t.calls < n ? !e : wick_error_code(e) == WICK_ENOMEM);
    wick_error_free(e);
    wick_context_free(context);
    assert_int_equal(t.live, 0);
    if (t.calls < n) break;
  }
  data_drop(&g);
  data_end(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_runs),    cmocka_unit_test(test_flat),   cmocka_unit_test(test_build),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_full),   cmocka_unit_test(test_saved),
      cmocka_unit_test(test_hostile), cmocka_unit_test(test_torture)};
  int fd = mkstemp(data_path), saved = mkstemp(data_saved);
  size_t n = strlen(data_program);
  if (fd < 0 || saved < 0 || write(fd, data_program, n) != (ssize_t)n) return 1;
  close(fd), close(saved);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(data_path), unlink(data_saved);
  return failed;
}
