/* Combines the values that the options give, and implements the specializer for the runtime. */
#include "driver/specialization/specializations.h"

#include <string.h>

#include "driver/cache.h"
#include "ir/type.h"
#include "runtime/guards.h"

enum { COPIES_MOST = 256, COPIES_AFTER = 32 };

/* ---- ahead of time ---- */

/* Returns whether a symbol has this name: the name in the model, or, if there is none, the symbol's
 * own. */
static bool specializations_is(const wick_compilation *c, const wick_program_symbol *x,
                               const char *name)
{
  const wick_model *m = c->model;
  const char *own = x->input < m->ninput && x->axis < m->io[x->input].rank
                        ? m->io[x->input].dim_name[x->axis]
                        : "";
  return strcmp(name, x->name) == 0 || (own && strcmp(name, own) == 0);
}

static wick_status specializations_value(wick_compilation *c, const wick_program_symbol *x,
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

static wick_status specializations_known(wick_compilation *c, const wick_program_sizes *sizes)
{
  for (uint32_t k = 0; k < c->nspecialize_dim; k++) {
    bool known = false;
    for (uint32_t i = 0; i < sizes->nsymbol; i++)
      known = known || specializations_is(c, &sizes->symbol[i], c->specialize_dims[k].name);
    if (!known)
      return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                       "there is no size %s that varies", c->specialize_dims[k].name);
  }
  return NULL;
}

/* Multiplies the combinations by n values. */
typedef struct specializations_more {
  wick_specialization_keys from, to;
} specializations_more;

static wick_status specializations_add(wick_compilation *c, specializations_more *m, uint32_t nword,
                                       uint32_t at, const int64_t *value, uint32_t nvalue,
                                       bool guards)
{
  for (uint32_t j = 0; j < m->from.n; j++) {
    if (m->to.n == COPIES_MOST)
      return wick_fail(&c->mem, WICK_ELIMIT, NULL, "more than %d specializations", COPIES_MOST);
    wick_specialization_key key = m->from.at[j];
    const int64_t **words = guards ? &key.guards : &key.sizes;
    int64_t *now = wick_dup(&c->mem, int64_t, *words, nword);
    memcpy(now + at, value, nvalue * sizeof *value);
    *words = now;
    m->to.at[m->to.n++] = key;
  }
  return NULL;
}

static specializations_more specializations_from(wick_compilation *c,
                                                 const wick_specialization_keys *all)
{
  specializations_more m = {.from = *all};
  m.to.at = wick_new(&c->mem, wick_specialization_key, COPIES_MOST);
  return m;
}

static wick_status specializations_size(wick_compilation *c, const wick_program_sizes *sizes,
                                        uint32_t i, wick_specialization_keys *all)
{
  const wick_program_symbol *x = &sizes->symbol[i];
  specializations_more m = specializations_from(c, all);
  for (uint32_t k = 0; k < c->nspecialize_dim; k++) {
    int64_t value;
    if (!specializations_is(c, x, c->specialize_dims[k].name)) continue;
    WICK_TRY(specializations_value(c, x, &c->specialize_dims[k], &value));
    for (uint32_t j = 0; j < k; j++)
      if (specializations_is(c, x, c->specialize_dims[j].name) &&
          c->specialize_dims[j].value == c->specialize_dims[k].value)
        return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                         "the size %s is given %lld twice", c->specialize_dims[k].name,
                         (long long)c->specialize_dims[k].value);
    WICK_TRY(specializations_add(c, &m, sizes->nsymbol, i, &value, 1, false));
  }
  *all = m.to;
  if (m.to.n) return NULL;
  return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                   "the size %s is dynamic, too: a specialization needs a value for it", x->name);
}

/* ---- contents ---- */

static wick_status specializations_fail(wick_compilation *c, wick_code code, const char *input,
                                        const char *what)
{
  return wick_fail(&c->mem, code, wick_path_base(c->model->path), "input \"%s\": %s", input, what);
}

