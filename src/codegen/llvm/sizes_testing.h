/* For tests: kernels of groups with symbolic dimensions. A kernel runs with many sizes, and must
 * give the same bits as the same group and schedule with numbers for its symbols: all tasks at once
 * and task by task, in machine code and, if there are few, in the interpreter of loops. */
#ifndef WICK_CODEGEN_LLVM_SIZES_TESTING_H
#define WICK_CODEGEN_LLVM_SIZES_TESTING_H

#include <ctype.h>
#include <stdlib.h>

#include "codegen/llvm/testing.h"
#include "graph/decompose.h"
#include "graph/fuse_attention.h"
#include "graph/group/form_kernels.h"
#include "graph/layout/assign_layouts.h"
#include "ir/element.h"
#include "loop/contract.h"
#include "loop/expand_math.h"
#include "loop/interpret.h"
#include "loop/legalize.h"
#include "loop/licm.h"
#include "loop/merge_stores.h"
#include "loop/nest.h"
#include "loop/schedule.h"

enum { BLOCK = 1, ATTENTION = 2 };
enum { MOST_SYMBOLS = 4, MOST_SIZES = 24, MOST_BUFFERS = 12, INTERPRETED = 6000 };

typedef struct sizes_kernel {
  const char *name;
  const wick_func *loop; /* with its loops */
  wick_dim_list size;    /* its parameters */
  wick_dim tasks, scratch;
  wick_frame frame;
} sizes_kernel;

typedef struct sizes_case {
  const char *graph; /* whose symbolic dimensions are upper case */
  unsigned passes;   /* applied before groups are formed */
  const char *steps; /* of the first group; NULL: those of the templates */
  uint32_t nsymbol;
  int64_t size[MOST_SIZES][MOST_SYMBOLS]; /* of the symbols, in order; 0: the end */
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
  const wick_pass_context pass = {.target = &row, .mem = &t->mem, .tmp = &t->mem};
  wick_func *f;
  testing_ok(wick_pass_merge_stores(&pass, info.loop, &f));
  testing_ok(wick_pass_expand_math(&pass, f, &f));
  testing_ok(wick_pass_legalize(&pass, f, &f));
  testing_ok(wick_licm_loop(&pass, f, &f));
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

/* Returns the text of a group with numbers for its symbols, under another name. */
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

/* Runs all tasks, `step` of them in each call. */
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
  unsigned char *region = NULL;
  if (k->frame.scratch) { /* nothing after it is written */
    assert_true(wick_dim_eval(t->m->dims, k->scratch, n, sym, val, &size));
    slot[nslot++] = region =
        wick_arena_alloc(&t->mem, (uint64_t)size + WICK_FRAME_ALIGN, WICK_FRAME_ALIGN);
    memset(region += size, 0x5a, WICK_FRAME_ALIGN);
  }
  if (k->frame.fault) slot[nslot++] = &fault;
  assert_true(wick_dim_eval(t->m->dims, k->tasks, n, sym, val, &tasks));
  for (int64_t i = 0; i < tasks; i += step)
    wick_image_kernel(&t->image, k->name)(slot, i, i + step < tasks ? i + step : tasks);
  assert_int_equal(fault.code, 0);
  for (uint32_t i = 0; region && i < WICK_FRAME_ALIGN; i++) assert_int_equal(region[i], 0x5a);
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
  const wick_pass_context pass = {.target = &row, .mem = &t.mem, .tmp = &t.mem};
  if (c->passes & BLOCK) testing_ok(wick_pass_assign_layouts(&pass, f, &f));
  if (c->passes & ATTENTION) testing_ok(wick_pass_fuse_attention(&pass, f, &f));
  testing_ok(wick_pass_decompose(&pass, f, &f));
  wick_dim_list sym = wick_func_sizes(f, &t.mem);
  assert_int_equal(sym.n, c->nsymbol);
  testing_ok(wick_pass_form_kernels(&pass, f, &f));
  wick_list(const wick_func *) groups = {0};
  for (uint32_t i = 0; i < t.m->funcs.n; i++)
    if (t.m->funcs.at[i]->level == WICK_GROUP) wick_push(&t.mem, &groups, t.m->funcs.at[i]);
  assert_true(groups.n > 0);
  for (uint32_t i = 0; i < groups.n; i++)
    sizes_group(&t, groups.at[i], c, sym, i ? NULL : c->steps);
  testing_end(&t);
}

#endif
