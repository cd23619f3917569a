/* Values by name, their combinations, and the one who makes copies for a thread that asks. */
#include "driver/specialization/specializations.h"

#include <string.h>

#include "driver/cache.h"
#include "ir/type.h"
#include "runtime/guards.h"

enum { COPIES_MOST = 256, COPIES_AFTER = 32 };

/* ---- ahead ---- */

/* As the model calls it; where it has no name, as the symbol is called. */
static bool copies_is(const wick_compilation *c, const wick_program_symbol *x, const char *name)
{
  const wick_model *m = c->model;
  const char *own = x->input < m->ninput && x->axis < m->io[x->input].rank
                        ? m->io[x->input].dim_name[x->axis]
                        : "";
  return strcmp(name, x->name) == 0 || (own && strcmp(name, own) == 0);
}

static wick_status copies_value(wick_compilation *c, const wick_program_symbol *x,
                                const wick_size *pin, int64_t *out)
{
  int64_t over;
  bool good = !wick_sub_overflows(pin->value, x->rest, &over) && over % x->factor == 0;
  *out = good ? over / x->factor : 0;
  if (good && *out >= x->lo && *out <= x->hi) return NULL;
  return wick_fail(&c->mem, WICK_ERANGE, wick_path_base(c->model->path),
                   "the size %s is not %lld for any %s in %lld..%lld", pin->name,
                   (long long)pin->value, x->name, (long long)x->lo, (long long)x->hi);
}

static wick_status copies_known(wick_compilation *c, const wick_program_sizes *sizes)
{
  for (uint32_t k = 0; k < c->npin; k++) {
    bool known = false;
    for (uint32_t i = 0; i < sizes->nsymbol; i++)
      known = known || copies_is(c, &sizes->symbol[i], c->pins[k].name);
    if (!known)
      return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                       "there is no size %s that varies", c->pins[k].name);
  }
  return NULL;
}

/* All that there are, again with each of n values. */
typedef struct copies_more {
  wick_copies from, to;
} copies_more;

static wick_status copies_add(wick_compilation *c, copies_more *m, uint32_t nword, uint32_t at,
                              const int64_t *value, uint32_t nvalue, bool held)
{
  for (uint32_t j = 0; j < m->from.n; j++) {
    if (m->to.n == COPIES_MOST)
      return wick_fail(&c->mem, WICK_ELIMIT, NULL, "more than %d copies for some sizes",
                       COPIES_MOST);
    wick_copy copy = m->from.at[j];
    const int64_t **words = held ? &copy.held : &copy.sizes;
    int64_t *now = wick_dup(&c->mem, int64_t, *words, nword);
    memcpy(now + at, value, nvalue * sizeof *value);
    *words = now;
    m->to.at[m->to.n++] = copy;
  }
  return NULL;
}

static copies_more copies_from(wick_compilation *c, const wick_copies *all)
{
  copies_more m = {.from = *all};
  m.to.at = wick_new(&c->mem, wick_copy, COPIES_MOST);
  return m;
}

static wick_status copies_size(wick_compilation *c, const wick_program_sizes *sizes, uint32_t i,
                               wick_copies *all)
{
  const wick_program_symbol *x = &sizes->symbol[i];
  copies_more m = copies_from(c, all);
  for (uint32_t k = 0; k < c->npin; k++) {
    int64_t value;
    if (!copies_is(c, x, c->pins[k].name)) continue;
    WICK_TRY(copies_value(c, x, &c->pins[k], &value));
    for (uint32_t j = 0; j < k; j++)
      if (copies_is(c, x, c->pins[j].name) && c->pins[j].value == c->pins[k].value)
        return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                         "the size %s is given %lld twice", c->pins[k].name,
                         (long long)c->pins[k].value);
    WICK_TRY(copies_add(c, &m, sizes->nsymbol, i, &value, 1, false));
  }
  *all = m.to;
  if (m.to.n) return NULL;
  return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                   "the size %s varies, too: copies want a value for it", x->name);
}

