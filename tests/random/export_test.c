/* Random graphs exported to ONNX and imported again: every operator that can be exported, with
 * every element type, gives the same results: the same bits if the importer makes the same
 * operators of it, else nearly. */
#include "export/export.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "import/onnx/onnx.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/evaluate.h"
#include "random_flow.h"

enum { EXPORT_MOST = 16 };

typedef struct export_run {
  wick_guard guard;
  wick_arena mem, tmp, scratch;
  uint64_t noise;
  random_wish wish;
  uint32_t exact, close, without;
} export_run;

/* Operators that are compositions in ONNX, which round differently. */
static bool export_composed(wick_opcode op)
{
  static const wick_opcode list[] = {WICK_OP_attention, WICK_OP_celu, WICK_OP_exp2,
                                     WICK_OP_expm1,     WICK_OP_fma,  WICK_OP_dft_pass,
                                     WICK_OP_log1p,     WICK_OP_log2, WICK_OP_muladd,
                                     WICK_OP_range,     WICK_OP_rsqrt};
  for (size_t i = 0; i < WICK_COUNT(list); i++)
    if (list[i] == op) return true;
  return false;
}

static void export_inputs(export_run *x, const wick_func *f, wick_tensor *in)
{
  for (uint32_t p = 0; p < f->nparam; p++) {
    const wick_type_info *t = wick_info_of(f, (wick_value){p + 1});
    in[p] = (wick_tensor){.elem = t->elem, .rank = t->rank};
    wick_type_const_dims(t, in[p].dim);
    uint64_t n = random_numel(t);
    in[p].data = wick_arena_alloc(&x->mem, wick_elem_bytes(t->elem, n), 64);
    for (uint64_t k = 0; k < n; k++) {
      x->noise = x->noise * 6364136223846793005u + 1442695040888963407u;
      int64_t r = (int64_t)(x->noise >> 33 & 0xffff);
      wick_scalar s = {.i = r % 21 - (wick_elem_class(t->elem) == WICK_UINT ? 0 : 10)};
      if (t->elem == WICK_BOOL) s.i = r & 1;
      if (wick_elem_is_float(t->elem)) s.f = ((double)(r % 4001) - 2000) / 1000;
      wick_store_elem(t->elem, in[p].data, k, s);
    }
  }
}

/* Finds the first relevant difference: in bits, or, for compositions, in numbers. */
static bool export_differs(const wick_tensor *a, const wick_tensor *b, bool composed)
{
  uint64_t n = 1;
  if (a->elem != b->elem || a->rank != b->rank) return true;
  for (uint32_t k = 0; k < a->rank; k++) {
    if (a->dim[k] != b->dim[k]) return true;
    n *= (uint64_t)a->dim[k];
  }
  if (memcmp(a->data, b->data, wick_elem_bytes(a->elem, n)) == 0) return false;
  bool is_float = wick_elem_is_float(a->elem);
  if (is_float && composed) return false; /* results after a composition may differ much */
  for (uint64_t i = 0; i < n; i++) {
    wick_scalar p = wick_load_elem(a->elem, a->data, i), q = wick_load_elem(b->elem, b->data, i);
    bool nan = is_float && p.f != p.f && q.f != q.f;
    if (is_float ? !nan && (p.f != q.f || signbit(p.f) != signbit(q.f)) : p.i != q.i)
      return !composed;
  }
  return false;
}

/* Rounds attributes to f32, as ONNX has them. */
static void export_round(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_op *row = wick_op_of(&f->node[i]);
    wick_attr *a = (wick_attr *)f->node[i].attr;
    for (uint32_t k = 0; k < wick_op_nattr(row); k++) {
      double *list = (double *)a[k].floats;
      if (row->attr[k].kind == WICK_ATTR_FLOAT) a[k].f = (double)(float)a[k].f;
      if (row->attr[k].kind != WICK_ATTR_FLOATS) continue;
      for (uint32_t q = 0; q < a[k].n; q++) list[q] = (double)(float)list[q];
    }
  }
}

/* Keeps a file SEED.ROW.ELEMENT.onnx for a comparison with another runtime
 * (tests/differential/peer.py). */
static void export_keep(const export_run *x, uint64_t seed, wick_span bytes)
{
  const char *folder = getenv("WICK_EXPORT_DIR");
  char path[4096];
  uint32_t n;
  random_pair p = random_pair_of(&x->wish, seed, &n);
  if (!folder) return;
  snprintf(path, sizeof path, "%s/%llu.%s.%s.onnx", folder, (unsigned long long)seed,
           wick_ops[p.op]->name, wick_elem_name(p.elem));
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes.at, 1, bytes.nbytes, f), bytes.nbytes);
  assert_int_equal(fclose(f), 0);
}

/* Reads the file that WICK_RANDOM_TYPES names, with lines of an operator and an element type:
 * graphs consist only of these. With WICK_RANDOM_ALONE each graph is for one operator. Both are for
 * that comparison. */
static void export_wish(export_run *x)
{
  const char *path = getenv("WICK_RANDOM_TYPES");
  static uint64_t types[WICK_NOP];
  char row[64], elem[16];
  x->wish.alone = getenv("WICK_RANDOM_ALONE") != NULL;
  if (!path) return;
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  while (fscanf(f, "%63s %15s", row, elem) == 2)
    for (uint32_t op = 1; op < WICK_NOP; op++)
      for (uint32_t e = 0; e < WICK_NELEM && strcmp(wick_ops[op]->name, row) == 0; e++)
        if (strcmp(wick_elem_name((wick_elem)e), elem) == 0) types[op] |= WICK_BIT(e);
  assert_int_equal(fclose(f), 0);
  x->wish.types = types;
}

