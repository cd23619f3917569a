/* Kernels of groups with symbolic dimensions: one of each runs at many sizes, and gives the bits of
 * the same group and schedule with numbers in the place of its symbols, at once and task by task,
 * in machine code and, where they are few, in the interpreter of loops. */
#include <ctype.h>
#include <stdlib.h>

#include "codegen/llvm/testing.h"
#include "graph/attention.h"
#include "graph/expand_rows.h"
#include "graph/group/form.h"
#include "graph/layout/block.h"
#include "ir/element.h"
#include "loop/contract.h"
#include "loop/expand.h"
#include "loop/hoist.h"
#include "loop/interpret.h"
#include "loop/join.h"
#include "loop/legalize.h"
#include "loop/nest.h"
#include "loop/schedule.h"

enum { BLOCK = 1, ATTENTION = 2 };
enum { MOST_SYMBOLS = 4, MOST_SIZES = 24, MOST_BUFFERS = 12, INTERPRETED = 6000 };

typedef struct sizes_kernel {
  const char *name;
  const wick_func *loop; /* as nested */
  wick_dim_list size;    /* its parameters */
  wick_dim tasks, scratch;
  wick_frame frame;
} sizes_kernel;

typedef struct sizes_case {
  const char *graph; /* of dimensions with symbols in capitals */
  unsigned passes;   /* before groups are formed */
  const char *steps; /* of the first group; NULL: the templates' */
  uint32_t nsymbol;
  int64_t size[MOST_SIZES][MOST_SYMBOLS]; /* of the symbols in their order; 0: no more */
} sizes_case;

/* ---- kernels ---- */

static sizes_kernel sizes_build(testing *t, const wick_func *g, const char *steps, const char *name)
{
  const wick_target row = wick_target_host();
  wick_schedule *s = wick_schedule_begin(g, &t->mem);
  testing_ok(wick_schedule_apply(s, steps));
  wick_nest_options o = {.name = wick_intern(t->m, name)};
  wick_kernel_info info;
  testing_ok(wick_nest(g, s, &o, &t->mem, &t->mem, &info));
  testing_ok(wick_verify_func(info.loop, &t->mem));
  const wick_func *f = wick_pass_expand(wick_pass_join(info.loop, &row, &t->mem), &t->mem);
  f = wick_pass_hoist(wick_pass_legalize(f, &row, &t->mem), &t->mem);
  testing_ok(wick_verify_func(f, &t->mem));
  wick_module_set(t->m, f);
  sizes_kernel k = {.name = f->name,
                    .loop = info.loop,
                    .size = wick_func_sizes(g, &t->mem),
                    .tasks = info.tasks,
                    .scratch = info.scratch_bytes};
  testing_ok(wick_frame_of(f, &row, false, &t->mem, &k.frame));
  return k;
}

/* The text of a group with numbers for its symbols, under another name. */
static const char *sizes_text(testing *t, const wick_func *g, uint32_t n, const wick_dim *sym,
                              const int64_t *val, const char *name)
{
  wick_text in = wick_text_begin(&t->mem), out = wick_text_begin(&t->mem);
  wick_print_func(g, 0, &in);
  const char *end = strstr(in.at, "} schedule");
  size_t nin = end ? (size_t)(end - in.at) + 1 : in.n;
  wick_text_printf(&out, "group @%s", name);
  for (const char *p = strchr(in.at, '('); p < in.at + nin;) {
    size_t w = 0;
    while (isalnum((unsigned char)p[w]) || p[w] == '_' || p[w] == '.') w++;
    uint32_t k = w ? 0 : n;
    for (; k < n; k++) {
      wick_text text = wick_text_begin(&t->mem);
      wick_dim_print(t->m->dims, sym[k], &text);
      if (text.n == w && memcmp(text.at, p, w) == 0 && p[-1] != '%') break;
    }
    if (!w) w = 1;
    if (k == n) {
      wick_text_add(&out, wick_str_dupn(&t->mem, p, w));
      p += w;
      continue;
    }
    wick_text_printf(&out, "%lld", (long long)val[k]);
    p += w;
    size_t range = strspn(p, "[0123456789.");
    if (*p == '[' && p[range] == ']' && strstr(p, "..") && strstr(p, "..") < p + range)
      p += range + 1;
  }
  return out.at;
}

/* ---- data ---- */

