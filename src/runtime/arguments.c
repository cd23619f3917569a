/* Refuses invalid arguments: required pointers that are NULL, sizes of structs that no version has,
 * lists without an array, names that are NULL or occur twice. */
#include "runtime/arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  ARGUMENTS_MESSAGE = 512,
  ARGUMENTS_MOST_STRUCT = 4096 /* bytes; a limit for structs of any later version */
};

wick_error *wick_invalid(const char *fmt, ...)
{
  char text[ARGUMENTS_MESSAGE];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  const struct wick_error e = {.code = WICK_EINVAL, .message = text};
  return wick_error_export(&e);
}

wick_error *wick_options_take(const char *name, void *out, size_t nout, const void *given)
{
  size_t n;
  memset(out, 0, nout);
  if (!given) return NULL;
  memcpy(&n, given, sizeof n);
  if (n < 2 * sizeof n || n % sizeof n || n > ARGUMENTS_MOST_STRUCT)
    return wick_invalid("the size of the %s is %zu: set its field `size` to sizeof(%s), which is "
                        "%zu in this version",
                        name, n, name, nout);
  for (size_t i = nout; i < n; i++)
    if (((const unsigned char *)given)[i])
      return wick_invalid(
          "the %s has %zu bytes, but this version knows only %zu, and some of the others are not 0",
          name, n, nout);
  memcpy(out, given, n < nout ? n : nout);
  return NULL;
}

static wick_status arguments_list(const char *list, uint32_t n, const void *at, wick_arena *mem)
{
  if (!n || at) return NULL;
  return wick_fail(mem, WICK_EINVAL, NULL, "%s: the count is %u, and the array is NULL", list, n);
}

static wick_status arguments_no_name(const char *list, uint32_t i, wick_arena *mem)
{
  return wick_fail(mem, WICK_EINVAL, NULL, "%s[%u]: its name is NULL", list, i);
}

static wick_status arguments_twice(const char *list, uint32_t i, const char *name, wick_arena *mem)
{
  return wick_fail(mem, WICK_EINVAL, NULL, "%s[%u]: \"%s\" is given twice", list, i, name);
}

wick_status wick_arguments_names(const char *list, uint32_t n, const char *const *names,
                                 wick_arena *mem)
{
  WICK_TRY(arguments_list(list, n, names, mem));
  for (uint32_t i = 0; i < n; i++)
    if (!names[i]) return arguments_no_name(list, i, mem);
  return NULL;
}

wick_status wick_arguments_shapes(uint32_t n, const wick_shape *shape, wick_arena *mem)
{
  WICK_TRY(arguments_list("shape", n, shape, mem));
  for (uint32_t i = 0; i < n; i++) {
    if (!shape[i].input) return arguments_no_name("shape", i, mem);
    if (shape[i].rank > WICK_MAX_DIMS)
      return wick_fail(mem, WICK_EINVAL, NULL,
                       "shape[%u]: \"%s\" has the rank %u, at most %d is possible", i,
                       shape[i].input, shape[i].rank, WICK_MAX_DIMS);
    if (shape[i].rank && !shape[i].dim)
      return wick_fail(mem, WICK_EINVAL, NULL, "shape[%u]: the dimensions of \"%s\" are NULL", i,
                       shape[i].input);
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(shape[k].input, shape[i].input) == 0)
        return arguments_twice("shape", i, shape[i].input, mem);
  }
  return NULL;
}

wick_status wick_arguments_sizes(const char *list, uint32_t n, const wick_size *sizes,
                                 wick_arena *mem)
{
  WICK_TRY(arguments_list(list, n, sizes, mem));
  for (uint32_t i = 0; i < n; i++)
    if (!sizes[i].name) return arguments_no_name(list, i, mem);
  return NULL;
}

wick_status wick_arguments_ranges(uint32_t n, const wick_size_range *ranges, wick_arena *mem)
{
  WICK_TRY(arguments_list("ranges", n, ranges, mem));
  for (uint32_t i = 0; i < n; i++) {
    if (!ranges[i].name) return arguments_no_name("ranges", i, mem);
    if (ranges[i].step < 0)
      return wick_fail(mem, WICK_EINVAL, NULL, "ranges[%u]: the step of %s is %lld", i,
                       ranges[i].name, (long long)ranges[i].step);
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(ranges[k].name, ranges[i].name) == 0)
        return arguments_twice("ranges", i, ranges[i].name, mem);
  }
  return NULL;
}

wick_status wick_arguments_contents(const char *list, bool once, uint32_t n,
                                    const wick_content *contents, wick_arena *mem)
{
  WICK_TRY(arguments_list(list, n, contents, mem));
  for (uint32_t i = 0; i < n; i++) {
    if (!contents[i].input) return arguments_no_name(list, i, mem);
    if (contents[i].nbytes && !contents[i].data)
      return wick_fail(mem, WICK_EINVAL, NULL, "%s[%u]: the data of \"%s\" is NULL", list, i,
                       contents[i].input);
    for (uint32_t k = 0; k < i && once; k++)
      if (strcmp(contents[k].input, contents[i].input) == 0)
        return arguments_twice(list, i, contents[i].input, mem);
  }
  return NULL;
}
