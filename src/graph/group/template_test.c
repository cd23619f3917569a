/* Runs groups with and without their schedules in the interpreter. The bits are the same where
 * the contract keeps the order of sums, and nearly the same elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/constant_fold.h"
#include "graph/group/form_kernels.h"
#include "graph/group/template.h"
#include "graph/layout/assign_layouts.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "loop/contract.h"
#include "loop/expand_math.h"
#include "loop/interpret.h"
#include "loop/licm.h"
#include "loop/nest.h"

typedef struct template_bench {
  wick_guard guard;
  wick_arena mem, tmp;
  wick_module *m;
  uint64_t random;
} template_bench;

static float template_random(template_bench *t)
{
  t->random = t->random * 6364136223846793005u + 1442695040888963407u;
  return (float)((int64_t)(t->random >> 33) % 2001 - 1000) / 1000.0f;
}

static void template_ok(wick_status s)
{
  if (s) print_error("%s\n", s->message);
  assert_null(s);
}

static uint64_t template_nelem(const wick_type_info *t, const wick_halo *h)
{
  uint64_t n = 1;
  for (uint32_t k = 0; k < t->rank; k++)
    n *= (uint64_t)(t->dim[k].v + (h ? h->lo[k] + h->hi[k] : 0));
  return n;
}

/* Fills a parameter's memory: random numbers inside, zeros around. Returns the buffer's type,
 * which is the strided inside. */
static wick_type template_fill(template_bench *t, const wick_type_info *info, const wick_halo *h,
                               wick_interpret_arg *arg, int64_t *out_first)
{
  int64_t stride[WICK_MAX_RANK], first = 0;
  wick_dim step[WICK_MAX_RANK];
  for (int64_t s = 1, k = info->rank; k-- > 0; s *= info->dim[k].v + h->lo[k] + h->hi[k])
    stride[k] = s, step[k] = wick_dim_const(s);
  for (uint32_t k = 0; k < info->rank; k++) first += h->lo[k] * stride[k];
  uint64_t n = template_nelem(info, h), inside = template_nelem(info, NULL);
  float *data = wick_arena_alloc(&t->mem, n * 4, 64);
  for (uint64_t e = 0; e < inside; e++) {
    uint64_t rest = e, at = (uint64_t)first;
    for (uint32_t k = info->rank; k-- > 0; rest /= (uint64_t)info->dim[k].v)
      at += rest % (uint64_t)info->dim[k].v * (uint64_t)stride[k];
    data[at] = template_random(t);
  }
  *arg = (wick_interpret_arg){.data = data, .nelem = n};
  *out_first = first;
  return wick_type_intern(t->m, &(wick_type_info){.kind = WICK_BUFFER,
                                                  .elem = WICK_F32,
                                                  .rank = info->rank,
                                                  .dim = info->dim,
                                                  .stride = step,
                                                  .space = WICK_IO});
}

/* Runs the group under a schedule. The interpreter checks that reads before the first element
 * stay inside the memory. For a group without halos, the inside is therefore copied to the
 * beginning of the memory. */
static float *template_run(template_bench *t, const wick_func *g, const char *steps,
                           const wick_interpret_arg *in, const wick_type *type, uint64_t *out_n)
{
  wick_schedule *s = wick_schedule_begin(g, &t->tmp);
  template_ok(wick_schedule_apply(s, steps));
  wick_kernel_info k;
  wick_nest_options o = {.buffer = type};
  template_ok(wick_nest(g, s, &o, &t->mem, &t->tmp, &k));
  template_ok(wick_verify_func(k.loop, &t->tmp));
  wick_func *f;
  const wick_pass_context pass = {.mem = &t->mem, .tmp = &t->tmp};
  template_ok(wick_licm_loop(&pass, k.loop, &f));
  template_ok(wick_verify_func(f, &t->tmp));
  template_ok(wick_pass_expand_math(&pass, f, &f));
  const wick_type_info *r = wick_info_of(g, wick_return(g)->in[0]);
  uint64_t n = template_nelem(r, NULL);
  float *y = wick_arena_alloc(&t->mem, n * 4, 64);
  for (uint64_t i = 0; i < n; i++) y[i] = -12345;
  wick_interpret_arg *arg = wick_new(&t->tmp, wick_interpret_arg, g->nparam + 3);
  arg[0] = (wick_interpret_arg){.data = y, .nelem = n};
  for (uint32_t p = 0; p < g->nparam; p++) arg[p + 1] = in[p];
  assert_true(wick_dim_is_const(k.tasks));
  arg[g->nparam + 2].number = k.tasks.v / 2; /* the tasks in two parts, the second one first */
  for (int part = 1; part >= 0; part--) {
    arg[g->nparam + 1].number = part ? k.tasks.v / 2 : 0;
    arg[g->nparam + 2].number = part ? k.tasks.v : k.tasks.v / 2;
    template_ok(wick_interpret(f, f->nparam, arg, &t->mem, &t->tmp));
  }
  *out_n = n;
  return y;
}