typedef struct sizes_data {
  uint32_t n, nout;
  wick_elem elem[MOST_BUFFERS];
  uint64_t nelem[MOST_BUFFERS], nbytes[MOST_BUFFERS];
  void *at[MOST_BUFFERS];
} sizes_data;

static sizes_data sizes_data_begin(testing *t, const wick_func *g, uint32_t n, const wick_dim *sym,
                                   const int64_t *val)
{
  sizes_data d = {0};
  const wick_node *ret = wick_return(g);
  uint64_t seed = 1;
  d.nout = ret->nin;
  for (uint32_t k = 0; k < ret->nin + g->nparam; k++, d.n++) {
    wick_value v = k < ret->nin ? ret->in[k] : (wick_value){k - ret->nin + 1};
    const wick_type_info *info = wick_info_of(g, v);
    int64_t numel;
    assert_true(k < MOST_BUFFERS);
    assert_true(
        wick_dim_eval(t->m->dims, wick_type_numel(t->m, wick_type_of(g, v)), n, sym, val, &numel));
    d.elem[k] = info->elem, d.nelem[k] = (uint64_t)numel;
    d.nbytes[k] = wick_elem_bytes(info->elem, d.nelem[k]);
    d.at[k] = testing_guarded(d.nbytes[k]);
    for (uint64_t i = 0; k >= ret->nin && i < d.nelem[k]; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      int64_t r = (int64_t)(seed >> 40) % 2048 - 1024;
      wick_scalar x = {.i = (r + 1024) % 2};
      if (wick_elem_is_float(info->elem)) x.f = (double)r / 512;
      if (info->elem == WICK_I8) x.i = r % 100;
      wick_store_elem(info->elem, d.at[k], i, wick_round_elem(info->elem, x));
    }
  }
  return d;
}

static void sizes_data_end(sizes_data *d)
{
  for (uint32_t k = 0; k < d->n; k++) testing_guarded_free(d->at[k], d->nbytes[k]);
}

static void sizes_clear(const sizes_data *d)
{
  for (uint32_t k = 0; k < d->nout; k++) memset(d->at[k], 0xcd, d->nbytes[k]);
}

static void *sizes_keep(testing *t, const sizes_data *d)
{
  uint64_t all = 0;
  for (uint32_t k = 0; k < d->nout; k++) all += d->nbytes[k];
  char *copy = wick_arena_alloc(&t->mem, all + 1, 16);
  all = 0;
  for (uint32_t k = 0; k < d->nout; all += d->nbytes[k], k++)
    memcpy(copy + all, d->at[k], d->nbytes[k]);
  return copy;
}

static void sizes_same(const sizes_data *d, const void *want, const char *what, const int64_t *size)
{
  const char *p = want;
  for (uint32_t k = 0; k < d->nout; k++)
    for (uint64_t i = 0; i < d->nbytes[k]; i++)
      if (((const char *)d->at[k])[i] != *p++)
        fail_msg("%s at sizes %lld %lld %lld: byte %llu of result %u differs", what,
                 (long long)size[0], (long long)size[1], (long long)size[2], (unsigned long long)i,
                 k);
}

/* ---- running ---- */

/* All tasks, `step` of them in each call. */
static void sizes_run(testing *t, const sizes_kernel *k, const sizes_data *d, uint32_t n,
                      const wick_dim *sym, const int64_t *val, int64_t step)
{
  void *slot[MOST_BUFFERS + MOST_SYMBOLS + 2];
  uint32_t nslot = 0;
  int64_t tasks, size;
  wick_fault fault = {0};
  for (uint32_t i = 0; i < d->n; i++) slot[nslot++] = d->at[i];
  for (uint32_t i = 0; i < k->size.n; i++) {
    assert_true(wick_dim_eval(t->m->dims, k->size.at[i], n, sym, val, &size));
    slot[nslot++] = (void *)(intptr_t)size;
  }
  assert_int_equal(nslot, k->frame.nslot);
  unsigned char *room = NULL;
  if (k->frame.scratch) { /* nothing behind it is written */
    assert_true(wick_dim_eval(t->m->dims, k->scratch, n, sym, val, &size));
    slot[nslot++] = room =
        wick_arena_alloc(&t->mem, (uint64_t)size + WICK_FRAME_ALIGN, WICK_FRAME_ALIGN);
    memset(room += size, 0x5a, WICK_FRAME_ALIGN);
  }
  if (k->frame.fault) slot[nslot++] = &fault;
  assert_true(wick_dim_eval(t->m->dims, k->tasks, n, sym, val, &tasks));
  for (int64_t i = 0; i < tasks; i += step)
    wick_image_kernel(&t->image, k->name)(slot, i, i + step < tasks ? i + step : tasks);
  assert_int_equal(fault.code, 0);
  for (uint32_t i = 0; room && i < WICK_FRAME_ALIGN; i++) assert_int_equal(room[i], 0x5a);
}

