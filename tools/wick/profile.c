/* Reading, adding up and writing records of sizes, branches and loops. */
#include "profile.h"
#include "interrupt.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shown.h"
#include "ir/element.h"
#include "wick/wick.h"

enum { MET_MOST = 16 << 20 /* bytes of a file */, MET_WATCHED = 64 };

static const char *const met_states[] = {"none",  "wanted", "being made",
                                         "ready", "failed", "slower"};

static const wick_io *met_input(const wick_compiled *k, const char *name)
{
  for (uint32_t i = 0; i < wick_compiled_ninput(k); i++)
    if (strcmp(wick_compiled_input(k, i)->name, name) == 0) return wick_compiled_input(k, i);
  return NULL;
}

json_t *wick_met_contents(const wick_compiled *k, const void *const *content, wick_arena *mem)
{
  json_t *all = NULL;
  for (uint32_t w = 0; w < wick_compiled_nwatch(k); w++) {
    const wick_io *io = met_input(k, wick_compiled_watch(k, w));
    if (!content[w] || !io) continue;
    json_t *numbers = json_array();
    for (uint64_t n = 0; n < io->nbytes * 8 / wick_elem_storage[io->elem].bits; n++)
      json_array_append_new(numbers, json_integer(wick_load_int(io->elem, content[w], n)));
    if (!all) all = json_object();
    json_object_set_new(all, wick_str_utf8(mem, io->name), numbers);
  }
  return all;
}

static json_t *met_contents(const wick_compiled *k, uint32_t i, bool held, wick_arena *mem)
{
  const void *content[MET_WATCHED] = {NULL};
  wick_met_content c;
  for (uint32_t w = 0; w < MET_WATCHED && wick_compiled_met_content(k, i, w, &c); w++)
    if (c.held == held) content[w] = c.data;
  return wick_met_contents(k, content, mem);
}

static json_t *met_entry(const wick_compiled *k, uint32_t at, const wick_met_size *m, uint32_t n,
                         wick_arena *mem)
{
  json_t *values = json_array();
  for (uint32_t i = 0; i < n; i++)
    json_array_append_new(values, json_integer((json_int_t)m->sizes[i]));
  const char *copy = m->ahead ? "ahead" : m->cached ? "cached" : met_states[m->copy];
  return json_pack("{s:o, s:I, s:s, s:s, s:I, s:I, s:o*, s:o*}", "values", values, "runs",
                   (json_int_t)m->nrun, "copy", copy, "why", wick_str_utf8(mem, m->why),
                   "generic_ns", (json_int_t)m->generic_nanoseconds, "copy_ns",
                   (json_int_t)m->copy_nanoseconds, "held", met_contents(k, at, true, mem),
                   "always", met_contents(k, at, false, mem));
}

static json_t *met_flow(const wick_flow *f, wick_arena *mem)
{
  const char *place = wick_str_utf8(mem, f->place);
  if (f->kind == WICK_FLOW_IF)
    return json_pack("{s:s, s:s, s:I, s:I}", "place", place, "kind", "if", "then",
                     (json_int_t)f->ntaken[1], "else", (json_int_t)f->ntaken[0]);
  return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "place", place, "kind", "loop", "times",
                   (json_int_t)f->nloop, "steps", (json_int_t)f->nstep, "least",
                   (json_int_t)f->least, "most", (json_int_t)f->most);
}

json_t *wick_met_json(const wick_compiled *k, wick_arena *mem)
{
  json_t *names = json_array(), *met = json_array(), *flow = json_array();
  uint32_t n = wick_compiled_nsize(k);
  wick_met_size m;
  for (uint32_t i = 0; i < n; i++)
    json_array_append_new(names, json_string(wick_str_utf8(mem, wick_compiled_size(k, i).name)));
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++)
    json_array_append_new(met, met_entry(k, i, &m, n, mem));
  for (uint32_t i = 0; i < wick_compiled_nflow(k); i++) {
    wick_flow f = wick_compiled_flow(k, i);
    json_array_append_new(flow, met_flow(&f, mem));
  }
  return json_pack("{s:o, s:o, s:o}", "sizes", names, "met", met, "flow", flow);
}

static json_int_t met_number(const json_t *entry, const char *name)
{
  return json_integer_value(json_object_get(entry, name));
}

static void met_sum(json_t *into, const json_t *from, const char *name)
{
  if (json_object_get(from, name))
    json_object_set_new(into, name, json_integer(met_number(into, name) + met_number(from, name)));
}

/* Of two shortest runs the shorter one. */
static void met_least(json_t *into, const json_t *from, const char *name)
{
  json_int_t a = met_number(into, name), b = met_number(from, name);
  if (b && (!a || b < a)) json_object_set_new(into, name, json_integer(b));
}

static bool met_same(const json_t *a, const json_t *b, const char *name)
{
  const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);
  return x == y || json_equal(x, y);
}

/* What always was so before and now; of one that has not run there is nothing to say. */
static void met_always(json_t *into, const json_t *from)
{
  if (!met_number(from, "runs") || met_same(into, from, "always")) return;
  json_t *now = json_object_get(from, "always");
  if (!met_number(into, "runs") && now)
    json_object_set(into, "always", now);
  else
    json_object_del(into, "always");
}