static void template_group(template_bench *t, const wick_func *g, const wick_target *target)
{
  if (wick_return(g)->nin != 1 || strncmp(g->name, "halo", 4) == 0) return;
  const char *halo = strstr(g->schedule, "halo ");
  wick_text inline_only = wick_text_begin(&t->tmp);
  char *steps = wick_str_dup(&t->tmp, g->schedule);
  if (halo) steps[halo - g->schedule] = 0; /* halos are tested where kernels run on real buffers */
  for (const char *s = steps; *s; s += strspn(s, ";")) {
    size_t n = strcspn(s, ";");
    if (strncmp(s + strspn(s, " "), "inline", 6) == 0)
      wick_text_printf(&inline_only, "%.*s;", (int)n, s);
    s += n;
  }
  wick_type *type = wick_new(&t->tmp, wick_type, g->nparam + 1);
  wick_interpret_arg *in = wick_new(&t->tmp, wick_interpret_arg, g->nparam);
  const wick_type_info *r = wick_info_of(g, wick_return(g)->in[0]);
  type[0] = wick_type_buffer(t->m, r->elem, r->rank, r->dim, WICK_IO);
  for (uint32_t p = 0; p < g->nparam; p++) {
    int64_t first;
    type[p + 1] = template_fill(t, wick_info_of(g, (wick_value){p + 1}), &(wick_halo){.fill = 0},
                                &in[p], &first);
  }
  uint64_t n;
  float *want = template_run(t, g, inline_only.at, in, type, &n),
        *got = template_run(t, g, steps, in, type, &n);
  wick_schedule *s = wick_schedule_begin(g, &t->tmp);
  template_ok(wick_schedule_apply(s, steps));
  const char *contract = wick_contract_of(s, target);
  if (g->contract) assert_string_equal(contract, g->contract);
  for (uint64_t i = 0; i < n; i++) {
    float limit =
        strstr(contract, "rounding") ? 1e-5f * (1 + (want[i] < 0 ? -want[i] : want[i])) : 0;
    if (!(got[i] - want[i] <= limit && want[i] - got[i] <= limit)) {
      print_error("@%s, `%s`: element %llu is %g, expected %g\n", g->name, steps,
                  (unsigned long long)i, (double)got[i], (double)want[i]);
      fail();
    }
  }
}

/* Constants of a test are only declared; this gives them numbers. */
static void template_constants(template_bench *t)
{
  for (uint32_t i = 1; i < t->m->constants.n; i++) {
    wick_constant *k = &t->m->constants.at[i];
    template_ok(wick_type_nbytes(t->m, k->type, &k->nbytes)
                    ? NULL
                    : wick_fail(&t->tmp, WICK_EINTERNAL, k->name, "size"));
    float *data = wick_arena_alloc(&t->m->mem, k->nbytes, 64);
    for (uint64_t e = 0; e < k->nbytes / 4; e++) data[e] = template_random(t);
    k->data = data;
  }
}

static void template_case_on(const char *text, const wick_target *target, bool strict)
{
  template_bench *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->guard.allocator = wick_allocator_malloc();
  t->random = 42;
  if (setjmp(t->guard.where)) fail_msg("out of memory");
  t->mem = wick_arena_make(&t->guard), t->tmp = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "test");
  template_ok(wick_parse_module(t->m, "test", text, strlen(text), &t->tmp));
  template_constants(t);
  const wick_pass_context pass = {
      .target = target, .strict = strict, .mem = &t->mem, .tmp = &t->tmp};
  wick_func *folded, *blocked, *low;
  template_ok(wick_pass_constant_fold(&pass, wick_module_find(t->m, "main"), &folded));
  template_ok(wick_pass_assign_layouts(&pass, folded, &blocked));
  template_ok(wick_verify_func(blocked, &t->tmp));
  template_ok(wick_pass_form_kernels(&pass, blocked, &low));
  template_ok(wick_verify_func(low, &t->tmp));
  for (uint32_t i = 0; i < t->m->funcs.n; i++)
    if (t->m->funcs.at[i]->level == WICK_GROUP) template_group(t, t->m->funcs.at[i], target);
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
  wick_arena_free(&t->tmp);
  free(t);
}