static void sizes_interpret(testing *t, const sizes_kernel *k, const sizes_data *d, uint32_t n,
                            const wick_dim *sym, const int64_t *val)
{
  wick_interpret_arg arg[MOST_BUFFERS + MOST_SYMBOLS + 2] = {{0}};
  uint32_t narg = 0;
  wick_arena tmp = wick_arena_make(&t->guard);
  for (; narg < d->n; narg++)
    arg[narg] = (wick_interpret_arg){.data = d->at[narg], .nelem = d->nelem[narg]};
  for (uint32_t i = 0; i < k->size.n; i++)
    assert_true(wick_dim_eval(t->m->dims, k->size.at[i], n, sym, val, &arg[narg++].number));
  narg++;
  assert_true(wick_dim_eval(t->m->dims, k->tasks, n, sym, val, &arg[narg++].number));
  testing_ok(wick_interpret(k->loop, narg, arg, &t->mem, &tmp));
  wick_arena_free(&tmp);
}

static uint64_t sizes_work(const sizes_data *d)
{
  uint64_t n = 1;
  for (uint32_t k = 0; k < d->n; k++) n += d->nelem[k];
  return n;
}

static void sizes_at(testing *t, const wick_func *g, const sizes_kernel *any,
                     const sizes_kernel *one, uint32_t n, const wick_dim *sym, const int64_t *val)
{
  sizes_data d = sizes_data_begin(t, g, n, sym, val);
  sizes_clear(&d);
  sizes_run(t, one, &d, n, sym, val, INT32_MAX);
  const void *want = sizes_keep(t, &d);
  static const int64_t step[] = {INT32_MAX, 1, 5};
  for (uint32_t i = 0; i < WICK_COUNT(step); i++) {
    sizes_clear(&d);
    sizes_run(t, any, &d, n, sym, val, step[i]);
    sizes_same(&d, want,
               wick_str_printf(&t->mem, "@%s, %lld tasks at once", g->name, (long long)step[i]),
               val);
  }
  if (sizes_work(&d) < INTERPRETED) {
    sizes_clear(&d);
    sizes_interpret(t, any, &d, n, sym, val);
    if (!g->schedule || !strstr(g->contract, "approximate"))
      sizes_same(&d, want, wick_str_printf(&t->mem, "@%s, interpreted", g->name), val);
  }
  sizes_data_end(&d);
}

static void sizes_group(testing *t, const wick_func *g, const sizes_case *c, wick_dim_list sym,
                        const char *steps)
{
  sizes_kernel any, one[MOST_SIZES];
  uint32_t n = 0;
  if (!steps) steps = g->schedule;
  if (getenv("SIZES_SHOW")) print_message("@%s: %s\n", g->name, steps);
  any = sizes_build(t, g, steps, wick_str_printf(&t->mem, "%s.any", g->name));
  for (; n < MOST_SIZES && c->size[n][0]; n++) {
    const char *name = wick_str_printf(&t->mem, "%s.at%u", g->name, n);
    testing_parse(t, sizes_text(t, g, sym.n, sym.at, c->size[n], name));
    one[n] = sizes_build(t, wick_module_find(t->m, name), steps,
                         wick_str_printf(&t->mem, "%s.loop", name));
  }
  wick_list(const wick_func *) loops = {0};
  for (uint32_t i = 0; i < t->m->funcs.n; i++)
    if (t->m->funcs.at[i]->level == WICK_LOOP) wick_push(&t->mem, &loops, t->m->funcs.at[i]);
  wick_list(const wick_func *) all = {0};
  for (uint32_t i = 0; i < t->m->funcs.n; i++) wick_push(&t->mem, &all, t->m->funcs.at[i]);
  for (uint32_t i = 0; i < all.n; i++)
    if (all.at[i]->level != WICK_LOOP) wick_module_remove(t->m, all.at[i]->name);
  testing_load(t, "host", false);
  for (uint32_t i = 0; i < n; i++) sizes_at(t, g, &any, &one[i], sym.n, sym.at, c->size[i]);
  for (uint32_t i = 0; i < loops.n; i++) wick_module_remove(t->m, loops.at[i]->name);
  for (uint32_t i = 0; i < all.n; i++)
    if (all.at[i]->level != WICK_LOOP) wick_module_set(t->m, all.at[i]);
}