static void met_add_entry(json_t *met, const json_t *entry)
{
  json_t *into;
  size_t i;
  json_array_foreach(met, i, into)
  {
    if (!met_same(into, entry, "values") || !met_same(into, entry, "held")) continue;
    met_always(into, entry);
    met_sum(into, entry, "runs");
    met_least(into, entry, "generic_ns");
    met_least(into, entry, "copy_ns");
    const char *copy = json_string_value(json_object_get(entry, "copy"));
    if (copy && strcmp(copy, "none") == 0) return; /* what was said before holds */
    json_object_set(into, "copy", json_object_get(entry, "copy"));
    json_object_set(into, "why", json_object_get(entry, "why"));
    return;
  }
  json_array_append_new(met, json_deep_copy(entry));
}

/* A place is the same where name and kind are. */
static void met_add_flow(json_t *flow, const json_t *entry)
{
  static const char *const sum[] = {"then", "else", "times", "steps"};
  json_t *into;
  size_t i;
  json_array_foreach(flow, i, into)
  {
    if (!met_same(into, entry, "place") || !met_same(into, entry, "kind")) continue;
    if (met_number(entry, "times")) {
      bool first = !met_number(into, "times");
      json_int_t least = met_number(entry, "least"), most = met_number(entry, "most");
      if (first || least < met_number(into, "least"))
        json_object_set_new(into, "least", json_integer(least));
      if (first || most > met_number(into, "most"))
        json_object_set_new(into, "most", json_integer(most));
    }
    for (size_t k = 0; k < WICK_COUNT(sum); k++) met_sum(into, entry, sum[k]);
    return;
  }
  json_array_append_new(flow, json_deep_copy(entry));
}

wick_status wick_met_add(json_t *all, const json_t *more, const char *path, wick_arena *mem)
{
  if (!json_equal(json_object_get(all, "sizes"), json_object_get(more, "sizes")))
    return wick_fail(mem, WICK_EINVAL, path, "it is a record of other sizes");
  const json_t *entry;
  size_t i;
  json_array_foreach(json_object_get(more, "met"), i, entry)
      met_add_entry(json_object_get(all, "met"), entry);
  if (!json_object_get(all, "flow")) json_object_set_new(all, "flow", json_array());
  json_array_foreach(json_object_get(more, "flow"), i, entry)
      met_add_flow(json_object_get(all, "flow"), entry);
  return NULL;
}

/* The sum of two of them is one of 64 bits. */
static bool met_is_count(const json_t *x)
{
  return json_is_integer(x) && json_integer_value(x) >= 0 && json_integer_value(x) <= INT64_MAX / 2;
}

static bool met_has_counts(const json_t *entry, const char *const *name, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const json_t *x = json_object_get(entry, name[i]);
    if (x && !met_is_count(x)) return false;
  }
  return true;
}

static bool met_is_numbers(const json_t *numbers)
{
  size_t i;
  const json_t *x;
  json_array_foreach(numbers, i, x) if (!json_is_integer(x)) return false;
  return json_is_array(numbers);
}

/* "held", "always": numbers by the name of the input. */
static bool met_is_contents(const json_t *contents)
{
  const char *name;
  json_t *numbers;
  json_object_foreach((json_t *)(uintptr_t)contents, name, numbers)
  {
    if (!met_is_numbers(numbers)) return false;
  }
  return !contents || json_is_object(contents);
}

static bool met_is_entry(const json_t *entry, size_t nsize)
{
  static const char *const count[] = {"runs", "generic_ns", "copy_ns"};
  const json_t *values = json_object_get(entry, "values");
  return met_is_numbers(values) && json_array_size(values) == nsize &&
         met_has_counts(entry, count, WICK_COUNT(count)) &&
         json_is_string(json_object_get(entry, "copy")) &&
         met_is_contents(json_object_get(entry, "held")) &&
         met_is_contents(json_object_get(entry, "always"));
}

static bool met_is_flow(const json_t *entry)
{
  static const char *const count[] = {"then", "else", "times", "steps", "least", "most"};
  return json_is_string(json_object_get(entry, "place")) &&
         json_is_string(json_object_get(entry, "kind")) &&
         met_has_counts(entry, count, WICK_COUNT(count));
}

static bool met_is_record(const json_t *met)
{
  const json_t *sizes = json_object_get(met, "sizes"), *all = json_object_get(met, "met"),
               *flow = json_object_get(met, "flow"); /* since there is one */
  const json_t *entry;
  size_t i;
  json_array_foreach(all, i, entry) if (!met_is_entry(entry, json_array_size(sizes))) return false;
  json_array_foreach(flow, i, entry) if (!met_is_flow(entry)) return false;
  return json_is_array(sizes) && json_is_array(all) && (!flow || json_is_array(flow));
}

wick_status wick_met_read(const char *path, wick_arena *mem, json_t **out)
{
  char *text;
  size_t n;
  json_error_t at;
  *out = NULL;
  if (access(path, F_OK) != 0) return NULL;
  WICK_TRY(wick_file_read(mem, path, MET_MOST, &text, &n));
  json_t *met = json_loadb(text, n, JSON_REJECT_DUPLICATES, &at);
  if (!met)
    return wick_fail(mem, WICK_EPARSE, path, "it is no record of sizes: line %d: %s", at.line,
                     at.text);
  if (!met_is_record(met)) {
    json_decref(met);
    return wick_fail(mem, WICK_EPARSE, path, "it is no record of sizes");
  }
  *out = met;
  return NULL;
}

wick_status wick_met_write(const char *path, const json_t *met, wick_arena *mem)
{
  char *text = json_dumps(met, JSON_INDENT(1));
  if (!text) return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory");
  wick_bytes part = {text, strlen(text)};
  wick_interrupt_begin();
  wick_status bad = wick_file_write(mem, path, &part, 1);
  wick_interrupt_end();
  free(text);
  return bad;
}
