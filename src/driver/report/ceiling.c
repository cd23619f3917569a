/* Runs chains of multiply-adds in registers on every thread, and reads memory. */
#include "driver/report/ceiling.h"

#include <math.h>
#include <string.h>

#include "codegen/client.h"
#include "codegen/link.h"
#include "ir/build.h"
#include "runtime/context.h"
#include "runtime/load.h"
#include "runtime/pool.h"

enum {
  CEILING_CHAINS = 12,
  CEILING_STEPS = 96000,
  CEILING_INNER = 16, /* steps of the innermost loop */
  CEILING_TRIES = 30,
  CEILING_TASKS = 4096
};

typedef struct ceiling_work {
  uint32_t lanes, chains;
  bool loads;
} ceiling_work;

/* Returns a factor that is read: the n-th vector of a step. */
static wick_value ceiling_factor(wick_builder *b, wick_value y, wick_type v, uint32_t lanes,
                                 wick_value step, uint32_t n)
{
  wick_value width = wick_build_i64(b, lanes),
             first = wick_build_i64(b, (int64_t)n * CEILING_INNER * lanes),
             along = wick_build2(b, WICK_OP_mul, step, width);
  wick_value load[2] = {y, wick_build2(b, WICK_OP_add, along, first)};
  return wick_build(b, WICK_OP_load, 2, load, NULL, 1, &v);
}

/* Builds the kernel. Each task has memory of its own, for the chains' initial values and results.
 * With `loads`, both factors of each multiply-add are read from memory that the first cache
 * holds. */
static wick_status ceiling_kernel(wick_module *m, const ceiling_work *w, wick_arena *mem)
{
  wick_builder b;
  uint32_t lanes = w->lanes, chains = w->chains;
  wick_type i64 = wick_type_scalar(m, WICK_I64, 1), v = wick_type_scalar(m, WICK_F32, lanes),
            f32 = wick_type_scalar(m, WICK_F32, 1), carried[CEILING_CHAINS + 1] = {i64};
  wick_dim dim = {(int64_t)CEILING_TASKS * CEILING_CHAINS * lanes};
  wick_build_begin(&b, m, WICK_LOOP, "ceiling", mem);
  wick_value y =
      wick_build_param(&b, wick_type_buffer(m, WICK_F32, 1, &dim, WICK_IO), WICK_INOUT, NULL);
  wick_value range[2], in[CEILING_CHAINS + 2], at[CEILING_CHAINS], x[CEILING_CHAINS];
  range[0] = wick_build_param(&b, i64, WICK_IN, NULL);
  range[1] = wick_build_param(&b, i64, WICK_IN, NULL);
  wick_value one = wick_build_const(&b, f32, 1, 0), tiny = wick_build_const(&b, f32, 1e-9, 0);
  one = wick_build(&b, WICK_OP_broadcast, 1, &one, NULL, 1, &v);
  tiny = wick_build(&b, WICK_OP_broadcast, 1, &tiny, NULL, 1, &v);
  wick_build_open(&b, WICK_OP_for, 2, range, NULL, 0, NULL);
  wick_value task = wick_region_begin(&b, 1, &i64);
  wick_value zero = wick_build_i64(&b, 0);
  in[0] = zero, in[1] = wick_build_i64(&b, CEILING_STEPS / CEILING_INNER);
  for (uint32_t k = 0; k < chains; k++) {
    wick_value stride = wick_build_i64(&b, (int64_t)CEILING_CHAINS * lanes);
    wick_value offset = wick_build_i64(&b, (int64_t)k * lanes);
    at[k] = wick_build2(&b, WICK_OP_add, wick_build2(&b, WICK_OP_mul, task, stride), offset);
    wick_value load[2] = {y, at[k]};
    in[2 + k] = wick_build(&b, WICK_OP_load, 2, load, NULL, 1, &v);
    carried[1 + k] = v;
  }
  wick_build_open(&b, WICK_OP_for, chains + 2, in, NULL, 0, NULL);
  wick_value outer = wick_region_begin(&b, chains + 1, carried);
  in[1] = wick_build_i64(&b, CEILING_INNER);
  for (uint32_t k = 0; k < chains; k++) in[2 + k] = (wick_value){outer.id + 1 + k};
  wick_build_open(&b, WICK_OP_for, chains + 2, in, NULL, 0, NULL);
  wick_value step = wick_region_begin(&b, chains + 1, carried);
  for (uint32_t k = 0; k < chains; k++) {
    wick_value p = w->loads ? ceiling_factor(&b, y, v, lanes, step, 2 * k) : one,
               q = w->loads ? ceiling_factor(&b, y, v, lanes, step, 2 * k + 1) : tiny;
    x[k] = wick_build3(&b, WICK_OP_muladd, p, q, (wick_value){step.id + 1 + k});
  }
  wick_yield(&b, chains, x);
  wick_value end = wick_build_close(&b);
  for (uint32_t k = 0; k < chains; k++) x[k] = (wick_value){end.id + k};
  wick_yield(&b, chains, x);
  end = wick_build_close(&b);
  for (uint32_t k = 0; k < chains; k++) {
    wick_value store[3] = {y, at[k], {end.id + k}};
    wick_build(&b, WICK_OP_store, 3, store, NULL, 0, NULL);
  }
  wick_yield(&b, 0, NULL);
  wick_build_close(&b);
  wick_build_return(&b, 0, NULL);
  wick_func *f;
  WICK_TRY(wick_build_end(&b, &f));
  wick_module_set(m, f);
  return NULL;
}