static void sizes_check(const sizes_case *c)
{
  testing t;
  testing_begin(&t);
  testing_parse(&t, c->graph);
  const wick_target row = wick_target_host();
  wick_func *f = (wick_func *)(uintptr_t)wick_module_find(t.m, "main");
  if (c->passes & BLOCK) testing_ok(wick_pass_block(f, &row, false, NULL, &t.mem, &f));
  if (c->passes & ATTENTION) testing_ok(wick_pass_attention(f, &row, &t.mem, &f));
  testing_ok(wick_pass_expand_rows(f, &t.mem, &f));
  wick_dim_list sym = wick_func_sizes(f, &t.mem);
  assert_int_equal(sym.n, c->nsymbol);
  testing_ok(wick_form_groups(f, &row, NULL, &t.mem, &t.mem, &f));
  wick_list(const wick_func *) groups = {0};
  for (uint32_t i = 0; i < t.m->funcs.n; i++)
    if (t.m->funcs.at[i]->level == WICK_GROUP) wick_push(&t.mem, &groups, t.m->funcs.at[i]);
  assert_true(groups.n > 0);
  for (uint32_t i = 0; i < groups.n; i++)
    sizes_group(&t, groups.at[i], c, sym, i ? NULL : c->steps);
  testing_end(&t);
}

/* ---- cases ---- */

