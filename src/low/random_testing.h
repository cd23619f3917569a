/* For tests: random low functions, with their groups. Groups read at the element that they
 * write, at another element, or through a fold over a row, which is computed before or for each
 * row. Buffers are written again, viewed, sliced and concatenated; branches and loops carry
 * them. */
#ifndef WICK_LOW_RANDOM_TESTING_H
#define WICK_LOW_RANDOM_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/build.h"

enum { LAST = 4, MOST = 200 }; /* elements of the last dimension; most tensors */

typedef struct random_tensor {
  wick_value v;
  int64_t channels;
  bool flat;     /* [outer, channels * LAST], else [outer, channels, LAST] */
  uint32_t root; /* the buffer that contains it; 0: one of several */
  bool fixed;    /* it must not be written again */
} random_tensor;

typedef struct random_gen {
  uint64_t state;
  wick_module *m;
  wick_builder *b;
  int64_t outer;
  random_tensor tensor[MOST];
  uint32_t ntensor;
  uint32_t depth;
} random_gen;

static uint32_t random_below(random_gen *r, uint32_t n)
{
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((r->state >> 33) % n);
}

static uint32_t random_dims(const random_gen *r, random_tensor t, wick_dim *dim)
{
  dim[0] = wick_dim_const(r->outer);
  dim[1] = wick_dim_const(t.flat ? t.channels * LAST : t.channels);
  dim[2] = wick_dim_const(LAST);
  return t.flat ? 2 : 3;
}

static wick_type random_type(random_gen *r, random_tensor t, wick_space space)
{
  wick_dim dim[3];
  uint32_t rank = random_dims(r, t, dim);
  return wick_type_buffer(r->m, WICK_I32, rank, dim, space);
}

static wick_type random_tensor_type(random_gen *r, random_tensor t)
{
  wick_dim dim[3];
  uint32_t rank = random_dims(r, t, dim);
  return wick_type_tensor(r->m, WICK_I32, rank, dim);
}

/* The kinds of groups: they read at the same element, at another one, or through a fold over a
 * row, which is computed before the loops (at the root) or in each row (inside the output's
 * loop). */
typedef enum random_kind { SAME, OTHER, FOLD_ROOT, FOLD_AT, NKIND } random_kind;
static const char *const random_kind_name[NKIND] = {"same", "other", "root", "at"};

static wick_value random_fold(wick_builder *b, wick_value x, uint32_t rank, const wick_dim *dim)
{
  wick_axis axis[3];
  wick_dim index[3];
  for (uint32_t k = 0; k < rank; k++) {
    axis[k] = wick_make_axis(b, (const char *[]){"a", "b", "c"}[k], dim[k], k == rank - 1);
    index[k] = axis[k].sym;
  }
  wick_fold_begin(b, "row", rank, axis, wick_type_tensor(b->module, WICK_I32, rank - 1, dim),
                  WICK_OP_max);
  return wick_fold_end(b, wick_read(b, x, index, 0, NULL, (wick_value){0}));
}