static void template_case(const char *text, const char *target_name, bool strict)
{
  wick_target target;
  assert_true(wick_target_find(target_name, &target));
  template_case_on(text, &target, strict);
}

static void template_conv(int n, int c, int o, int y, int x, int r, int s, const char *attr, int oy,
                          int ox, int group, bool strict)
{
  char text[2048];
  snprintf(text, sizeof text,
           "graph @main(%%x: f32[%d,%d,%d,%d]) -> f32[%d,%d,%d,%d] {\n"
           "  %%w = const @w : f32[%d,%d,%d,%d]\n  %%b = const @b : f32[%d]\n"
           "  %%0 = conv %%x, %%w, %%b {%s} : f32[%d,%d,%d,%d]\n  %%1 = relu %%0 : "
           "f32[%d,%d,%d,%d]\n  return %%1\n}\n"
           "constant @w : f32[%d,%d,%d,%d]\nconstant @b : f32[%d]\n",
           n, c, y, x, n, o, oy, ox, o, c / group, r, s, o, attr, n, o, oy, ox, n, o, oy, ox, o,
           c / group, r, s, o);
  template_case(text, "x86-64-v4", strict);
  template_case(text, "x86-64-v3", strict);
}

static void template_convolutions(void **state)
{
  (void)state;
  template_conv(1, 16, 32, 7, 7, 3, 3, "pad=[1,1,1,1]", 7, 7, 1, true);
  template_conv(2, 17, 24, 6, 9, 3, 3, "pad=[1,1,1,1]", 6, 9, 1, true);
  template_conv(1, 3, 17, 9, 11, 3, 3, "stride=[2,2], pad=[1,1,1,1]", 5, 6, 1, true);
  template_conv(1, 20, 36, 7, 8, 1, 1, "", 7, 8, 1, true);
  template_conv(1, 16, 16, 9, 9, 3, 3, "dilation=[2,2], pad=[2,2,2,2]", 9, 9, 1, true);
  template_conv(1, 16, 20, 10, 10, 3, 3, "stride=[3,3], pad=[0,1,0,1]", 3, 4, 1, true);
  template_conv(1, 24, 24, 7, 6, 3, 3, "group=24, pad=[1,1,1,1]", 7, 6, 24, true);
  template_conv(1, 64, 64, 5, 5, 1, 3, "group=4, pad=[0,1,0,1]", 5, 5, 4, true);
  template_conv(1, 12, 12, 5, 5, 3, 3, "group=4, pad=[1,1,1,1]", 5, 5, 4, true);
  template_conv(1, 60, 6, 9, 11, 3, 3, "group=2, stride=[2,2], pad=[1,1,1,1]", 5, 6, 2, true);
  template_conv(1, 5, 3, 8, 20, 3, 3, "pad=[1,1,1,1]", 8, 20, 1, true);
  template_conv(1, 7, 2, 5, 11, 2, 5, "pad=[0,2,1,2]", 5, 11, 1, true);
  template_conv(1, 33, 3, 9, 9, 3, 3, "stride=[2,2], pad=[1,1,1,1]", 5, 5, 1, true);
  template_conv(2, 64, 1, 7, 2, 1, 1, "", 7, 2, 1, true);
}