static wick_status ceiling_code(wick_module *m, const wick_target *t, wick_arena *mem,
                                wick_artifact *out)
{
  wick_codegen_options options = {.output = WICK_OUTPUT_OBJECT};
  wick_span *object;
  uint32_t n;
  wick_section section[WICK_LINK_SECTIONS];
  wick_artifact_parts parts;
  WICK_TRY(wick_codegen_module(m, t, &options, NULL, mem, &object, &n));
  WICK_TRY(wick_link(n, object, t, mem, section));
  WICK_TRY(wick_artifact_make(t->machine, t->needs, WICK_LINK_SECTIONS, section, mem, &parts));
  return wick_artifact_read(wick_artifact_join(&parts, mem), "ceiling", mem, out);
}

typedef struct ceiling_run {
  wick_kernel kernel;
  float *memory;
} ceiling_run;

static void ceiling_part(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  (void)worker;
  ceiling_run *r = ctx;
  void *args[1] = {r->memory};
  r->kernel(args, begin, end);
}

/* Returns multiply-adds of a vector per second, of all threads together. */
static double ceiling_measure(ceiling_run *r, wick_pool *pool, uint32_t chains)
{
  uint32_t n = wick_pool_size(pool);
  double best = 0;
  for (int try = 0; try < CEILING_TRIES; try++) {
    wick_pool_run run = wick_pool_begin(pool);
    double begin = wick_now();
    wick_pool_launch(&run, ceiling_part, r, n);
    double took = wick_now() - begin;
    wick_pool_end(&run);
    best = fmax(best, (double)chains * CEILING_STEPS * n / took);
  }
  return best;
}

static wick_status ceiling_run_code(const wick_artifact *a, const ceiling_work *w, uint32_t threads,
                                    wick_arena *mem, double *out)
{
  size_t nbytes = sizeof(float) * CEILING_TASKS * CEILING_CHAINS * w->lanes;
  ceiling_run r = {.memory = wick_arena_alloc(mem, nbytes, WICK_LINE)};
  memset(r.memory, 0, nbytes);
  wick_image image;
  wick_pool *pool;
  WICK_TRY(wick_image_map(a, mem, &image));
  wick_status s = wick_pool_create(&(wick_pool_options){.nworker = threads}, mem, &pool);
  if (!s) {
    r.kernel = wick_image_kernel(&image, "ceiling");
    if (r.kernel) *out = ceiling_measure(&r, pool, w->chains);
    wick_pool_free(pool);
  }
  wick_image_unmap(&image);
  return s;
}

/* Measures multiply-adds of a vector per second. */
static wick_status ceiling_of(const wick_target *t, const ceiling_work *w, uint32_t threads,
                              wick_guard *guard, wick_arena *mem, double *out)
{
  *out = 0;
  wick_module *m = wick_module_create(guard, "ceiling");
  wick_artifact a;
  wick_status s = ceiling_kernel(m, w, mem);
  if (!s) s = ceiling_code(m, t, mem, &a);
  /* the message may be in the module's memory */
  if (s) s = wick_fail(mem, s->code, NULL, "%s", s->message);
  wick_module_free(m);
  return s ? s : ceiling_run_code(&a, w, threads, mem, out);
}

static uint32_t ceiling_lanes(const wick_target *t)
{
  return t->vector_bytes >= 4 ? t->vector_bytes / 4 : 1;
}

wick_status wick_ceiling(const wick_target *t, uint32_t threads, wick_guard *guard, wick_arena *mem,
                         double *out_flops)
{
  ceiling_work w = {ceiling_lanes(t), CEILING_CHAINS, false};
  WICK_TRY(ceiling_of(t, &w, threads, guard, mem, out_flops));
  *out_flops *= 2.0 * w.lanes;
  return NULL;
}