/* A group of nin operands and nout results, all of the type of t except the operands of OTHER. */
static const char *random_group(random_gen *r, random_kind k, random_tensor t,
                                const random_tensor *in, uint32_t nin, uint32_t nout,
                                wick_arena *mem)
{
  wick_builder b;
  wick_dim dim[3], index[3];
  uint32_t rank = random_dims(r, t, dim);
  const char *name = wick_str_printf(mem, "%s.%u.%u", random_kind_name[k], r->m->funcs.n, nout);
  wick_build_begin(&b, r->m, WICK_GROUP, name, mem);
  for (uint32_t i = 0; i < nin; i++)
    wick_build_param(&b, random_tensor_type(r, in[i]), WICK_IN, NULL);
  wick_value fold = {0}, out[4], read = {0};
  if (k >= FOLD_ROOT) fold = random_fold(&b, (wick_value){1}, rank, dim);
  wick_axis axis[3];
  wick_type type[4];
  for (uint32_t d = 0; d < rank; d++) {
    axis[d] = wick_make_axis(&b, (const char *[]){"i", "j", "k"}[d], dim[d], false);
    index[d] = axis[d].sym;
  }
  for (uint32_t o = 0; o < nout; o++) type[o] = random_tensor_type(r, t);
  wick_map_begin(&b, "out", rank, axis, nout, type);
  if (fold.id) read = wick_read(&b, fold, index, 0, NULL, (wick_value){0});
  for (uint32_t i = 0; i < nin; i++) {
    wick_dim at[3] = {wick_dim_const(0), wick_dim_const(0), wick_dim_const(0)};
    if (k != OTHER) memcpy(at, index, sizeof at);
    wick_value v = wick_read(&b, (wick_value){i + 1}, at, 0, NULL, (wick_value){0});
    read = read.id ? wick_build2(&b, WICK_OP_add, read, v) : v;
  }
  for (uint32_t o = 0; o < nout; o++) out[o] = read;
  wick_value first = wick_map_end(&b, nout, out);
  for (uint32_t o = 0; o < nout; o++) out[o] = (wick_value){first.id + o};
  wick_build_return(&b, nout, out);
  wick_func *g;
  wick_status s = wick_build_end(&b, &g);
  if (s) fail_msg("%s", s->message);
  if (k == FOLD_AT) g->schedule = wick_intern(r->m, rank == 2 ? "at row out.i" : "at row out.j");
  wick_module_set(r->m, g);
  return g->name;
}

