/* Finds the operators that the runtime executes, and has the functions that they share. */
#include "runtime/host.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const wick_host_row *const host_families[] = {wick_host_string_rows, wick_host_number_rows,
                                                     wick_host_regex_rows,  wick_host_ngram_rows,
                                                     wick_host_hash_rows,   wick_host_image_rows};

const wick_host_row *wick_host_find(const char *name)
{
  for (size_t f = 0; f < WICK_COUNT(host_families); f++)
    for (const wick_host_row *r = host_families[f]; r->name; r++)
      if (strcmp(r->name, name) == 0) return r;
  return NULL;
}

wick_code wick_host_fail(wick_host_call *c, wick_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  if (c->message_nbytes) vsnprintf(c->message, c->message_nbytes, fmt, args);
  va_end(args);
  return code;
}

int64_t wick_host_numel(const wick_host_tensor *t)
{
  int64_t n = 1;
  for (uint32_t k = 0; k < t->rank; k++) n *= t->dim[k];
  return n;
}

int64_t wick_host_at(const wick_host_tensor *t, int64_t k)
{
  int64_t at = 0;
  for (uint32_t d = t->rank; d-- > 0;) {
    at += k % t->dim[d] * t->stride[d];
    k /= t->dim[d];
  }
  return at;
}

wick_string wick_host_text(const wick_host_call *c, const wick_host_tensor *t, int64_t k)
{
  return wick_string_table_get(c->strings, wick_host_get(t, k));
}

wick_code wick_host_put(wick_host_call *c, const wick_host_tensor *t, int64_t k, const char *at,
                        uint64_t nbytes)
{
  int64_t number = wick_string_table_add(c->strings, at, nbytes, true);
  if (number < 0) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  wick_host_set(t, k, number);
  return WICK_OK;
}