wick_status wick_ceiling_pipes(const wick_target *t, wick_guard *guard, wick_arena *mem,
                               wick_ceiling_rates *out)
{
  ceiling_work w = {ceiling_lanes(t), CEILING_CHAINS, false};
  WICK_TRY(ceiling_of(t, &w, 1, guard, mem, &out->products));
  w.chains = 1;
  WICK_TRY(ceiling_of(t, &w, 1, guard, mem, &out->dependent));
  w.chains = CEILING_CHAINS, w.loads = true;
  WICK_TRY(ceiling_of(t, &w, 1, guard, mem, &out->loads));
  out->loads *= 2;
  return NULL;
}

/* ---- memory ---- */

enum { CEILING_STREAM = 256 << 20 }; /* bytes of all threads, which exceed the last cache */

typedef struct ceiling_stream {
  const uint64_t *memory;
  int64_t words; /* of each thread */
  uint64_t *sum; /* a cache line for each worker */
} ceiling_stream;

/* Reads a word of each cache line, into independent sums, so that the core is not the limit. */
static void ceiling_read(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  ceiling_stream *s = ctx;
  enum { LINE = 8 };
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (int64_t i = begin * s->words; i < end * s->words; i += 4 * LINE) {
    a += s->memory[i], b += s->memory[i + LINE];
    c += s->memory[i + 2 * LINE], d += s->memory[i + 3 * LINE];
  }
  s->sum[LINE * worker] += a + b + c + d;
}

/* Returns the seconds after which the next line of `nbytes` bytes arrives that are read in
 * turns. */
double wick_ceiling_line(uint64_t nbytes, wick_arena *mem)
{
  enum { TRIES = 12, LEAST = 4 << 20 /* bytes read in a try */ };
  int64_t each = (int64_t)(nbytes / 256 * 256);
  ceiling_stream s = {wick_arena_alloc(mem, (size_t)each, 64), each / 8,
                      wick_new(mem, uint64_t, 8)};
  memset((void *)(uintptr_t)s.memory, 1, (size_t)each);
  double best = 1;
  int64_t rounds = wick_ceildiv_i64(LEAST, each);
  for (int try = 0; try < TRIES; try++) {
    double begin = wick_now();
    for (int64_t i = 0; i < rounds; i++) ceiling_read(&s, 0, 0, 1);
    best = fmin(best, (wick_now() - begin) / (double)rounds);
  }
  return best / ((double)each / 64);
}

double wick_ceiling_rows(uint64_t nbytes, uint32_t rows, wick_arena *mem)
{
  enum { TRIES = 6, PIECE = 256 / 8 /* words */, PAGE = 4096 / 8 };
  /* no whole number of pages: these would fall into few sets of a cache */
  int64_t each = (int64_t)(nbytes / 8 / rows / PAGE) * PAGE + PIECE;
  ceiling_stream s = {wick_arena_alloc(mem, (size_t)(each * rows) * 8, 64), PIECE,
                      wick_new(mem, uint64_t, 8)};
  memset((void *)(uintptr_t)s.memory, 1, (size_t)(each * rows) * 8);
  double best = 1;
  for (int try = 0; try < TRIES; try++) {
    double begin = wick_now();
    for (int64_t i = 0; i < each / PIECE; i++)
      for (int64_t row = 0; row < rows; row++) {
        int64_t at = row * (each / PIECE) + i;
        ceiling_read(&s, 0, at, at + 1);
      }
    best = fmin(best, wick_now() - begin);
  }
  return best / ((double)each * rows * 8 / 64);
}

wick_status wick_ceiling_bytes(uint32_t threads, wick_arena *mem, double *out_bytes)
{
  enum { TRIES = 5 };
  wick_pool *pool;
  WICK_TRY(wick_pool_create(&(wick_pool_options){.nworker = threads}, mem, &pool));
  uint32_t n = wick_pool_size(pool);
  int64_t each = CEILING_STREAM / n / 256 * 256; /* a multiple of four cache lines */
  ceiling_stream s = {wick_arena_alloc(mem, (size_t)each * n, 64), each / 8,
                      wick_new(mem, uint64_t, (size_t)8 * n)};
  memset((void *)(uintptr_t)s.memory, 1, (size_t)each * n);
  *out_bytes = 0;
  for (int try = 0; try < TRIES; try++) {
    wick_pool_run run = wick_pool_begin(pool);
    double begin = wick_now();
    wick_pool_launch(&run, ceiling_read, &s, n);
    double rate = (double)each * n / (wick_now() - begin);
    wick_pool_end(&run);
    *out_bytes = rate > *out_bytes ? rate : *out_bytes;
  }
  wick_pool_free(pool);
  return NULL;
}