static wick_value random_alloc(random_gen *r, random_tensor *t)
{
  wick_type type = random_type(r, *t, WICK_ARENA);
  t->v = wick_build(r->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
  t->root = t->v.id, t->fixed = false;
  return t->v;
}

static random_tensor random_pick(random_gen *r) { return r->tensor[random_below(r, r->ntensor)]; }

static void random_add(random_gen *r, random_tensor t)
{
  if (r->ntensor < MOST) r->tensor[r->ntensor++] = t;
}

/* A view of the channels of `whole` from `at` on. */
static wick_value random_part(random_gen *r, random_tensor whole, random_tensor part, int64_t at)
{
  wick_type_info info = *wick_built_info(r->b, whole.v);
  wick_dim dim[3], stride[3] = {wick_dim_const(whole.channels * LAST),
                                wick_dim_const(whole.flat ? 1 : LAST), wick_dim_const(1)};
  if (info.stride) return (wick_value){0};
  info.rank = (uint16_t)random_dims(r, part, dim);
  info.dim = dim, info.stride = r->outer > 1 || random_below(r, 2) ? stride : NULL;
  wick_type type = wick_type_intern(r->m, &info);
  return wick_build_view(r->b, whole.v, type, at * LAST, NULL);
}

static void random_copy(random_gen *r, wick_value to, wick_value from)
{
  wick_value in[2] = {to, from};
  wick_build(r->b, WICK_OP_copy, 2, in, NULL, 0, NULL);
}

static void random_kernel(random_gen *r, wick_arena *mem)
{
  random_tensor t = random_pick(r), in[4], out = t, over = random_pick(r);
  random_kind k = (random_kind)random_below(r, NKIND);
  uint32_t nin = 1, nout = 1 + (random_below(r, 6) == 0);
  in[0] = t;
  for (uint32_t want = random_below(r, 3); want > 0; want--) {
    random_tensor u = random_pick(r);
    if (k == OTHER || (u.channels == t.channels && u.flat == t.flat)) in[nin++] = u;
  }
  if (k == OTHER) out.channels = 1 + random_below(r, 4);
  wick_attr a = {.s = random_group(r, k, out, in, nin, nout, mem)};
  wick_value operand[8];
  for (uint32_t o = 0; o < nout; o++) {
    bool again = true; /* overwrites a buffer, unless it is an operand */
    for (uint32_t i = 0; i < nin; i++) again = again && in[i].root && in[i].root != over.root;
    if (o == 0 && again && !over.fixed && over.flat == out.flat && over.channels == out.channels) {
      operand[o] = over.v;
      continue;
    }
    operand[o] = random_alloc(r, &out);
    random_add(r, out);
  }
  for (uint32_t i = 0; i < nin; i++) operand[nout + i] = in[i].v;
  wick_build(r->b, WICK_OP_kernel, nout + nin, operand, &a, 0, NULL);
}

static void random_concat(random_gen *r)
{
  random_tensor in[3], whole = {.flat = random_below(r, 2)};
  uint32_t n = 2 + random_below(r, 2), k = 0;
  for (uint32_t i = 0; i < 8 && k < n; i++) {
    in[k] = random_pick(r);
    if (in[k].flat == whole.flat) whole.channels += in[k++].channels;
  }
  if (!k || whole.channels > 40) return;
  random_alloc(r, &whole);
  int64_t at = 0;
  for (uint32_t i = 0; i < k; at += in[i++].channels)
    random_copy(r, random_part(r, whole, in[i], at), in[i].v);
  random_add(r, whole);
}

static void random_slice(random_gen *r)
{
  random_tensor whole = random_pick(r), part = whole;
  part.channels = 1 + random_below(r, (uint32_t)whole.channels);
  int64_t at = random_below(r, (uint32_t)(whole.channels - part.channels + 1));
  wick_value v = random_part(r, whole, part, at);
  if (!v.id) return;
  if (random_below(r, 3)) { /* copies it; otherwise the view itself is used */
    random_alloc(r, &part);
    random_copy(r, part.v, v);
  } else {
    part.v = v;
  }
  random_add(r, part);
}

static void random_reshape(random_gen *r)
{
  random_tensor t = random_pick(r);
  if (wick_built_info(r->b, t.v)->stride) return;
  t.flat = !t.flat;
  wick_type type = random_type(r, t, wick_built_info(r->b, t.v)->space);
  t.v = wick_build(r->b, WICK_OP_view, 1, &t.v, NULL, 1, &type);
  random_add(r, t);
}

static void random_whole_copy(random_gen *r)
{
  random_tensor t = random_pick(r), to = random_pick(r);
  bool again = !to.fixed && to.flat == t.flat && to.channels == t.channels && t.root &&
               t.root != to.root && random_below(r, 2);
  if (!again) to.channels = t.channels, to.flat = t.flat, random_alloc(r, &to);
  random_copy(r, to.v, t.v);
  if (!again) random_add(r, to);
}

static void random_steps(random_gen *r, uint32_t n, bool control, wick_arena *mem);

/* Both regions write one destination. Values that they define are not used afterwards. */
static void random_if(random_gen *r, wick_arena *mem)
{
  random_tensor to = random_pick(r);
  random_alloc(r, &to);
  wick_value condition = {1};
  wick_build_open(r->b, WICK_OP_if, 1, &condition, NULL, 0, NULL);
  for (int arm = 0; arm < 2; arm++) {
    uint32_t before = r->ntensor;
    wick_region_begin(r->b, 0, NULL);
    random_steps(r, 1 + random_below(r, 4), true, mem);
    for (uint32_t i = r->ntensor; i-- > 0;)
      if (r->tensor[i].channels == to.channels && r->tensor[i].flat == to.flat) {
        random_copy(r, to.v, r->tensor[i].v);
        break;
      }
    wick_yield(r->b, 0, NULL);
    r->ntensor = before;
  }
  wick_build_close(r->b);
  random_add(r, to);
}

/* Carries a buffer from outside, and one that each iteration defines. Another one is written
 * outside and read inside. */
static void random_loop(random_gen *r, wick_arena *mem)
{
  random_tensor t = random_pick(r);
  if (wick_built_info(r->b, t.v)->stride || wick_built_info(r->b, t.v)->space != WICK_ARENA) return;
  wick_type count = wick_type_tensor(r->m, WICK_I64, 0, NULL),
            go = wick_type_tensor(r->m, WICK_BOOL, 0, NULL), carried = wick_built_type(r->b, t.v);
  wick_value in[2] = {wick_build_const(r->b, count, 0, 1 + random_below(r, 3)), t.v};
  wick_build_open(r->b, WICK_OP_loop, 2, in, NULL, 0, NULL);
  uint32_t before = r->ntensor;
  random_tensor inner = t, next = t;
  inner.root = 0, inner.fixed = true;
  inner.v = (wick_value){wick_region_begin(r->b, 2, (wick_type[]){count, carried}).id + 1};
  random_add(r, inner);
  random_steps(r, 1 + random_below(r, 4), true, mem);
  random_alloc(r, &next);
  random_copy(r, next.v, inner.v);
  for (uint32_t i = r->ntensor; i-- > before + 1;)
    if (r->tensor[i].channels == t.channels && r->tensor[i].flat == t.flat && random_below(r, 2)) {
      random_copy(r, next.v, r->tensor[i].v);
      break;
    }
  wick_value yields[2] = {wick_build_const(r->b, go, 0, 1), next.v};
  wick_yield(r->b, 2, yields);
  r->ntensor = before;
  t.v = wick_build_close(r->b);
  t.root = 0, t.fixed = true;
  random_add(r, t);
}

static void random_steps(random_gen *r, uint32_t n, bool control, wick_arena *mem)
{
  r->depth++;
  for (uint32_t i = 0; i < n && r->ntensor < MOST - 8; i++) {
    uint32_t what = random_below(r, control && r->depth < 4 ? 24 : 20);
    if (what < 10)
      random_kernel(r, mem);
    else if (what < 13)
      random_concat(r);
    else if (what < 16)
      random_slice(r);
    else if (what < 18)
      random_reshape(r);
    else if (what < 20)
      random_whole_copy(r);
    else if (what < 22)
      random_if(r, mem);
    else
      random_loop(r, mem);
  }
  r->depth--;
}

static wick_func *random_func(uint64_t seed, wick_module *m, wick_arena *mem)
{
  wick_builder b;
  random_gen *r = wick_new(mem, random_gen, 1);
  *r = (random_gen){.state = seed * 977 + 1, .m = m, .b = &b};
  r->outer = 1 + random_below(r, 2);
  wick_build_begin(&b, m, WICK_LOW, "main", mem);
  wick_build_param(&b, wick_type_scalar(m, WICK_BOOL, 1), WICK_IN, "c");
  uint32_t nin = 1 + random_below(r, 3), nout = 1 + random_below(r, 3), early;
  for (uint32_t i = 0; i < nin; i++) {
    random_tensor t = {.channels = 1 + random_below(r, 4), .fixed = true, .root = i + 2};
    t.v = wick_build_param(&b, random_type(r, t, WICK_IO), WICK_IN, NULL);
    random_add(r, t);
  }
  random_tensor out[3];
  for (uint32_t i = 0; i < nout; i++) {
    out[i] = (random_tensor){.channels = 1 + random_below(r, 4), .flat = random_below(r, 2)};
    out[i].v = wick_build_param(&b, random_type(r, out[i], WICK_IO), WICK_OUT, NULL);
    out[i].root = out[i].v.id;
  }
  early = random_below(r, 3) == 0 ? nout : 0; /* outputs that are written early and also read */
  for (uint32_t i = 0; i < early; i++) {
    random_tensor in = random_pick(r);
    wick_attr a = {.s = random_group(r, OTHER, out[i], &in, 1, 1, mem)};
    wick_build(&b, WICK_OP_kernel, 2, (wick_value[]){out[i].v, in.v}, &a, 0, NULL);
    random_add(r, out[i]);
  }
  random_steps(r, 1 + random_below(r, 25), seed % 3 == 0, mem);
  for (uint32_t i = 0; i < nout; i++) {
    uint32_t from = r->ntensor;
    while (from-- > 0)
      if (r->tensor[from].channels == out[i].channels && r->tensor[from].flat == out[i].flat &&
          r->tensor[from].root != out[i].root)
        break;
    if (from != UINT32_MAX) {
      random_copy(r, out[i].v, r->tensor[from].v);
      continue;
    }
    if (early) continue;
    random_tensor in = random_pick(r);
    wick_attr a = {.s = random_group(r, OTHER, out[i], &in, 1, 1, mem)};
    wick_build(&b, WICK_OP_kernel, 2, (wick_value[]){out[i].v, in.v}, &a, 0, NULL);
  }
  wick_build_return(&b, 0, NULL);
  wick_func *f;
  wick_status s = wick_build_end(&b, &f);
  if (s) fail_msg("%s", s->message);
  return f;
}

#endif
