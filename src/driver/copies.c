/* Values by name, their combinations, and the one who makes copies for a thread that asks. */
#include "driver/copies.h"

#include <string.h>

#include "driver/cache.h"

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

wick_status wick_copies_of(wick_compilation *c, const wick_program_sizes *sizes, wick_copies *out)
{
  *out = (wick_copies){0};
  WICK_TRY(copies_known(c, sizes));
  if (!c->npin || !sizes->nsymbol) return NULL;
  out->at = wick_new(&c->mem, const int64_t *, COPIES_MOST);
  out->at[0] = wick_new(&c->mem, int64_t, sizes->nsymbol);
  out->n = 1;
  for (uint32_t i = 0; i < sizes->nsymbol; i++) {
    const wick_program_symbol *x = &sizes->symbol[i];
    uint32_t before = out->n, n = 0;
    const int64_t **from = wick_dup(&c->mem, const int64_t *, out->at, before);
    for (uint32_t k = 0; k < c->npin; k++) {
      int64_t value;
      if (!copies_is(c, x, c->pins[k].name)) continue;
      WICK_TRY(copies_value(c, x, &c->pins[k], &value));
      for (uint32_t j = 0; j < before; j++) {
        if (n == COPIES_MOST)
          return wick_fail(&c->mem, WICK_ELIMIT, NULL, "more than %d copies for some sizes",
                           COPIES_MOST);
        int64_t *at = wick_dup(&c->mem, int64_t, from[j], sizes->nsymbol);
        at[i] = value;
        out->at[n++] = at;
      }
    }
    if (!n)
      return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                       "the size %s varies, too: copies want a value for it", x->name);
    out->n = n;
  }
  return NULL;
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

static const char *copies_what(const copies_maker *x, const int64_t *sizes, wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  wick_text_add(&t, "copy");
  for (uint32_t i = 0; i < x->program->sizes.nsymbol; i++)
    wick_text_printf(&t, " %s=%lld", x->program->sizes.symbol[i].name, (long long)sizes[i]);
  return t.at;
}

static void copies_keep(copies_maker *x, const wick_cache *cache, const wick_artifact_parts *parts,
                        uint32_t nsection, wick_arena *mem)
{
  x->draft = wick_cache_begin(cache, wick_artifact_first(nsection), 0, mem);
  if (x->draft) (void)wick_cache_end(cache, x->draft, parts, mem);
}

static wick_status copies_make(void *arg, const int64_t *sizes, bool (*stop)(void *),
                               void *stop_arg, wick_guard *guard, wick_arena *mem, wick_span *out,
                               bool *out_cached)
{
  copies_maker *x = arg;
  wick_cache cache = wick_cache_beside(&x->cache, copies_what(x, sizes, mem), mem);
  *out_cached = wick_cache_read(&cache, mem, out);
  if (*out_cached) return NULL;
  wick_section key = {.name = "key"};
  if (cache.folder) key.bytes = (wick_span){(const unsigned char *)cache.key, strlen(cache.key)};
  x->special = (wick_specialise){.source = x->source,
                                 .target = &x->target,
                                 .program = x->program,
                                 .sizes = sizes,
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
