/* Compares answers about memory references with their elements, one by one. */
#include "low/memref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RANK = 4, BYTES = 4096 };

static uint64_t seed;
static int64_t below(int64_t n)
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(seed >> 33) % n;
}

typedef struct box {
  int64_t dim[RANK], stride[RANK];
  wick_memref memref;
} box;

static void box_finish(box *b, uint32_t rank, int64_t elem, int64_t offset)
{
  b->memref = (wick_memref){.root = {1},
                            .known = true,
                            .rank = rank,
                            .elem_bytes = elem,
                            .offset = offset,
                            .dim = b->dim,
                            .stride = b->stride};
}

/* A part of a dense array, whose rows may be followed by other bytes. */
static void box_random(box *b)
{
  uint32_t rank = (uint32_t)below(RANK) + 1;
  int64_t stride = 1, offset = 0, elem = (int64_t)1 << below(3);
  for (uint32_t k = rank; k-- > 0;) {
    int64_t extent = below(16) ? below(4) + 1 : 0, from = extent ? below(extent) : 0;
    b->dim[k] = extent - from;
    b->stride[k] = stride;
    offset += from * stride;
    stride *= extent + below(2);
  }
  box_finish(b, rank, elem, (offset + below(8)) * elem);
}

static void box_dense(box *b, int64_t elem)
{
  uint32_t rank = (uint32_t)below(RANK) + 1;
  int64_t stride = 1;
  for (uint32_t k = rank; k-- > 0;) {
    b->dim[k] = below(16) ? below(3) + 1 : 0;
    b->stride[k] = stride;
    stride *= b->dim[k];
  }
  box_finish(b, rank, elem, 0);
}

/* Returns the first byte of element k, in the order of the dimensions. */
static int64_t box_byte(const wick_memref *p, int64_t k)
{
  int64_t at = 0;
  for (uint32_t d = p->rank; d-- > 0; k /= p->dim[d]) at += k % p->dim[d] * p->stride[d];
  return p->offset + at * p->elem_bytes;
}

static bool box_meets(const wick_memref *a, const wick_memref *b)
{
  bool used[BYTES] = {false};
  for (int64_t k = 0; k < wick_memref_numel(a); k++)
    for (int64_t i = 0; i < a->elem_bytes; i++) used[box_byte(a, k) + i] = true;
  for (int64_t k = 0; k < wick_memref_numel(b); k++)
    for (int64_t i = 0; i < b->elem_bytes; i++)
      if (used[box_byte(b, k) + i]) return true;
  return false;
}

/* References that share bytes are never disjoint. Most others are found to be disjoint. */
static void disjoint(void **state)
{
  (void)state;
  uint32_t said = 0, true_ones = 0;
  for (uint64_t now = 1; now < 20000; now++) {
    seed = now;
    box a, b;
    box_random(&a), box_random(&b);
    assert_true(wick_memref_end(&a.memref) <= BYTES);
    bool is = !box_meets(&a.memref, &b.memref), says = wick_memref_disjoint(&a.memref, &b.memref);
    if (says && !is) fail_msg("seed %llu", (unsigned long long)now);
    assert_true(says == wick_memref_disjoint(&b.memref, &a.memref));
    said += says, true_ones += is;
  }
  assert_true(said * 10 > true_ones * 9);
}

static void injective(void **state)
{
  (void)state;
  for (uint64_t s = 1; s < 5000; s++) {
    seed = s;
    box a;
    box_random(&a);
    if (below(3) == 0) a.stride[0] = below(4);
    bool used[BYTES] = {false}, is = true;
    for (int64_t k = 0; k < wick_memref_numel(&a.memref); k++) {
      is = is && !used[box_byte(&a.memref, k)];
      used[box_byte(&a.memref, k)] = true;
    }
    if (wick_memref_injective(&a.memref)) assert_true(is);
  }
}

/* A view of `from`: reshaped into two dimensions if it has one, then sliced. */
static void box_view(const box *from, box *v)
{
  int64_t numel = wick_memref_numel(&from->memref), elem = from->memref.elem_bytes;
  if (below(2)) { /* a slice of its dimensions */
    int64_t offset = 0;
    for (uint32_t k = 0; k < from->memref.rank; k++) {
      int64_t at = from->dim[k] ? below(from->dim[k]) : 0;
      v->dim[k] = from->dim[k] - at;
      v->stride[k] = from->stride[k];
      offset += at * from->stride[k];
    }
    box_finish(v, from->memref.rank, elem, offset * elem);
    return;
  }
  int64_t by = numel ? below(numel) + 1 : 1;
  while (numel % by) by--;
  v->dim[0] = numel / by, v->dim[1] = by;
  v->stride[0] = by, v->stride[1] = 1;
  box_finish(v, 2, elem, 0);
}

