/* Searches the cache's folder for specializations of the program. */
#include "driver/specialization/cached_specializations.h"

#include <string.h>

#include "driver/cache.h"

static const void *const *specializations_held(const wick_program *p, const int64_t *guards,
                                               wick_arena *mem)
{
  const void **out = wick_new(mem, const void *, p->nguard_input + 1);
  for (uint32_t i = 0; i < p->nguard_input; i++) {
    if (guards[0]) out[i] = guards + 1;
    guards += 1 + wick_guards_nbody(p, i);
  }
  return out;
}

void wick_cached_specializations(const wick_compiled *k, wick_files *files, wick_arena *mem,
                                 uint32_t *out_n, const wick_cached_specialization **out)
{
  *out_n = 0, *out = NULL;
  wick_spans all = {0};
  wick_span key = wick_artifact_section(&k->artifact, "key");
  const wick_file *own = k->files.first;
  uint32_t n = k->program.sizes.nsymbol;
  if (!key.at || !own || !k->specializations) return;
  const char *slash = strrchr(own->path, '/');
  const char *folder = slash ? wick_str_dupn(mem, own->path, (size_t)(slash - own->path)) : ".";
  wick_cache_all_beside(folder, key, files, mem, &all);
  wick_cached_specialization *found = wick_new(mem, wick_cached_specialization, all.n + 1);
  *out = found;
  for (uint32_t i = 0; i < all.n; i++) {
    wick_specialization x;
    wick_status bad = wick_specialization_read(all.at[i], "specialization", &k->program, mem, &x);
    wick_image_unmap(&x.image);
    if (bad) continue;
    int64_t *dim = wick_dup(mem, int64_t, x.sizes, n);
    for (uint32_t s = 0; s < n; s++)
      dim[s] = dim[s] * k->program.sizes.symbol[s].factor + k->program.sizes.symbol[s].rest;
    found[(*out_n)++] =
        (wick_cached_specialization){dim, specializations_held(&k->program, x.guards, mem)};
  }
}
