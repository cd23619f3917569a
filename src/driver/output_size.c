/* The name says it: the importer makes it (import/onnx/import.c). */
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