/* ---- contents ---- */

static wick_status copies_fail(wick_compilation *c, wick_code code, const char *input,
                               const char *what)
{
  return wick_fail(&c->mem, code, wick_path_base(c->model->path), "input \"%s\": %s", input, what);
}

static wick_status copies_content(wick_compilation *c, const wick_program *p, const wick_content *x)
{
  uint32_t i = 0, w = 0;
  while (i < p->ninput && strcmp(p->io[i].name, x->input) != 0) i++;
  if (i == p->ninput)
    return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                     "there is no input \"%s\"", x->input);
  const wick_io *io = &p->io[i];
  if (io->elem != WICK_BOOL && !wick_elem_is_int(io->elem))
    return copies_fail(c, WICK_EINVAL, io->name,
                       "copies hold whole numbers and bools, it is of others");
  while (w < p->nwatch && p->watch[w] != i) w++;
  if (w == p->nwatch)
    return copies_fail(c, WICK_EINVAL, io->name,
                       "no branch follows from what it holds, copies gain nothing from it");
  if (x->nbytes != io->nbytes)
    return copies_fail(c, WICK_EINVAL, io->name,
                       wick_str_printf(&c->mem, "it has %llu bytes, %llu are given",
                                       (unsigned long long)io->nbytes,
                                       (unsigned long long)x->nbytes));
  const unsigned char *at = x->data;
  for (uint64_t k = 0; io->elem == WICK_BOOL && k < x->nbytes; k++)
    if (at[k] > 1) return copies_fail(c, WICK_ERANGE, io->name, "a bool is 0 or 1");
  for (const wick_content *y = c->held; y < x; y++)
    if (strcmp(y->input, x->input) == 0 && memcmp(y->data, x->data, x->nbytes) == 0)
      return copies_fail(c, WICK_EINVAL, io->name, "the same contents are given twice");
  return NULL;
}

/* Inputs of which nothing is said may hold anything. */
static wick_status copies_contents(wick_compilation *c, const wick_program *p, wick_copies *all)
{
  for (uint32_t k = 0; k < c->nheld; k++) WICK_TRY(copies_content(c, p, &c->held[k]));
  for (uint32_t w = 0, at = 0; w < p->nwatch; at += 1 + wick_held_nbody(p, w), w++) {
    const wick_io *io = &p->io[p->watch[w]];
    copies_more m = copies_from(c, all);
    for (uint32_t k = 0; k < c->nheld; k++) {
      int64_t words[1 + WICK_HELD_MOST / 8] = {1};
      if (strcmp(c->held[k].input, io->name) != 0) continue;
      memcpy(words + 1, c->held[k].data, (size_t)io->nbytes);
      WICK_TRY(copies_add(c, &m, wick_held_nword(p), at, words, 1 + wick_held_nbody(p, w), true));
    }
    if (m.to.n) *all = m.to;
  }
  return NULL;
}

wick_status wick_copies_of(wick_compilation *c, const wick_program *p, wick_copies *out)
{
  const wick_program_sizes *sizes = &p->sizes;
  *out = (wick_copies){0};
  WICK_TRY(copies_known(c, sizes));
  if (!c->npin && !c->nheld) return NULL;
  out->at = wick_new(&c->mem, wick_copy, 1);
  out->at[0].sizes = wick_new(&c->mem, int64_t, sizes->nsymbol + 1);
  out->at[0].held = wick_new(&c->mem, int64_t, wick_held_nword(p) + 1);
  out->n = 1;
  for (uint32_t i = 0; i < sizes->nsymbol; i++) WICK_TRY(copies_size(c, sizes, i, out));
  return copies_contents(c, p, out);
}

/* ---- while sessions run ---- */

/* Lives until nothing is made any more; what it points to lives as long as the compiled model. */
typedef struct copies_maker {
  wick_allocator allocator;
  wick_guard guard;
  wick_arena mem;
  wick_target target;
  wick_span source;
  const wick_program *program;
  wick_cache cache;        /* of the generic program */
  wick_specialise special; /* the copy that is being made, and its file in the cache */
  wick_draft *draft;
} copies_maker;