/* Groups of a depthwise and a pointwise convolution with a large image between them. */
static void template_by_depth(void **state)
{
  (void)state;
  static const char *const cases[] = {
      /* groups of a prime number of channels; with partial sums in memory; with a panel */
      "graph @main(%x: f32[1,14,9,40], %w: f32[26,7,3,3]) -> f32[1,26,7,38] { %0 = conv %x, %w "
      "{group=2} return %0 }",
      "graph @main(%x: f32[1,150,3000], %w: f32[34,75,1]) -> f32[1,34,3000] { %0 = conv %x, %w "
      "{group=2} return %0 }",
      "graph @main(%x: f32[1,74,5000], %w: f32[74,37,1]) -> f32[1,74,5000] { %0 = conv %x, %w "
      "{group=2} return %0 }",
      "graph @main(%x: f32[1,2,66,65,16], %w: f32[2,3,3,16], %p: f32[1,2,1,1,16,16]) -> "
      "f32[1,1,66,65,16] { %0 = conv_packed %x, %w {group=32, pad=[1,1,1,1]} %1 = relu %0 %2 = "
      "conv_packed %1, %p %3 = sigmoid %2 return %3 }",
      "graph @main(%x: f32[2,3,79,81,16], %w: f32[3,3,3,16], %p: f32[3,3,1,1,16,16], %b: "
      "f32[1,3,1,1,16]) -> f32[2,3,40,41,16] { %0 = conv_packed %x, %w {group=48, stride=[2,2], "
      "pad=[1,1,1,1]} %1 = add %0, %b %2 = relu %1 %3 = conv_packed %2, %p return %3 }",
  };
  for (size_t i = 0; i < WICK_COUNT(cases); i++) {
    template_case(cases[i], "x86-64-v4", true);
    template_case(cases[i], "x86-64-v3", true);
  }
}

/* Winograd's algorithm: blocks of tiles, some of them smaller, in parts that share the tiles. */
static void template_winograd_tiles(void **state)
{
  (void)state;
  template_conv(1, 32, 64, 20, 20, 3, 3, "pad=[1,1,1,1]", 20, 20, 1, false);
  template_conv(2, 64, 32, 13, 15, 3, 3, "pad=[1,1,1,1]", 13, 15, 1, false);
  template_conv(1, 16, 96, 7, 7, 3, 3, "pad=[1,1,1,1]", 7, 7, 1, false);
  template_conv(1, 64, 96, 20, 20, 5, 5, "group=2, pad=[2,2,2,2]", 20, 20, 2, false);
  template_conv(1, 48, 144, 14, 14, 3, 3, "group=3, pad=[1,1,1,1]", 14, 14, 3, false);
  /* two rows of tiles fit into the cache; there are three, and the last one is cut */
  template_conv(1, 16, 16, 10, 400, 3, 3, "pad=[1,1,1,1]", 10, 400, 1, false);
}

/* The last row of tiles is cut. On machines with few registers, blocks have one row. */
static void template_cut_tiles(void **state)
{
  (void)state;
  static const char *const target[] = {"x86-64-v1", "x86-64-v3", "x86-64-v4"};
  for (int rows = 5; rows <= 11; rows++)
    for (size_t k = 0; k < WICK_COUNT(target); k++) {
      char text[300];
      snprintf(text, sizeof text,
               "graph @main(%%x: f32[1,3,%d,29,2], %%u: f32[64,1,3,2,2]) -> f32[1,1,%d,29,2] { %%0 "
               "= conv_winograd %%x, %%u {tile=4, taps=5, pad=[2,2,2,2]} return %%0 }",
               rows, rows);
      template_case(text, target[k], true);
    }
}

/* Blocks of rows and of columns whose images stay in a small cache; groups whose channels are
 * not a multiple of the tile; prefetches. */
static void template_blocks(void **state)
{
  (void)state;
  static const char *const cases[] = {
      "graph @main(%x: f32[1,96,13,12]) -> f32[1,160,13,12] { %w = const @w : f32[160,48,1,1] %0 = "
      "conv %x, %w {group=2} : f32[1,160,13,12] return %0 } constant @w : f32[160,48,1,1]",
      "graph @main(%x: f32[2,64,11,17]) -> f32[2,224,5,8] { %w = const @w : f32[224,32,3,3] %0 = "
      "conv %x, %w {group=2, stride=[2,2]} : f32[2,224,5,8] return %0 } constant @w : "
      "f32[224,32,3,3]",
  };
  wick_target target;
  assert_true(wick_target_find("x86-64-v4", &target));
  target.processor = *wick_target_processor(&target);
  for (uint64_t *second = &target.processor.cache_bytes[1], n = 64 << 10; n >= 4 << 10; n /= 2) {
    *second = n;
    for (size_t i = 0; i < WICK_COUNT(cases); i++) template_case_on(cases[i], &target, true);
  }
}