static wick_status specializations_content(wick_compilation *c, const wick_program *p,
                                           const wick_content *x)
{
  uint32_t i = 0, w = 0;
  while (i < wick_program_ninput(p) && strcmp(p->io[i].name, x->input) != 0) i++;
  if (i == wick_program_ninput(p))
    return wick_fail(&c->mem, WICK_EINVAL, wick_path_base(c->model->path),
                     "there is no input \"%s\"", x->input);
  const wick_io *io = &p->io[i];
  if (io->elem != WICK_BOOL && !wick_elem_is_int(io->elem))
    return specializations_fail(c, WICK_EINVAL, io->name,
                                "specializations guard only inputs of whole numbers and bools");
  while (w < p->nguard_input && p->guard_input[w] != i) w++;
  if (w == p->nguard_input)
    return specializations_fail(
        c, WICK_EINVAL, io->name,
        "no branch depends on its contents: a specialization for them would gain nothing");
  if (x->nbytes != io->nbytes)
    return specializations_fail(c, WICK_EINVAL, io->name,
                                wick_str_printf(&c->mem, "it has %llu bytes, %llu are given",
                                                (unsigned long long)io->nbytes,
                                                (unsigned long long)x->nbytes));
  const unsigned char *at = x->data;
  for (uint64_t k = 0; io->elem == WICK_BOOL && k < x->nbytes; k++)
    if (at[k] > 1) return specializations_fail(c, WICK_ERANGE, io->name, "a bool is 0 or 1");
  for (const wick_content *y = c->specialize_inputs; y < x; y++)
    if (strcmp(y->input, x->input) == 0 && memcmp(y->data, x->data, x->nbytes) == 0)
      return specializations_fail(c, WICK_EINVAL, io->name, "the same contents are given twice");
  return NULL;
}

/* Inputs without given contents are not guarded. */
static wick_status specializations_contents(wick_compilation *c, const wick_program *p,
                                            wick_specialization_keys *all)
{
  for (uint32_t k = 0; k < c->nspecialize_input; k++)
    WICK_TRY(specializations_content(c, p, &c->specialize_inputs[k]));
  for (uint32_t w = 0, at = 0; w < p->nguard_input; at += 1 + wick_guards_nbody(p, w), w++) {
    const wick_io *io = &p->io[p->guard_input[w]];
    specializations_more m = specializations_from(c, all);
    for (uint32_t k = 0; k < c->nspecialize_input; k++) {
      int64_t words[1 + WICK_GUARD_BYTES_MAX / 8] = {1};
      if (strcmp(c->specialize_inputs[k].input, io->name) != 0) continue;
      memcpy(words + 1, c->specialize_inputs[k].data, (size_t)io->nbytes);
      WICK_TRY(specializations_add(c, &m, wick_guards_nword(p), at, words,
                                   1 + wick_guards_nbody(p, w), true));
    }
    if (m.to.n) *all = m.to;
  }
  return NULL;
}

wick_status wick_specialization_keys_of(wick_compilation *c, const wick_program *p,
                                        wick_specialization_keys *out)
{
  const wick_program_sizes *sizes = &p->sizes;
  *out = (wick_specialization_keys){0};
  WICK_TRY(specializations_known(c, sizes));
  if (!c->nspecialize_dim && !c->nspecialize_input) return NULL;
  out->at = wick_new(&c->mem, wick_specialization_key, 1);
  out->at[0].sizes = wick_new(&c->mem, int64_t, sizes->nsymbol + 1);
  out->at[0].guards = wick_new(&c->mem, int64_t, wick_guards_nword(p) + 1);
  out->n = 1;
  for (uint32_t i = 0; i < sizes->nsymbol; i++) WICK_TRY(specializations_size(c, sizes, i, out));
  return specializations_contents(c, p, out);
}

/* ---- while sessions run ---- */

/* Lives until nothing more is compiled. What it points to lives as long as the compiled model. */
typedef struct specializations_specializer {
  wick_allocator allocator;
  wick_guard guard;
  wick_arena mem;
  wick_target target;
  wick_span source;
  const wick_program *program;
  wick_cache cache;            /* the cache's entry of the base program */
  wick_specialize specialized; /* the specialization that is being compiled */
  wick_draft *draft;
} specializations_specializer;