static const char *copies_what(const copies_maker *x, const int64_t *sizes, const int64_t *held,
                               wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  wick_text_add(&t, "copy");
  for (uint32_t i = 0; i < x->program->sizes.nsymbol; i++)
    wick_text_printf(&t, " %s=%lld", x->program->sizes.symbol[i].name, (long long)sizes[i]);
  for (uint32_t i = 0; i < wick_held_nword(x->program); i++)
    wick_text_printf(&t, "%s%llx", i ? " " : " held ", (unsigned long long)held[i]);
  return t.at;
}

static void copies_keep(copies_maker *x, const wick_cache *cache, const wick_artifact_parts *parts,
                        uint32_t nsection, wick_arena *mem)
{
  x->draft = wick_cache_begin(cache, wick_artifact_first(nsection), 0, mem);
  if (x->draft) (void)wick_cache_end(cache, x->draft, parts, mem);
}

static wick_status copies_make(void *arg, const int64_t *sizes, const int64_t *held,
                               bool (*stop)(void *), void *stop_arg, wick_guard *guard,
                               wick_arena *mem, wick_span *out, bool *out_cached)
{
  copies_maker *x = arg;
  wick_cache cache = wick_cache_beside(&x->cache, copies_what(x, sizes, held, mem), mem);
  *out_cached = wick_cache_read(&cache, mem, out);
  if (*out_cached) return NULL;
  wick_section key = {.name = "key"};
  if (cache.folder) key.bytes = (wick_span){(const unsigned char *)cache.key, strlen(cache.key)};
  x->special = (wick_specialise){.source = x->source,
                                 .target = &x->target,
                                 .program = x->program,
                                 .sizes = sizes,
                                 .held = held,
                                 .nmore = cache.folder ? 1 : 0,
                                 .more = &key,
                                 .control = {.parallel = 1, .cancel = stop, .arg = stop_arg}};
  wick_artifact_parts parts;
  WICK_TRY(wick_specialise_make(&x->special, guard, mem, &parts));
  *out = wick_artifact_join(&parts, mem);
  copies_keep(x, &cache, &parts, WICK_SPECIALISE_SECTIONS + x->special.nmore, mem);
  return NULL;
}

static void copies_end(void *arg)
{
  copies_maker *x = arg;
  wick_specialise_end(&x->special);
  wick_draft_drop(x->draft);
  x->draft = NULL;
}

static void copies_drop(void *arg)
{
  copies_maker *x = arg;
  wick_allocator a = x->allocator;
  wick_arena_free(&x->mem);
  a.free(a.self, x, sizeof *x);
}

void wick_copies_begin(const wick_compilation *c, const wick_compile_options *o, wick_compiled *k)
{
  wick_span source = wick_artifact_section(&k->artifact, "generic");
  if (!o->copies || !k->specials || !source.at) return;
  wick_allocator a = k->context->allocator;
  copies_maker *x = a.alloc(a.self, sizeof *x);
  if (!x) return;
  *x = (copies_maker){.allocator = a,
                      .guard = {.allocator = a},
                      .target = c->target,
                      .source = source,
                      .program = &k->program};
  x->mem = wick_arena_make(&x->guard);
  if (setjmp(x->guard.where)) {
    copies_drop(x);
    return;
  }
  if (c->cache)
    x->cache =
        (wick_cache){.folder = wick_str_dupn(&x->mem, c->cache->folder, strlen(c->cache->folder)),
                     .key = wick_str_dupn(&x->mem, c->cache->key, strlen(c->cache->key)),
                     .most_bytes = c->cache->most_bytes};
  wick_maker maker = {.arg = x,
                      .make = copies_make,
                      .end = copies_end,
                      .drop = copies_drop,
                      .most = o->copies,
                      .after = o->copy_after ? o->copy_after : COPIES_AFTER};
  (void)wick_specials_start(k->specials, &maker);
}