static void loops_that_are_not_scheduled(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[M[1..64],7]) -> f32[M,7] { %1 = tanh %x; return %1 }",
       0,
       "",
       1,
       {{1}, {2}, {33}, {64}}},
      {"graph @main(%x: f32[M[1..20],K[1..30]], %w: f32[K,5]) -> f32[M,5] {"
       "  %1 = matmul %x, %w; return %1 }",
       0,
       "",
       2,
       {{1, 1}, {3, 7}, {20, 30}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

/* Rows and columns of tiles; where rows may be long, blocks of both. Tiles that reach over the end
 * of the image, and images that are smaller than a tile. */
static void tiles_of_minimal_filtering(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[1,2,H[1..40],W[1..90],16], %u: f32[36,3,2,16,16], %b: f32[3,1,1,16]) "
       "-> "
       "f32[1,3,H,W,16] { %1 = conv_winograd %x, %u {tile=4, taps=3, pad=[1,1,1,1]}; %2 = add %1, "
       "%b; %3 = relu %2; return %3 }",
       0,
       NULL,
       2,
       {{1, 1}, {4, 4}, {3, 90}, {8, 40}, {9, 41}, {10, 42}, {23, 19}, {40, 90}}},
      {"graph @main(%x: f32[N[1..3],4,H[4..100000],W[4..100000],16], %u: f32[16,2,2,16,16]) -> "
       "f32[N,2,H,W,16] { %1 = conv_winograd %x, %u {tile=2, taps=3, pad=[1,1,1,1], group=2}; "
       "return %1 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 67}, {1, 31, 130}, {3, 14, 64}}},
      {"graph @main(%x: f32[1,1,H[1..4],W[2..4],8], %u: f32[36,1,1,8,8]) -> f32[1,1,H,W,8] { %1 = "
       "conv_winograd %x, %u {tile=4, taps=3, pad=[1,1,1,1]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 2}, {4, 4}, {3, 4}, {4, 3}}},
      {"graph @main(%x: f32[1,1,16*H[1..9] + 4,32*W[1..9] + 4,8], %u: f32[64,1,1,8,8]) -> "
       "f32[1,1,16*H,32*W,8] { %1 = conv_winograd %x, %u {tile=4, taps=5}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 5}, {9, 9}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void tails(void **state)
{
  (void)state;
  static const char map[] =
      "graph @main(%x: f32[M[1..64],N[1..200]]) -> f32[M,N] { %1 = relu %x; return %1 }";
  static const char product[] =
      "graph @main(%x: f32[M[1..64],K[1..200]], %w: f32[K,N[1..200]]) -> f32[M,N] {"
      "  %1 = matmul %x, %w; %2 = relu %1; return %2 }";
  static const char sum[] =
      "graph @main(%x: f32[M[1..64],N[1..300]]) -> f32[M] {"
      "  %1 = reduce_sum %x {axes=[1], keepdims=false}; %2 = relu %1; return %2 }";
#define MAP_SIZES                                                                                  \
  {                                                                                                \
    {1, 1}, {1, 3}, {2, 15}, {3, 16}, {5, 17}, {6, 64}, {7, 65}, {64, 200}, { 13, 127 }            \
  }
#define PRODUCT_SIZES                                                                              \
  {                                                                                                \
    {1, 1, 1}, {1, 3, 40}, {5, 4, 16}, {6, 5, 17}, {7, 200, 32}, {11, 9, 33}, {12, 8, 48},         \
    {                                                                                              \
      64, 31, 200                                                                                  \
    }                                                                                              \
  }
  static const sizes_case rows[] = {
      {map, 0, "split relu.d1 lane:16; vector relu.lane; parallel relu.d0", 2, MAP_SIZES},
      {map, 0, "split relu.d1 lane:16; vector relu.lane; parallel relu.d0 relu.d1", 2, MAP_SIZES},
      {map, 0,
       "split relu.d1 lane:16; split relu.d1 vb:4; vector relu.lane; unroll relu.vb; parallel "
       "relu.d0 relu.d1",
       2, MAP_SIZES},
      {map, 0,
       "split relu.d1 lane:16; tail relu.d1 overlap; vector relu.lane; split relu.d0 yi:3; tail "
       "relu.d0 overlap; order relu: d0 d1 yi lane; unroll relu.yi; parallel relu.d0",
       2, MAP_SIZES},
      {map, 0,
       "split relu.d0 yi:7; tail relu.d0 overlap; split relu.d1 lane:16; order relu: d0 d1 yi "
       "lane; "
       "vector relu.lane; unroll relu.yi; parallel relu.d0 relu.d1",
       2, MAP_SIZES},
      {product, 0,
       "split relu.d1 lane:16; split relu.d1 vb:2; split relu.d0 xi:6; order relu: d0 d1 xi vb "
       "lane; "
       "vector relu.lane; unroll relu.xi relu.vb; parallel relu.d0 relu.d1; at matmul relu.d1 reg; "
       "split matmul.k u:4; split matmul.n lane:16; order matmul: k u m n lane; vector "
       "matmul.lane; "
       "unroll matmul.m matmul.n matmul.u",
       3, PRODUCT_SIZES},
      {product, 0,
       "split relu.d1 lane:16; split relu.d1 vb:2; split relu.d0 xi:5; tail relu.d0 overlap; tail "
       "relu.d1 "
       "overlap; order relu: d1 d0 xi vb lane; "
       "vector relu.lane; unroll relu.xi relu.vb; parallel relu.d1; at matmul relu.d0 reg; "
       "split matmul.k u:4; split matmul.n lane:16; order matmul: k u m n lane; vector "
       "matmul.lane; "
       "unroll matmul.m matmul.n matmul.u",
       3, PRODUCT_SIZES},
      {sum, 0,
       "parallel relu.d0; at reduce_sum relu.d0 reg; split reduce_sum.r1 lane:16; vector "
       "reduce_sum.lane; unroll reduce_sum.d0",
       2, MAP_SIZES},
      {sum, 0,
       "parallel relu.d0; at reduce_sum relu.d0 reg; split reduce_sum.r1 lane:16; split "
       "reduce_sum.r1 "
       "part:4; order reduce_sum: r1 d0 part lane; parts reduce_sum.part; vector reduce_sum.lane; "
       "unroll reduce_sum.d0",
       2, MAP_SIZES},
      {product, 0,
       "split relu.d1 lane:16; split relu.d0 xi:5; tail relu.d0 overlap; order relu: d1 d0 xi "
       "lane; "
       "vector relu.lane; unroll relu.xi; parallel relu.d1; at matmul relu.d0 reg; "
       "split matmul.k u:4; split matmul.k s:8; spans matmul.k; split matmul.n lane:16; "
       "order matmul: k s u m n lane; vector matmul.lane; unroll matmul.m matmul.n matmul.u",
       3, PRODUCT_SIZES},
      {product, 0,
       "split relu.d1 lane:16; order relu: d1 d0 lane; vector relu.lane; parallel relu.d1; "
       "at matmul relu.d0 reg; split matmul.k u:4; spans matmul.k; split matmul.n lane:16; "
       "order matmul: k u m n lane; vector matmul.lane; unroll matmul.m matmul.n matmul.u",
       3, PRODUCT_SIZES},
      {sum, 0,
       "parallel relu.d0; at reduce_sum relu.d0 reg; split reduce_sum.r1 lane:16; split "
       "reduce_sum.r1 s:3; spans reduce_sum.r1; order reduce_sum: r1 s d0 lane; "
       "vector reduce_sum.lane; unroll reduce_sum.d0",
       2, MAP_SIZES},
      {sum, 0,
       "parallel relu.d0; at reduce_sum relu.d0 reg; split reduce_sum.r1 part:4; order reduce_sum: "
       "r1 "
       "d0 part; parts reduce_sum.part; unroll reduce_sum.d0",
       2, MAP_SIZES},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

/* Ranges without an end: what lies in scratch memory is as large as the sizes at hand want. */
static void scratch(void **state)
{
  (void)state;
#define ENDLESS "[1..536870912]"
  static const char ranks[] =
      "graph @main(%x: f32[M" ENDLESS ",N[2..536870912]]) -> (f32[M,2], i64[M,2]) {"
      "  %1, %2 = top_k %x {k=[2], axis=1}; return %1, %2 }";
  static const char rows_of[] = "graph @main(%x: f32[M" ENDLESS ",N" ENDLESS
                                "]) -> f32[M,N] { %1 = softmax %x {axis=1}; return %1 }";
  static const sizes_case rows[] = {
      {ranks, 0, "", 2, {{1, 3}, {2, 17}, {5, 90}}},
      {ranks, 0, NULL, 2, {{1, 3}, {2, 17}, {5, 90}}},
      {rows_of, 0, NULL, 2, {{1, 1}, {3, 16}, {2, 65}, {7, 300}}},
      {rows_of,
       0,
       "at exp softmax.d0 scratch; parallel softmax.d0; at max softmax.d0 scratch; at sum "
       "softmax.d0 "
       "scratch",
       2,
       {{1, 1}, {3, 16}, {2, 65}, {7, 300}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

/* ---- groups with the templates' schedules ---- */

static void products(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[M[1..512],24], %w: f32[24,80], %b: f32[80]) -> f32[M,80] {"
       "  %1 = matmul %x, %w; %2 = add %1, %b; %3 = gelu %2; return %3 }",
       0,
       NULL,
       1,
       {{1}, {2}, {3}, {5}, {7}, {13}, {14}, {15}, {27}, {28}, {97}, {512}}},
      {"graph @main(%x: f32[B[1..4],S[1..64],24], %w: f32[24,40], %r: f32[B,S,40]) -> f32[B,S,40] {"
       "  %1 = matmul %x, %w; %2 = add %1, %r; return %2 }",
       0,
       NULL,
       2,
       {{1, 1}, {1, 13}, {3, 14}, {4, 64}, {2, 29}}},
      {"graph @main(%q: f32[B[1..3],S[1..90],24], %k: f32[B,24,T[1..90]]) -> f32[B,S,T] {"
       "  %1 = matmul %q, %k; %2 = relu %1; return %2 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 5, 17}, {3, 17, 33}, {1, 90, 90}, {2, 48, 63}}},
      {"graph @main(%p: f32[B[1..3],S[1..90],T[1..90]], %v: f32[B,T,32]) -> f32[B,S,32] {"
       "  %1 = matmul %p, %v; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 5, 17}, {3, 17, 33}, {1, 90, 90}, {2, 48, 63}}},
      {"graph @main(%x: f32[M[1..40],T[1..90]], %w: f32[30,T]) -> f32[M,30] {"
       "  %1 = transpose %w {perm=[1,0]}; %2 = matmul %x, %1; return %2 }",
       0,
       NULL,
       2,
       {{1, 1}, {5, 17}, {17, 33}, {40, 90}}},
      {"graph @main(%x: f32[M[1..9],K[1..1300]], %w: f32[K,20]) -> f32[M,20] {"
       "  %1 = matmul %x, %w; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 256}, {3, 257}, {9, 511}, {4, 1300}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void rows_and_lines(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[B[1..4],S[1..130],S]) -> f32[B,S,S] { %1 = softmax %x; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 2}, {1, 15}, {3, 16}, {2, 33}, {1, 130}}},
      {"graph @main(%x: f32[B[1..4],130,S[1..130]]) -> f32[B,130,S] {"
       "  %1 = softmax %x {axis=1}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 2}, {1, 15}, {3, 16}, {2, 33}, {1, 130}}},
      {"graph @main(%x: f32[B[1..4],S[1..130],17]) -> f32[B,S,17] {"
       "  %1 = softmax %x {axis=1}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 2}, {1, 15}, {3, 16}, {2, 33}, {1, 130}}},
      {"graph @main(%x: f32[B[1..4],S[1..130],40], %g: f32[40], %b: f32[40]) -> f32[B,S,40] {"
       "  %1 = layer_norm %x, %g, %b; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 33}, {4, 130}}},
      {"graph @main(%x: f32[M[1..9],T[1..200]], %g: f32[T], %b: f32[T]) -> f32[M,T] {"
       "  %1 = layer_norm %x, %g, %b; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 15}, {3, 16}, {4, 17}, {9, 200}}},
      {"graph @main(%x: f32[M[1..9],T[1..200]]) -> f32[M,1] {"
       "  %1 = reduce_mean %x {axes=[1]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 15}, {3, 16}, {4, 17}, {5, 63}, {6, 65}, {9, 200}}},
      {"graph @main(%x: f32[M[1..9],T[1..200],20]) -> f32[M,20] {"
       "  %1 = reduce_max %x {axes=[1], keepdims=false}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 15}, {3, 16}, {9, 200}}},
      {"graph @main(%x: f32[M[1..9],C[1..40],H[1..40],W[1..40]]) -> f32[M,C,1,1] {"
       "  %1 = reduce_mean %x {axes=[2,3]}; return %1 }",
       0,
       NULL,
       4,
       {{1, 1, 1, 1}, {2, 3, 15, 17}, {3, 40, 16, 40}, {1, 2, 33, 5}}},
      {"graph @main(%x: f32[M[1..9],T[1..200]]) -> i64[M,1] { %1 = argmax %x {axis=1}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 15}, {9, 200}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void elements(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[B[1..4],S[1..130],40], %y: f32[40]) -> f32[B,S,40] {"
       "  %1 = mul %x, %y; %2 = tanh %1; return %2 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 33}, {4, 130}}},
      {"graph @main(%x: f32[N[1..9000]]) -> f32[N] { %1 = sigmoid %x; return %1 }",
       0,
       NULL,
       1,
       {{1}, {16}, {4095}, {4096}, {4097}, {9000}}},
      {"graph @main(%x: f32[B[1..4],S[1..130],T[1..50]], %y: f32[B,1,T]) -> f32[B,S,T] {"
       "  %1 = add %x, %y; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 33, 15}, {4, 130, 17}, {3, 5, 50}}},
      {"graph @main(%x: f32[B[1..4],S[1..60],4,16]) -> f32[B,4,S,16] {"
       "  %1 = transpose %x {perm=[0,2,1,3]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 33}, {4, 60}}},
      {"graph @main(%x: f32[B[1..4],S[1..60],T[1..60]]) -> f32[B,T,S] {"
       "  %1 = transpose %x {perm=[0,2,1]}; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 3, 5}, {2, 15, 16}, {1, 16, 17}, {4, 60, 33}, {3, 2, 60}}},
      {"graph @main(%x: f32[B[1..4],3,H[1..60],W[1..60]]) -> f32[B,H,W,3] {"
       "  %1 = transpose %x {perm=[0,2,3,1]}; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 3, 5}, {2, 15, 16}, {1, 16, 17}, {4, 60, 33}}},
      {"graph @main(%x: f32[B[1..4],S[1..60],8], %y: f32[B,T[1..60],8]) -> f32[B,S + T,8] {"
       "  %1 = concat %x, %y {axis=1}; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 3, 5}, {4, 60, 33}}},
      {"graph @main(%x: f32[30,20], %i: i64[B[1..4],S[1..60]]) -> f32[B,S,20] {"
       "  %1 = gather %x, %i; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 3}, {4, 60}}},
      {"graph @main(%x: f32[B[1..4],3,H[1..30],W[1..30]]) -> f32[B,3,2*H,2*W] {"
       "  %1 = resize %x {shape=[B,3,2*H,2*W], scale=[1,1,2,2], coordinates=asymmetric, "
       "nearest=floor}; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 3, 5}, {2, 15, 16}, {1, 16, 17}}},
      {"graph @main(%x: f32[B[1..4],S[1..60],8]) -> f32[B,S + 3,8] {"
       "  %1 = pad %x {pad=[0,1,0,0,2,0]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 3}, {4, 60}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void attention(void **state)
{
  (void)state;
#define ATTENTION_SIZES                                                                            \
  {                                                                                                \
    {1, 1, 1}, {2, 5, 3}, {1, 16, 17}, {3, 17, 16}, {1, 31, 40}, {2, 47, 70}, { 1, 80, 90 }        \
  }
  static const sizes_case rows[] = {
      {"graph @main(%q: f32[B[1..4],2,S[1..90],16], %k: f32[B,2,T[1..90],16], %v: f32[B,2,T,16]) "
       "-> f32[B,2,S,16] { %1 = attention %q, %k, %v {scale=0.25}; return %1 }",
       0, NULL, 3, ATTENTION_SIZES},
      {"graph @main(%q: f32[B[1..4],2,S[1..90],16], %k: f32[B,2,T[1..90],16], %v: f32[B,2,T,16], "
       "%m: f32[B,1,1,T]) -> f32[B,2,S,16] {"
       "  %1 = attention %q, %k, %v, %m {scale=0.25}; return %1 }",
       0, NULL, 3, ATTENTION_SIZES},
      {"graph @main(%q: f32[B[1..4],2,S[1..90],16], %k: f32[B,2,T[1..90],16], %v: f32[B,2,T,16], "
       "%m: f32[1,1,S,T]) -> f32[B,2,S,16] {"
       "  %1 = attention %q, %k, %v, %m {scale=0.25}; return %1 }",
       0, NULL, 3, ATTENTION_SIZES},
      {"graph @main(%q: f32[B[1..4],2,S[1..90],16], %k: f32[B,2,T[1..90],16], %v: f32[B,2,T,16], "
       "%m: f32[1,1,S,T]) -> f32[B,2,S,16] {"
       "  %1 = attention %q, %k, %v, %m {scale=0.25, block=32}; return %1 }",
       0, NULL, 3, ATTENTION_SIZES},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void windows(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[B[1..3],3,H[4..40],W[4..40]], %w: f32[8,3,3,3]) -> f32[B,8,H,W] {"
       "  %1 = conv %x, %w {pad=[1,1,1,1]}; %2 = relu %1; return %2 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {3, 33, 40}}},
      {"graph @main(%x: f32[B[1..3],2,H[2..40],W[2..40],16], %w: f32[3,2,3,3,16,16], %b: "
       "f32[3,1,1,16]) -> f32[B,3,H,W,16] {"
       "  %1 = conv_packed %x, %w {pad=[1,1,1,1]}; %2 = add %1, %b; %3 = relu %2; return %3 }",
       0,
       NULL,
       3,
       {{1, 2, 2}, {2, 5, 16}, {1, 17, 15}, {2, 12, 40}, {1, 3, 13}}},
      {"graph @main(%x: f32[B[1..3],2,H[4..40],W[4..40],16], %w: f32[3,2,1,1,16,16], %r: "
       "f32[B,3,H,W,16]) -> f32[B,3,H,W,16] {"
       "  %1 = conv_packed %x, %w; %2 = add %1, %r; return %2 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {2, 12, 40}, {1, 5, 13}}},
      {"graph @main(%x: f32[B[1..3],2,H[4..40],W[4..40],16], %w: f32[3,2,3,3,16,16]) "
       "-> f32[B,3,floordiv(H + 1, 2),floordiv(W + 1, 2),16] {"
       "  %1 = conv_packed %x, %w {pad=[1,1,1,1], stride=[2,2]}; %2 = relu %1; return %2 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {2, 12, 40}, {1, 5, 13}}},
      {"graph @main(%x: f32[B[1..3],20,H[4..40],W[4..40]], %w: f32[20,1,3,3]) -> f32[B,20,H,W] {"
       "  %1 = conv %x, %w {pad=[1,1,1,1], group=20}; %2 = relu %1; return %2 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {2, 12, 40}, {1, 5, 13}}},
      {"graph @main(%x: f32[B[1..3],3,H[4..40],W[4..40]]) -> f32[B,3,H,W] {"
       "  %1 = max_pool %x {kernel=[3,3], pad=[1,1,1,1]}; return %1 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {3, 33, 40}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

int main(void)
{
  wick_llvm_begin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_that_are_not_scheduled),
      cmocka_unit_test(tiles_of_minimal_filtering),
      cmocka_unit_test(tails),
      cmocka_unit_test(scratch),
      cmocka_unit_test(products),
      cmocka_unit_test(rows_and_lines),
      cmocka_unit_test(elements),
      cmocka_unit_test(attention),
      cmocka_unit_test(windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
