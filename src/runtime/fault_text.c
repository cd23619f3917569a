/* Writes the place, what was wrong there, and a line for each call. */
#include "runtime/fault_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "wick/wick.h"

typedef struct fault_text {
  char *out;
  size_t nbytes, n;
  const char *place; /* of the calls of the last line, which is not written yet */
  int64_t count;
} fault_text;

static void fault_text_add(fault_text *t, const char *fmt, ...) WICK_PRINTF(2, 3);
static void fault_text_add(fault_text *t, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(t->out + t->n, t->nbytes - t->n, fmt, args);
  va_end(args);
  if (n > 0) t->n = (size_t)n < t->nbytes - t->n ? t->n + (size_t)n : t->nbytes - 1;
}

/* ---- the calls ---- */

static void fault_text_line(fault_text *t)
{
  if (t->count) fault_text_add(t, "\n  called at %s", t->place);
  if (t->count > 1) fault_text_add(t, ", %lld times", (long long)t->count);
  t->count = 0;
}

static void fault_text_call(fault_text *t, const char *place, int64_t count)
{
  if (t->count && strcmp(t->place, place) == 0) {
    t->count += count;
    return;
  }
  fault_text_line(t);
  t->place = place, t->count = count;
}

static void fault_text_more(fault_text *t, int64_t count)
{
  fault_text_line(t);
  if (count) fault_text_add(t, "\n  ... %lld more calls", (long long)count);
}

/* Writes the calls of a place from which it was inlined, and the first one too if `all`. */
static int64_t fault_text_place(fault_text *t, wick_place place, bool all, int64_t count)
{
  int64_t n = 0;
  bool same = true;
  for (const char *at = place; *at; at += strlen(at) + 1, n++)
    same = same && strcmp(at, place) == 0;
  if (same && all) {
    fault_text_call(t, place, n * count);
    return n;
  }
  for (const char *at = place; *at; at += strlen(at) + 1)
    if (all || at != place) fault_text_call(t, at, 1);
  if (count > 1) fault_text_more(t, n * (count - 1));
  return n;
}

/* An operator of the runtime, which several places share, fails at the place of its call. */
static bool fault_text_is_shared(const wick_fault *f) { return !f->place && f->ncall > 0; }

static wick_place fault_text_of(const wick_fault *f)
{
  return fault_text_is_shared(f) ? f->call[0].place : f->place;
}

static void fault_text_calls(fault_text *t, const wick_fault *f)
{
  wick_place place = fault_text_of(f);
  if (place) fault_text_place(t, place, false, 1);
  for (int64_t i = fault_text_is_shared(f); i < f->ncall; i++) {
    const wick_fault_call *c = &f->call[wick_fault_entry(i)];
    fault_text_place(t, c->place, true, c->count);
    if (i + 1 != WICK_FAULT_FIRST || f->ncall <= WICK_FAULT_FIRST + WICK_FAULT_LAST) continue;
    fault_text_line(t);
    fault_text_add(t, "\n  ... more calls");
    i = f->ncall - WICK_FAULT_LAST - 1;
  }
  fault_text_line(t);
}

/* ---- the failure ---- */

static void fault_text_index(fault_text *t, const wick_fault *f)
{
  fault_text_add(t, "index %lld is out of bounds", (long long)f->detail);
  if (f->of) fault_text_add(t, ": the size is %lld", (long long)f->of);
}

static void fault_text_what(fault_text *t, const wick_fault *f, const char *said)
{
  if (f->text) {
    const char *text = said && *said ? said : f->text;
    fault_text_add(t, "the assertion does not hold%s%s", *text ? ": " : "", text);
    return;
  }
  if (said && *said) {
    fault_text_add(t, "%s", said);
    return;
  }
  switch (f->code) {
  case WICK_ELIMIT:
    if (f->detail)
      fault_text_add(t, "the objects need more memory than heap_bytes");
    else
      fault_text_add(t, "calls are nested too deep for the stack");
    break;
  case WICK_ENOMEM: fault_text_add(t, "there is no memory for the stack of its calls"); break;
  case WICK_ETYPE: fault_text_add(t, "the branch that is taken is not for these shapes"); break;
  case WICK_ERANGE: fault_text_index(t, f); break;
  default:
    if (f->of != 1) fault_text_add(t, "element %lld of the result: ", (long long)f->detail);
    fault_text_add(t, "division by zero");
  }
}

void wick_fault_text(const wick_fault *f, const char *location, const char *said, char *out,
                     size_t nbytes)
{
  fault_text t = {.out = out, .nbytes = nbytes};
  wick_place place = fault_text_of(f);
  fault_text_add(&t, "%s: ", place ? place : location);
  fault_text_what(&t, f, said);
  fault_text_calls(&t, f);
}