/* After a move, the view's elements are where its array's elements went. */
static void move(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  uint32_t moved = 0;
  for (uint64_t s = 1; s < 20000; s++) {
    seed = s;
    box from, to = {0}, v;
    int64_t elem = (int64_t)1 << below(3), stride = 1;
    box_dense(&from, elem);
    box_view(&from, &v);
    memcpy(to.dim, from.dim, sizeof to.dim);
    for (uint32_t k = from.memref.rank; k-- > 0;) {
      to.stride[k] = stride;
      stride *= to.dim[k] + (below(3) == 0 ? below(3) : 0);
    }
    box_finish(&to, from.memref.rank, elem, below(8) * elem);
    to.memref.root.id = 2;
    wick_memref out;
    if (!wick_memref_move(&v.memref, &from.memref, &to.memref, &mem, &out)) continue;
    moved++;
    assert_int_equal(out.root.id, 2);
    for (int64_t k = 0; k < wick_memref_numel(&v.memref); k++) {
      int64_t at = box_byte(&v.memref, k) / elem; /* the index of the element in the dense array */
      if (box_byte(&out, k) != box_byte(&to.memref, at))
        fail_msg("seed %llu", (unsigned long long)s);
    }
  }
  assert_true(moved > 15000);
  wick_arena_free(&mem);
}

/* Extending a part's position gives an array that contains the part at that position. */
static void extend(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  uint32_t extended = 0;
  for (uint64_t s = 1; s < 10000; s++) {
    seed = s;
    box whole, part, to = {0};
    int64_t stride = 1;
    box_dense(&whole, 4);
    box_view(&whole, &part);
    memcpy(to.dim, part.dim, sizeof to.dim);
    for (uint32_t k = part.memref.rank; k-- > 0;) {
      to.stride[k] = stride;
      stride *= (k < whole.memref.rank ? whole.dim[k] : part.dim[k]) + below(2);
    }
    box_finish(&to, part.memref.rank, 4, 4 * below(200));
    to.memref.root.id = 2;
    wick_memref out, back;
    if (!wick_memref_extend(&part.memref, &whole.memref, &to.memref, &mem, &out)) continue;
    if (!wick_memref_move(&part.memref, &whole.memref, &out, &mem, &back)) continue;
    extended += wick_memref_same(&back, &to.memref);
  }
  assert_true(extended > 4000);
  wick_arena_free(&mem);
}

static void types(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  if (setjmp(guard.where)) fail_msg("out of memory");
  wick_module *m = wick_module_create(&guard, "");
  wick_dim dim[2] = {wick_dim_const(3), wick_dim_const(5)};
  wick_memref p = wick_memref_make(m, wick_type_buffer(m, WICK_F32, 2, dim, WICK_ARENA),
                                   (wick_value){1}, 8, &m->mem);
  assert_true(p.known && wick_memref_contiguous(&p));
  assert_int_equal(wick_memref_end(&p), 8 + 60);
  p = wick_memref_make(m, wick_type_buffer(m, WICK_I4, 2, dim, WICK_ARENA), (wick_value){1}, 0,
                       &m->mem);
  /* elements smaller than a byte are compared as bytes */
  assert_true(p.known && wick_memref_contiguous(&p));
  assert_int_equal(wick_memref_end(&p), 8);
  dim[0] = wick_dim_symbol(m->dims, "N", 1, 4);
  wick_memref n = wick_memref_make(m, wick_type_buffer(m, WICK_F32, 2, dim, WICK_ARENA),
                                   (wick_value){1}, 0, &m->mem);
  assert_false(n.known);
  assert_false(wick_memref_disjoint(&n, &p)); /* one of them is unknown */
  dim[0] = wick_dim_const(INT64_MAX / 8);
  assert_false(wick_memref_make(m, wick_type_buffer(m, WICK_F32, 2, dim, WICK_ARENA),
                                (wick_value){1}, 0, &m->mem)
                   .known);
  wick_module_free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(disjoint), cmocka_unit_test(injective),
                                     cmocka_unit_test(move), cmocka_unit_test(extend),
                                     cmocka_unit_test(types)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