static const char *specializations_what(const specializations_specializer *x, const int64_t *sizes,
                                        const int64_t *guards, wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  wick_text_add(&t, "specialization");
  for (uint32_t i = 0; i < x->program->sizes.nsymbol; i++)
    wick_text_printf(&t, " %s=%lld", x->program->sizes.symbol[i].name, (long long)sizes[i]);
  for (uint32_t i = 0; i < wick_guards_nword(x->program); i++)
    wick_text_printf(&t, "%s%llx", i ? " " : " guards ", (unsigned long long)guards[i]);
  return t.at;
}

static void specializations_keep(specializations_specializer *x, const wick_cache *cache,
                                 const wick_artifact_parts *parts, uint32_t nsection,
                                 wick_arena *mem)
{
  x->draft = wick_cache_begin(cache, wick_artifact_first(nsection), 0, mem);
  if (x->draft) (void)wick_cache_end(cache, x->draft, parts, mem);
}

static wick_status specializations_make(void *arg, const int64_t *sizes, const int64_t *guards,
                                        bool (*stop)(void *), void *stop_arg, wick_guard *guard,
                                        wick_arena *mem, wick_span *out, bool *out_cached)
{
  specializations_specializer *x = arg;
  wick_cache cache = wick_cache_beside(&x->cache, specializations_what(x, sizes, guards, mem), mem);
  *out_cached = wick_cache_read(&cache, mem, out);
  if (*out_cached) return NULL;
  wick_section key = {.name = "key"};
  if (cache.folder) key.bytes = (wick_span){(const unsigned char *)cache.key, strlen(cache.key)};
  x->specialized = (wick_specialize){.source = x->source,
                                     .target = &x->target,
                                     .program = x->program,
                                     .sizes = sizes,
                                     .guards = guards,
                                     .nmore = cache.folder ? 1 : 0,
                                     .more = &key,
                                     .control = {.parallel = 1, .cancel = stop, .arg = stop_arg}};
  wick_artifact_parts parts;
  WICK_TRY(wick_specialize_make(&x->specialized, guard, mem, &parts));
  *out = wick_artifact_join(&parts, mem);
  specializations_keep(x, &cache, &parts, WICK_SPECIALIZE_SECTIONS + x->specialized.nmore, mem);
  return NULL;
}

static void specializations_end(void *arg)
{
  specializations_specializer *x = arg;
  wick_specialize_end(&x->specialized);
  wick_draft_drop(x->draft);
  x->draft = NULL;
}

static void specializations_drop(void *arg)
{
  specializations_specializer *x = arg;
  wick_allocator a = x->allocator;
  wick_arena_free(&x->mem);
  a.free(a.self, x, sizeof *x);
}

void wick_auto_specialize_begin(const wick_compilation *c, const wick_compile_options *o,
                                wick_compiled *k)
{
  wick_span source = wick_artifact_section(&k->artifact, "source");
  if (!o->auto_specialize || !k->specializations || !source.at) return;
  wick_allocator a = k->context->allocator;
  specializations_specializer *x = a.alloc(a.self, sizeof *x);
  if (!x) return;
  *x = (specializations_specializer){.allocator = a,
                                     .guard = {.allocator = a},
                                     .target = c->target,
                                     .source = source,
                                     .program = &k->program};
  x->mem = wick_arena_make(&x->guard);
  if (setjmp(x->guard.where)) {
    specializations_drop(x);
    return;
  }
  if (c->cache)
    x->cache =
        (wick_cache){.folder = wick_str_dupn(&x->mem, c->cache->folder, strlen(c->cache->folder)),
                     .key = wick_str_dupn(&x->mem, c->cache->key, strlen(c->cache->key)),
                     .most_bytes = c->cache->most_bytes};
  wick_specializer specializer = {.arg = x,
                                  .make = specializations_make,
                                  .end = specializations_end,
                                  .drop = specializations_drop,
                                  .most = o->auto_specialize,
                                  .after = o->auto_specialize_after ? o->auto_specialize_after
                                                                    : COPIES_AFTER};
  (void)wick_specializations_start(k->specializations, &specializer);
}
