/* A walk through the folder of the program's own file. */
#include "driver/specialization/specializations_cached.h"

#include <string.h>

#include "driver/cache.h"

static const void *const *copies_held(const wick_program *p, const int64_t *held, wick_arena *mem)
{
  const void **out = wick_new(mem, const void *, p->nwatch + 1);
  for (uint32_t i = 0; i < p->nwatch; i++) {
    if (held[0]) out[i] = held + 1;
    held += 1 + wick_held_nbody(p, i);
  }
  return out;
}

void wick_copies_cached(const wick_compiled *k, wick_files *files, wick_arena *mem, uint32_t *out_n,
                        const wick_copy_cached **out)
{
  *out_n = 0, *out = NULL;
  wick_spans all = {0};
  wick_span key = wick_artifact_section(&k->artifact, "key");
  const wick_file *own = k->files.first;
  uint32_t n = k->program.sizes.nsymbol;
  if (!key.at || !own || !k->specials) return;
  const char *slash = strrchr(own->path, '/');
  const char *folder = slash ? wick_str_dupn(mem, own->path, (size_t)(slash - own->path)) : ".";
  wick_cache_all_beside(folder, key, files, mem, &all);
  wick_copy_cached *copy = wick_new(mem, wick_copy_cached, all.n + 1);
  *out = copy;
  for (uint32_t i = 0; i < all.n; i++) {
    wick_special x;
    wick_status bad = wick_special_read(all.at[i], "copy", &k->program, mem, &x);
    wick_image_unmap(&x.image);
    if (bad) continue;
    int64_t *dim = wick_dup(mem, int64_t, x.sizes, n);
    for (uint32_t s = 0; s < n; s++)
      dim[s] = dim[s] * k->program.sizes.symbol[s].factor + k->program.sizes.symbol[s].rest;
    copy[(*out_n)++] = (wick_copy_cached){dim, copies_held(&k->program, x.held, mem)};
  }
}
