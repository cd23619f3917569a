/* Constants at their offsets: copied, misaligned, transposed, and computed from computed ones; the
 * same bytes as if they are requested one by one. */
#include "driver/weights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/build.h"
#include "ops/layout/transposed_constant.h"

enum { ROWS = 1237, COLUMNS = 611, PARTS = 7 };

/* Adds to each number its position. */
static void test_make(const wick_deferred_constant *r, const void *from, uint32_t part, void *to)
{
  size_t n = (size_t)ROWS * COLUMNS, end = n * (part + 1) / r->nparts;
  for (size_t i = n * part / r->nparts; i < end; i++) {
    float x;
    memcpy(&x, (const char *)from + 4 * i, 4);
    ((float *)to)[i] = x + (float)i;
  }
}

typedef struct fixture {
  wick_guard guard;
  wick_arena mem;
  wick_module *m;
  char *raw; /* one byte before the numbers */
  uint32_t id[4];
} fixture;

static float test_number(int64_t row, int64_t column) { return (float)(row * 7 - column * 3); }

static void test_begin(fixture *f)
{
  static const wick_deferred_constant chain = {.nparts = PARTS, .make = test_make};
  f->guard = (wick_guard){.allocator = wick_allocator_malloc()};
  f->mem = wick_arena_make(&f->guard);
  f->m = wick_module_create(&f->guard, "m");
  uint64_t nbytes = (uint64_t)ROWS * COLUMNS * 4;
  f->raw = malloc(nbytes + 1);
  assert_non_null(f->raw);
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t k = 0; k < COLUMNS; k++)
      memcpy(f->raw + 1 + 4 * (i * COLUMNS + k), &(float){test_number(i, k)}, 4);
  int64_t dim[2] = {ROWS, COLUMNS}, turned[2] = {COLUMNS, ROWS};
  wick_type type = wick_type_tensor_const(f->m, WICK_F32, 2, turned);
  f->id[0] = wick_constant_add(f->m, "w", wick_type_tensor_const(f->m, WICK_F32, 2, dim),
                               f->raw + 1, nbytes);
  f->id[1] = wick_constant_transposed(f->m, "t", type, f->id[0]);
  for (int k = 2; k < 4; k++) {
    wick_deferred_constant *r = wick_dup(&f->m->mem, wick_deferred_constant, &chain, 1);
    r->from = f->id[k - 1];
    f->id[k] = wick_constant_defer(f->m, "c", type, nbytes, r);
  }
}

static void test_end(fixture *f)
{
  wick_module_free(f->m);
  wick_arena_free(&f->mem);
  free(f->raw);
}

static void test_all(void **state)
{
  (void)state;
  fixture f;
  wick_lowered l = {0};
  test_begin(&f);
  for (int k = 3; k >= 0; k--) {
    const wick_constant *c = wick_constant_get(f.m, f.id[k]);
    assert_true(k ? !c->data && c->deferred : c->data && !c->deferred);
    wick_push(&f.mem, &l.constants,
              ((wick_lowered_constant){f.id[k], l.constant_bytes, c->nbytes}));
    l.constant_bytes = wick_align_up(l.constant_bytes + c->nbytes, 64);
  }
  char *to = wick_arena_alloc(&f.mem, l.constant_bytes, 64);
  wick_weights *w = wick_weights_begin(f.m, &l, to, &f.mem);
  wick_weights_end(w);
  wick_weights_end(w);
  wick_weights_end(NULL);
  const float *turned = (const float *)(const void *)(to + l.constants.at[2].offset);
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t k = 0; k < COLUMNS; k++) assert_true(turned[k * ROWS + i] == test_number(i, k));
  for (uint32_t i = 0; i < l.constants.n; i++) {
    const wick_lowered_constant *k = &l.constants.at[i];
    const void *bytes = wick_constant_bytes(f.m, k->constant);
    assert_true((uintptr_t)bytes % 4 == 0);
    assert_memory_equal(to + k->offset, bytes, k->nbytes);
  }
  test_end(&f);
}

/* A constant from which a used constant is computed is not collected. */
static void test_collect(void **state)
{
  (void)state;
  fixture f;
  test_begin(&f);
  (void)wick_constant_bytes(f.m, f.id[1]); /* now its bytes are in a block of its own */
  wick_builder b;
  wick_func *g;
  wick_build_begin(&b, f.m, WICK_GRAPH, "g", &f.m->mem);
  wick_value v = wick_build_constant(&b, f.id[3]);
  wick_build_return(&b, 1, &v);
  assert_null(wick_build_end(&b, &g));
  wick_module_set(f.m, g);
  wick_module_collect(f.m, &f.mem);
  assert_non_null(wick_constant_get(f.m, f.id[1])->data);
  assert_non_null(wick_constant_bytes(f.m, f.id[3]));
  test_end(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_collect)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
