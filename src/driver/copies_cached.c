/* A walk through the folder of the program's own file. */
#include "driver/copies_cached.h"

#include <string.h>

#include "driver/cache.h"

void wick_copies_cached(const wick_compiled *k, wick_files *files, wick_arena *mem, uint32_t *out_n,
                        const int64_t ***out)
{
  *out_n = 0, *out = NULL;
  wick_spans all = {0};
  wick_span key = wick_artifact_section(&k->artifact, "key");
  const wick_file *own = k->files.first;
  uint32_t n = k->program.sizes.nsymbol;
  if (!key.at || !own || !n) return;
  const char *slash = strrchr(own->path, '/');
  const char *folder = slash ? wick_str_dupn(mem, own->path, (size_t)(slash - own->path)) : ".";
  wick_cache_all_beside(folder, key, files, mem, &all);
  *out = wick_new(mem, const int64_t *, all.n + 1);
  for (uint32_t i = 0; i < all.n; i++) {
    wick_special x;
    wick_status bad = wick_special_read(all.at[i], "copy", &k->program, mem, &x);
    wick_image_unmap(&x.image);
    if (bad) continue;
    int64_t *dim = wick_dup(mem, int64_t, x.sizes, n);
    for (uint32_t s = 0; s < n; s++)
      dim[s] = dim[s] * k->program.sizes.symbol[s].factor + k->program.sizes.symbol[s].rest;
    (*out)[(*out_n)++] = dim;
  }
}