static void template_others(void **state)
{
  (void)state;
  static const char *const cases[] = {
      "graph @main(%x: f32[5,37], %y: f32[37,50]) -> f32[5,50] { %0 = matmul %x, %y : f32[5,50] "
      "return %0 }",
      "graph @main(%x: f32[3,40]) -> f32[3,100] { %w = const @w : f32[40,100] %b = const @b : "
      "f32[100] %0 = matmul %x, %w : f32[3,100]"
      " %1 = add %0, %b : f32[3,100] %2 = relu %1 : f32[3,100] return %2 } constant @w : "
      "f32[40,100] constant @b : f32[100]",
      "graph @main(%x: f32[2,3,4,18], %y: f32[2,3,18,21]) -> f32[2,3,4,21] { %0 = matmul %x, %y : "
      "f32[2,3,4,21] return %0 }",
      "graph @main(%x: f32[2,5,40], %y: f32[2,7,40]) -> f32[2,5,7] { %0 = transpose %y "
      "{perm=[0,2,1]} : f32[2,40,7] %1 = matmul %x, %0 : f32[2,5,7] return %1 }",
      "graph @main(%x: f32[3,100]) -> f32[3,100] { %0 = softmax %x : f32[3,100] return %0 }",
      "graph @main(%x: f32[2,3,33]) -> f32[2,3,33] { %0 = softmax %x {axis=1} : f32[2,3,33] return "
      "%0 }",
      "graph @main(%x: f32[1,32,9,9]) -> f32[1,32,5,5] { %0 = max_pool %x {kernel=[3,3], "
      "stride=[2,2], pad=[1,1,1,1]} : f32[1,32,5,5] return %0 }",
      "graph @main(%x: f32[1,20,8,8]) -> f32[1,20,4,4] { %0 = avg_pool %x {kernel=[2,2], "
      "stride=[2,2]} : f32[1,20,4,4] return %0 }",
      "graph @main(%x: f32[2,20,6,7]) -> f32[2,20,1,1] { %0 = reduce_mean %x {axes=[2,3]} : "
      "f32[2,20,1,1] return %0 }",
      "graph @main(%x: f32[7,6,35]) -> f32[35,7,6] { %0 = transpose %x {perm=[2,0,1]} : "
      "f32[35,7,6] return %0 }",
      "graph @main(%x: f32[7,70], %y: f32[70]) -> f32[7,70] { %0 = mul %x, %y : f32[7,70] %1 = "
      "sigmoid %0 : f32[7,70] return %1 }",
      "graph @main(%x: f32[5000]) -> f32[5000] { %0 = tanh %x : f32[5000] return %0 }",
      /* an element that depends on three sums of products */
      "graph @main(%x: f32[1,3,3,16], %s: f32[1,3,16], %h: f32[1,48], %r: f32[3,45,3,16]) -> "
      "f32[1,3,16] { %0 = gru_step %x, %s, %h, %r : f32[1,3,16] return %0 }",
      "graph @main(%x: f32[7,5,3,16], %s: f32[7,5,16], %h: f32[7,80], %r: f32[5,77,3,16], %b: "
      "f32[5,1,16]) -> f32[7,5,16] { %0 = gru_step %x, %s, %h, %r, %b : f32[7,5,16] return %0 }",
      "graph @main(%x: f32[2,2,3,4], %s: f32[2,2,4], %h: f32[2,8], %r: f32[2,8,3,4]) -> "
      "f32[2,2,4] { %0 = gru_step %x, %s, %h, %r : f32[2,2,4] return %0 }",
      /* attention: multiples and remainders of queries, keys and columns; blocks; masks */
      "graph @main(%q: f32[2,40,20], %k: f32[2,37,20], %v: f32[2,37,24]) -> f32[2,40,24] { %0 = "
      "attention %q, %k, %v {scale=0.25} : f32[2,40,24] return %0 }",
      "graph @main(%q: f32[3,70,33], %k: f32[1,24,33], %v: f32[24,70], %m: f32[70,24]) -> "
      "f32[3,70,70] { %0 = attention %q, %k, %v, %m {block=8} : f32[3,70,70] return %0 }",
      "graph @main(%q: f32[35,8], %k: f32[29,8], %v: f32[29,200], %m: f32[35,29]) -> f32[35,200] "
      "{ %0 = attention %q, %k, %v, %m {block=10} : f32[35,200] return %0 }",
      "graph @main(%q: f32[2,17,4], %k: f32[2,5,4], %v: f32[2,5,3], %m: f32[2,1,5]) -> f32[2,17,3] "
      "{ %0 = attention %q, %k, %v, %m {block=2} %1 = relu %0 return %1 }",
      "graph @main(%q: f32[1,4], %k: f32[9,4], %v: f32[9,1]) -> f32[1,1] "
      "{ %0 = attention %q, %k, %v {block=4} return %0 }",
      /* sums in spans: over three axes, with a smaller last span, across lanes */
      "graph @main(%x: f32[1,40,6,7]) -> f32[1,20,6,7] { %w = const @w : f32[20,40,3,3] %0 = conv "
      "%x, %w {pad=[1,1,1,1]} : f32[1,20,6,7] return %0 } constant @w : f32[20,40,3,3]",
      "graph @main(%x: f32[2,521]) -> f32[2,17] { %w = const @w : f32[521,17] %0 = matmul %x, %w : "
      "f32[2,17] return %0 } constant @w : f32[521,17]",
      "graph @main(%x: f32[1,5000], %y: f32[2,5000]) -> f32[1,2] { %0 = transpose %y {perm=[1,0]} "
      ": "
      "f32[5000,2] %1 = matmul %x, %0 : f32[1,2] return %1 }",
      /* columns in blocks of several vectors, and more rows than a tile */
      "graph @main(%x: f32[16,21], %w: f32[3,21,64]) -> f32[16,3,64] { %0 = matmul_packed %x, %w : "
      "f32[16,3,64] return %0 }",
      "graph @main(%x: f32[5,40]) -> f32[5,1] { %0 = reduce_max %x {axes=[1]} : f32[5,1] return %0 "
      "}",
      "graph @main(%x: f32[2,3,6,37]) -> f32[2,3] { %0 = reduce_sum %x {axes=[2,3], "
      "keepdims=false} "
      ": f32[2,3] return %0 }",
      /* folds along 1-D slices: in parts, with a few lanes more than a vector, to a single
         element; along other axes: whole vectors of neighbours, with stages that read the column
         again */
      "graph @main(%x: f32[3,2,77]) -> f32[3,2] { %0 = reduce_mean %x {axes=[2], keepdims=false} : "
      "f32[3,2] return %0 }",
      "graph @main(%x: f32[3,5,25]) -> f32[3,1,1] { %0 = reduce_sum %x {axes=[1,2]} : f32[3,1,1] "
      "return %0 }",
      "graph @main(%x: f32[5,70]) -> f32[] { %0 = reduce_sum %x {axes=[0,1], keepdims=false} : "
      "f32[] return %0 }",
      "graph @main(%x: f32[9,150]) -> f32[150] { %0 = reduce_sum %x {axes=[0], keepdims=false} : "
      "f32[150] return %0 }",
      "graph @main(%x: f32[2,7,90]) -> f32[2,1,90] { %0 = reduce_max %x {axes=[1]} : f32[2,1,90] "
      "return %0 }",
      "graph @main(%x: f32[2,9,3,37]) -> f32[2,9,3,37] { %0 = softmax %x {axis=1} : f32[2,9,3,37] "
      "return %0 }",
      "graph @main(%x: f32[3,100]) -> f32[3,100] { %0 = log_softmax %x {axis=0} : f32[3,100] "
      "return "
      "%0 }",
      /* short slices: one vector with masked lanes, along the last axis and along another one */
      "graph @main(%x: f32[6,11]) -> f32[6] { %0 = reduce_max %x {axes=[1], keepdims=false} return "
      "%0 }",
      "graph @main(%x: f32[6,19]) -> f32[6] { %0 = reduce_sum %x {axes=[1], keepdims=false} return "
      "%0 }",
      "graph @main(%x: f32[4,3,11]) -> f32[4,3,11] { %0 = softmax %x {axis=2} return %0 }",
      "graph @main(%x: f32[4,3,5]) -> f32[4,3,5] { %0 = log_softmax %x {axis=1} return %0 }",
      "graph @main(%x: f32[7,3]) -> f32[7,3] { %0 = softmax %x {axis=1} return %0 }",
      /* several states, wide and narrow ones */
      "graph @main(%x: f32[3,150]) -> f32[3] { %0 = argmin %x {axis=1, keepdims=false} %1 = cast "
      "%0 : f32[3] return %1 }",
      "graph @main(%x: f32[777]) -> f32[1] { %0 = argmax %x {axis=0, last=true} %1 = cast %0 : "
      "f32[1] return %1 }",
      "graph @main(%x: f32[3,50]) -> f32[3] { %0 = mul %x, %x %1 = cast %0 : i32[3,50] %2 = "
      "reduce_sum %1 {axes=[1], keepdims=false} %3 = cast %2 : f32[3] return %3 }",
      "graph @main(%x: f32[3,50]) -> f32[3] { %0 = cast %x : f64[3,50] %1 = reduce_mean %0 "
      "{axes=[1], keepdims=false} %2 = cast %1 : f32[3] return %2 }",
      /* element-wise operators inside a fold; a fold that a smaller map reads, for a larger one */
      "graph @main(%x: f32[3,5,70], %y: f32[5,70]) -> f32[3,70] { %0 = mul %x, %x %1 = add %0, %y "
      "%2 = reduce_sum %1 {axes=[1], keepdims=false} return %2 }",
      "graph @main(%x: f32[6,123], %y: f32[6,1]) -> f32[6,1] { %0 = sub %x, %y %1 = exp %0 %2 = "
      "reduce_sum %1 {axes=[1]} %3 = log %2 return %3 }",
      "graph @main(%x: f32[8,123]) -> f32[8,123] { %0 = reduce_max %x {axes=[1]} %1 = abs %0 %2 = "
      "sub %x, %1 %3 = exp %2 return %3 }",
      /* blocks transposed in registers: full ones, a last one that begins earlier, few lanes */
      "graph @main(%x: f32[2,32,3,37]) -> f32[2,2,3,37,16] { %0 = pack %x : f32[2,2,3,37,16] "
      "return %0 }",
      "graph @main(%x: f32[1,32,2,6]) -> f32[1,2,2,6,16] { %0 = pack %x : f32[1,2,2,6,16] return "
      "%0 }",
      "graph @main(%x: f32[1,2,3,37,16]) -> f32[1,24,3,37] { %0 = unpack %x {extent=[24]} : "
      "f32[1,24,3,37] return %0 }",
      "graph @main(%x: f32[40,56]) -> f32[56,40] { %0 = transpose %x {perm=[1,0]} : f32[56,40] "
      "return %0 }",
      "graph @main(%x: f32[1,16,7,9]) -> f32[1,16,4,5] { %0 = max_pool %x {kernel=[3,2], "
      "stride=[2,2], pad=[1,1,1,1], ceil=true} : f32[1,16,4,5] return %0 }",
      "graph @main(%x: f32[1,4,7,9]) -> f32[1,4,3,9] { %0 = max_pool %x {kernel=[3,3], "
      "stride=[2,1], pad=[0,1,0,1]} : f32[1,4,3,9] return %0 }",
      /* the last vector has two elements: for one tap it reads where a full vector reads for
       * another */
      "graph @main(%x: f32[1,3,2,18], %w: f32[8,3,1,7]) -> f32[1,8,2,18] { %0 = conv %x, %w "
      "{pad=[0,3,0,3]} : f32[1,8,2,18] return %0 }",
  };
  for (size_t i = 0; i < WICK_COUNT(cases); i++) {
    template_case(cases[i], "x86-64-v4", true);
    template_case(cases[i], "x86-64-v1", true);
  }
}

