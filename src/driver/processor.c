/* Finds processors by name, in files and in the cache's folder. */
#include "driver/processor.h"

#include <string.h>

#include "base/file.h"
#include "driver/cache_entries.h"

enum { PROCESSOR_MOST = 64 << 10 /* bytes of a file */ };

static wick_status processor_file(wick_target *t, const char *path, wick_arena *mem)
{
  char *text;
  size_t nbytes;
  WICK_TRY(wick_file_read(mem, path, PROCESSOR_MOST, &text, &nbytes));
  return wick_processor_read(path, text, nbytes, mem, &t->processor);
}

static wick_status processor_host(wick_target *t, const char *folder, wick_arena *mem)
{
  folder = wick_cache_folder(folder, mem);
  const char *path = folder ? wick_processor_path(folder, mem) : NULL;
  if (path && wick_file_exists(path)) return processor_file(t, path, mem);
  const wick_processor typical = *wick_target_processor(t);
  t->processor = *wick_processor_host(&typical, &t->processor);
  return NULL;
}

static wick_status processor_unknown(const wick_target *t, const char *tune, wick_arena *mem)
{
  wick_text names = wick_text_begin(mem);
  const wick_processor *p;
  for (uint32_t i = 0; (p = wick_processor_row(i)); i++)
    if (p->machine == t->machine) wick_text_printf(&names, "%s%s", names.n ? ", " : "", p->name);
  return wick_fail(mem, WICK_EINVAL, NULL,
                   "there is no processor \"%s\", and no file of that name; known: %s, host", tune,
                   names.at);
}

wick_status wick_target_tune(wick_target *t, const char *tune, bool is_host, const char *folder,
                             wick_arena *mem)
{
  if (!tune && !is_host) return NULL;
  const wick_processor *row = tune ? wick_processor_find(tune) : NULL;
  bool host = !tune || strcmp(tune, "host") == 0;
  if (host && t->machine != wick_cpu_detect().machine)
    return wick_fail(mem, WICK_EINVAL, NULL, "the host is no %s processor",
                     wick_machine_name(t->machine));
  if (host) {
    WICK_TRY(processor_host(t, folder, mem));
  } else if (row) {
    t->processor = *row;
  } else if (wick_file_exists(tune)) {
    WICK_TRY(processor_file(t, tune, mem));
  } else {
    return processor_unknown(t, tune, mem);
  }
  if (t->processor.machine == t->machine) return NULL;
  return wick_fail(mem, WICK_EINVAL, NULL, "the processor \"%s\" is %s, the target \"%s\" is %s",
                   t->processor.name, wick_machine_name(t->processor.machine), t->row,
                   wick_machine_name(t->machine));
}

const char *wick_processor_path(const char *folder, wick_arena *mem)
{
  wick_cpu_model model = wick_cpu_identify();
  return wick_path_join(mem, folder,
                        wick_str_printf(mem, "processor-%s-%u-%u",
                                        *model.maker ? model.maker : "unknown", model.family,
                                        model.model));
}