static wick_status export_back(export_run *x, uint64_t seed, wick_module *m, const wick_func *f,
                               wick_module *back, const wick_func **out)
{
  const wick_export_options o = {.data_name = "data"};
  wick_export_result r;
  WICK_TRY(wick_export_onnx(m, f, "random", &o, &x->mem, &r));
  wick_text bytes = wick_text_begin(&x->mem);
  for (size_t i = 0; i < r.model.n; i++)
    wick_text_addn(&bytes, r.model.at[i].at, r.model.at[i].nbytes);
  const wick_span span = {(const unsigned char *)bytes.at, bytes.n};
  export_keep(x, seed, span);
  wick_status s = wick_import_onnx(back, span, "m.onnx", NULL, &x->mem, &x->tmp, out);
  return s ? s : wick_verify_func(*out, &x->tmp);
}

/* Prints the text of both graphs. */
static void export_print(uint64_t seed, const wick_func *f, const wick_func *g, const char *why,
                         wick_arena *tmp)
{
  wick_text t = wick_text_begin(tmp);
  wick_print_func(f, 0, &t);
  if (g) wick_print_func(g, 0, &t);
  fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)seed, why, t.at);
}

static bool export_without(const wick_func *f, bool *out_composed)
{
  bool without = false;
  *out_composed = false;
  for (uint32_t i = 0; i + 1 < f->nnode; i++) {
    without |= !wick_export_has(f->node[i].op) && f->node[i].op != WICK_OP_yield;
    *out_composed |= export_composed(f->node[i].op) ||
                     (f->node[i].op == WICK_OP_grid_sample &&
                      f->node[i].attr[WICK_ATTR_grid_sample_elements].i); /* elements */
  }
  return without;
}

static bool export_same(export_run *x, uint64_t seed, const wick_func *f, const wick_func *g,
                        bool composed)
{
  wick_tensor in[EXPORT_MOST], a[EXPORT_MOST], b[EXPORT_MOST];
  const wick_evaluate_options o = {0};
  uint32_t nout = wick_return(f)->nin;
  x->noise = seed;
  export_inputs(x, f, in);
  wick_status s = wick_evaluate(f, f->nparam, in, &o, &x->mem, &x->tmp, &x->scratch, a);
  if (s) return true; /* the reference fails on these inputs */
  s = wick_evaluate(g, g->nparam, in, &o, &x->mem, &x->tmp, &x->scratch, b);
  if (s) {
    export_print(seed, f, g, s->message, &x->tmp);
    return false;
  }
  for (uint32_t i = 0; i < nout; i++)
    if (export_differs(&a[i], &b[i], composed)) {
      export_print(seed, f, g, wick_str_printf(&x->tmp, "result %u differs", i), &x->tmp);
      return false;
    }
  *(composed ? &x->close : &x->exact) += 1;
  return true;
}

static bool export_one(export_run *x, uint64_t seed)
{
  random_graph *r = calloc(1, sizeof *r);
  wick_module *m = wick_module_create(&x->guard, "random"),
              *back = wick_module_create(&x->guard, "");
  wick_func *f = random_function(r, m, seed, &x->wish, &x->mem, &x->tmp);
  const wick_func *g = NULL;
  bool composed, good = true;
  if (f && export_without(f, &composed)) {
    x->without++;
  } else if (f) {
    export_round(f);
    wick_module_set(m, f);
    wick_status s = export_back(x, seed, m, f, back, &g);
    bool lacks =
        s && (strstr(s->message, "ONNX has no ") || strstr(s->message, "no form in ONNX") ||
              strstr(s->message, "must be known")) /* of loops */;
    x->without += lacks;
    good = lacks || (!s && export_same(x, seed, f, g, composed));
    if (s && !lacks) export_print(seed, f, NULL, s->message, &x->tmp);
  }
  wick_module_free(m);
  wick_module_free(back);
  free(r);
  return good;
}

static export_run run;

static int begin(void **state)
{
  (void)state;
  run = (export_run){.guard.allocator = wick_allocator_malloc()};
  run.mem = wick_arena_make(&run.guard), run.tmp = wick_arena_make(&run.guard);
  run.scratch = wick_arena_make(&run.guard);
  return setjmp(run.guard.where);
}

static int end(void **state)
{
  (void)state;
  wick_arena_free(&run.scratch);
  wick_arena_free(&run.tmp);
  wick_arena_free(&run.mem);
  return 0;
}

static void random_graphs_go_there_and_back(void **state)
{
  const char *count = getenv("WICK_RANDOM_GRAPHS"), *first = getenv("WICK_RANDOM_SEED");
  uint64_t n = count && *count ? strtoull(count, NULL, 10) : 300,
           from = first && *first ? strtoull(first, NULL, 10) : 0;
  uint32_t bad = 0;
  export_wish(&run);
  for (uint64_t seed = from; seed < from + n; seed++) {
    /* strides through the seeds, so that pairs are not only those of the first operators */
    bad += !export_one(&run, seed * 37);
    end(state);
  }
  print_message("%u to the bit, %u with compositions, %u have rows without a form\n", run.exact,
                run.close, run.without);
  assert_int_equal(bad, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(random_graphs_go_there_and_back, begin, end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