/* Lanes that are a few elements apart, borders, and axes that are shorter than a vector. */
static void template_windows(void **state)
{
  (void)state;
  static const char *const cases[] = {
      /* every second to fourth element, the last vector whole or not; backwards; too far apart */
      "graph @main(%x: f32[2,4,70,101]) -> f32[2,4,70,34] { %0 = slice %x {begin=[0,0,0,0], "
      "shape=[2,4,70,34], step=[1,1,1,3]} return %0 }",
      "graph @main(%x: f32[3,3,131]) -> f32[3,3,32] { %0 = slice %x {begin=[0,0,5], "
      "shape=[3,3,32], step=[1,1,4]} return %0 }",
      "graph @main(%x: f32[3,3,131]) -> f32[3,3,37] { %0 = slice %x {begin=[0,0,130], "
      "shape=[3,3,37], step=[1,1,-1]} return %0 }",
      "graph @main(%x: f32[3,3,131]) -> f32[3,3,37] { %0 = slice %x {begin=[0,2,129], "
      "shape=[3,3,37], step=[1,-1,-3]} return %0 }",
      "graph @main(%x: f32[2,700]) -> f32[2,20] { %0 = slice %x {begin=[0,0], shape=[2,20], "
      "step=[1,31]} return %0 }",
      /* windows with and without borders */
      "graph @main(%x: f32[1,9,14,90]) -> f32[1,9,7,45] { %0 = max_pool %x {kernel=[2,2], "
      "stride=[2,2]} return %0 }",
      "graph @main(%x: f32[1,9,14,91]) -> f32[1,9,7,46] { %0 = max_pool %x {kernel=[3,3], "
      "stride=[2,2], pad=[1,1,1,1]} return %0 }",
      "graph @main(%x: f32[1,9,14,70]) -> f32[1,9,14,70] { %0 = avg_pool %x {kernel=[5,5], "
      "pad=[2,2,2,2]} return %0 }",
      "graph @main(%x: f32[1,9,14,139]) -> f32[1,9,5,47] { %0 = avg_pool %x {kernel=[3,3], "
      "stride=[3,3], pad=[1,1,1,1], count_pad=true} return %0 }",
      "graph @main(%x: f32[1,9,14,139]) -> f32[1,9,5,46] { %0 = avg_pool %x {kernel=[3,5], "
      "stride=[3,3], pad=[1,2,1,1], dilation=[1,1]} %1 = relu %0 return %1 }",
      "graph @main(%x: f32[2,9,14,11]) -> f32[2,9,7,6] { %0 = max_pool %x {kernel=[3,3], "
      "stride=[2,2], pad=[1,1,1,1]} return %0 }",
      /* rows of a window that are longer than half a vector, shuffled from every second element */
      "graph @main(%x: f32[2,3,23,41]) -> f32[2,3,10,19] { %0 = max_pool %x {kernel=[5,5], "
      "stride=[2,2]} return %0 }",
      "graph @main(%x: f32[1,3,23,43]) -> f32[1,3,9,19] { %0 = avg_pool %x {kernel=[7,7], "
      "stride=[2,2]} return %0 }",
      /* pairs that move together */
      "graph @main(%x: f32[12,19,2]) -> f32[19,12,2] { %0 = transpose %x {perm=[1,0,2]} return %0 "
      "}",
      "graph @main(%x: f32[7,5,13,2]) -> f32[13,5,7,2] { %0 = transpose %x {perm=[2,1,0,3]} "
      "return %0 }",
      /* what is added at the ends: numbers, the last element, a mirrored part, several copies */
      "graph @main(%x: f32[3,4,50]) -> f32[4,4,57] { %0 = pad %x {pad=[0,0,3,1,0,4]} return %0 }",
      "graph @main(%x: f32[3,4,50], %v: f32[]) -> f32[5,4,99] { %0 = pad %x, %v "
      "{pad=[2,-1,37,0,1,12]} return %0 }",
      "graph @main(%x: f32[3,4,50]) -> f32[3,6,57] { %0 = pad %x {pad=[0,1,3,0,1,4], mode=edge} "
      "return %0 }",
      "graph @main(%x: f32[3,4,50]) -> f32[3,6,77] { %0 = pad %x {pad=[0,1,13,0,1,14], "
      "mode=reflect} return %0 }",
      "graph @main(%x: f32[3,4,25]) -> f32[3,4,80] { %0 = pad %x {pad=[0,0,20,0,0,35], mode=wrap} "
      "return %0 }",
      "graph @main(%x: f32[3,4,5]) -> f32[3,4,80] { %0 = pad %x {pad=[0,0,20,0,0,55], mode=wrap} "
      "return %0 }",
      /* axes that are shorter than a vector */
      "graph @main(%x: f32[7,9,6]) -> f32[7,9,6] { %0 = exp %x return %0 }",
      "graph @main(%x: f32[7,9,13], %y: f32[9,1]) -> f32[7,9,13] { %0 = add %x, %y return %0 }",
  };
  for (size_t i = 0; i < WICK_COUNT(cases); i++) {
    template_case(cases[i], "x86-64-v4", true);
    template_case(cases[i], "x86-64-v1", true);
  }
}

/* If the number of positions is known, it is divided evenly. If it is dynamic, most frequent sizes
 * are. */
static void template_dynamic_positions(void **state)
{
  (void)state;
  wick_target t;
  assert_true(wick_target_find("x86-64-v4", &t));
  assert_int_equal(wick_template_tile(&t, WICK_F32, 24, 22, 0, 0, 0).positions, 11);
  assert_int_equal(8 % wick_template_tile(&t, WICK_F32, 24, 22, 1, 512, 0).positions, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(template_convolutions), cmocka_unit_test(template_winograd_tiles),
      cmocka_unit_test(template_cut_tiles),    cmocka_unit_test(template_blocks),
      cmocka_unit_test(template_by_depth),     cmocka_unit_test(template_dynamic_positions),
      cmocka_unit_test(template_others),       cmocka_unit_test(template_windows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
