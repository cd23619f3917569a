/* Recognizes these outputs by the names that the importer gives them (import/onnx/import.c). */
#include "driver/output_size.h"

#include <stdlib.h>
#include <string.h>

bool wick_output_size_names(const char *size, const char *output, uint32_t rank, uint32_t *out_axis)
{
  size_t n = strlen(output), digits;
  if (strncmp(size, output, n) != 0 || strncmp(size + n, ".size.", 6) != 0) return false;
  const char *axis = size + n + 6;
  digits = strspn(axis, "0123456789");
  if (!digits || digits > 2 || axis[digits]) return false;
  *out_axis = (uint32_t)strtoul(axis, NULL, 10);
  return *out_axis < rank;
}

bool wick_output_size_is(const wick_io *size, const wick_io *output, uint32_t *out_axis)
{
  return size->elem == WICK_I64 && !size->rank &&
         wick_output_size_names(size->name, output->name, output->rank, out_axis);
}

wick_output_sizes wick_output_sizes_of(const char *const *name, const uint32_t *rank, uint32_t n,
                                       wick_arena *mem)
{
  wick_output_sizes s = {.of = wick_new(mem, uint32_t, n),
                         .axis = wick_new(mem, uint32_t, n),
                         .size = wick_new(mem, uint32_t, n)};
  for (uint32_t i = 0; i < n; i++) {
    s.of[i] = n;
    if (!strstr(name[i], ".size.")) continue;
    uint32_t k = 0;
    while (k < n && !wick_output_size_names(name[i], name[k], rank[k], &s.axis[i])) k++;
    s.of[i] = k;
    if (k < n) s.size[s.nsize++] = i;
  }
  return s;
}
