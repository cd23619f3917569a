/* Errors as values; the public ones are copies on the C heap. */
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

static struct wick_error status_nomem = {.code = WICK_ENOMEM, .message = "out of memory"};

wick_status wick_vfail(wick_arena *mem, wick_code code, const char *location, const char *fmt,
                       va_list args)
{
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  size_t head = location && *location ? strlen(location) + 2 : 0;
  char *text = wick_new(mem, char, head + (size_t)(n < 0 ? 0 : n) + 1);
  if (head) snprintf(text, head + 1, "%s: ", location);
  if (n > 0) vsnprintf(text + head, (size_t)n + 1, fmt, again);
  va_end(again);
  struct wick_error *e = wick_new(mem, struct wick_error, 1);
  *e = (struct wick_error){.code = code, .message = wick_str_shown_lines(mem, text)};
  return e;
}

wick_status wick_fail(wick_arena *mem, wick_code code, const char *location, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  wick_status s = wick_vfail(mem, code, location, fmt, args);
  va_end(args);
  return s;
}

wick_status wick_fail_size(wick_arena *mem, wick_code code, const char *location, const char *size,
                           const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  wick_status s = wick_vfail(mem, code, location, fmt, args);
  va_end(args);
  struct wick_error *e = wick_new(mem, struct wick_error, 1);
  *e = (struct wick_error){.code = s->code, .message = s->message, .size = size};
  return e;
}

wick_errors wick_errors_begin(wick_arena *mem, uint32_t most)
{
  return (wick_errors){.mem = mem, .most = most};
}

void wick_errors_add(wick_errors *e, wick_status s)
{
  if (!s) return;
  if (e->list.n < e->most)
    wick_push(e->mem, &e->list, s);
  else
    e->more++;
}

wick_status wick_errors_end(wick_errors *e)
{
  if (e->list.n == 0) return NULL;
  if (e->list.n == 1 && !e->more) return e->list.at[0];
  size_t nbytes = 64;
  for (uint32_t i = 0; i < e->list.n; i++) nbytes += strlen(e->list.at[i]->message) + 1;
  char *text = wick_new(e->mem, char, nbytes), *at = text;
  for (uint32_t i = 0; i < e->list.n; i++)
    at += snprintf(at, nbytes - (size_t)(at - text), "%s%s", i ? "\n" : "", e->list.at[i]->message);
  if (e->more) snprintf(at, nbytes - (size_t)(at - text), "\n(and %u more)", e->more);
  struct wick_error *all = wick_new(e->mem, struct wick_error, 1);
  *all = (struct wick_error){.code = e->list.at[0]->code, .message = text};
  return all;
}

wick_error *wick_error_nomem(void) { return &status_nomem; }

wick_error *wick_error_export(wick_status s)
{
  if (!s) return NULL;
  size_t n = strlen(s->message) + 1, nsize = s->size ? strlen(s->size) + 1 : 0;
  struct wick_error *e = malloc(sizeof *e + n + nsize);
  if (!e) return &status_nomem;
  char *text = (char *)(e + 1), *size = nsize ? text + n : NULL;
  memcpy(text, s->message, n);
  if (size) memcpy(size, s->size, nsize);
  *e = (struct wick_error){.code = s->code, .message = text, .size = size, .owned = true};
  return e;
}

wick_code wick_error_code(const wick_error *e) { return e ? e->code : WICK_OK; }
const char *wick_error_message(const wick_error *e) { return e ? e->message : ""; }
const char *wick_error_size(const wick_error *e) { return e ? e->size : NULL; }
void wick_error_free(wick_error *e)
{
  if (e && e->owned) free(e);
}
