/* Reads, adds up and writes profiles of sizes, branches and loops. */
#include "profile.h"
#include "interrupt.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shown.h"
#include "ir/element.h"
#include "wick/wick.h"

enum { MET_MOST = 16 << 20 /* most bytes of a file */, MET_WATCHED = 64 };

static const char *const profile_states[] = {"none",  "requested", "being compiled",
                                             "ready", "failed",    "slower"};

static const wick_io *profile_input(const wick_compiled *k, const char *name)
{
  for (uint32_t i = 0; i < wick_compiled_ninput(k); i++)
    if (strcmp(wick_compiled_input(k, i)->name, name) == 0) return wick_compiled_input(k, i);
  return NULL;
}

json_t *wick_profile_contents(const wick_compiled *k, const void *const *content, wick_arena *mem)
{
  json_t *all = NULL;
  for (uint32_t w = 0; w < wick_compiled_nguard_input(k); w++) {
    const wick_io *io = profile_input(k, wick_compiled_guard_input(k, w));
    if (!content[w] || !io) continue;
    json_t *numbers = json_array();
    for (uint64_t n = 0; n < io->nbytes * 8 / wick_elem_storage[io->elem].bits; n++)
      json_array_append_new(numbers, json_integer(wick_load_int(io->elem, content[w], n)));
    if (!all) all = json_object();
    json_object_set_new(all, wick_str_utf8(mem, io->name), numbers);
  }
  return all;
}

static json_t *profile_contents(const wick_compiled *k, uint32_t i, bool guarded, wick_arena *mem)
{
  const void *content[MET_WATCHED] = {NULL};
  wick_profile_content c;
  for (uint32_t w = 0; w < MET_WATCHED && wick_compiled_profile_content(k, i, w, &c); w++)
    if (c.guarded == guarded) content[w] = c.data;
  return wick_profile_contents(k, content, mem);
}

static json_t *profile_entry(const wick_compiled *k, uint32_t at, const wick_profile_entry *m,
                             uint32_t n, wick_arena *mem)
{
  json_t *values = json_array();
  for (uint32_t i = 0; i < n; i++)
    json_array_append_new(values, json_integer((json_int_t)m->sizes[i]));
  const char *state = m->ahead ? "ahead" : m->cached ? "cached" : profile_states[m->specialization];
  return json_pack(
      "{s:o, s:I, s:s, s:s, s:I, s:I, s:o*, s:o*}", "values", values, "runs", (json_int_t)m->nrun,
      "specialization", state, "why", wick_str_utf8(mem, m->why), "base_ns",
      (json_int_t)m->base_nanoseconds, "specialized_ns", (json_int_t)m->specialized_nanoseconds,
      "guards", profile_contents(k, at, true, mem), "always", profile_contents(k, at, false, mem));
}

static json_t *profile_flow(const wick_flow *f, wick_arena *mem)
{
  const char *location = wick_str_utf8(mem, f->location);
  if (f->kind == WICK_FLOW_IF)
    return json_pack("{s:s, s:s, s:I, s:I}", "location", location, "kind", "if", "then",
                     (json_int_t)f->ntaken[1], "else", (json_int_t)f->ntaken[0]);
  return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "location", location, "kind", "loop", "times",
                   (json_int_t)f->nloop, "steps", (json_int_t)f->nstep, "least",
                   (json_int_t)f->least, "most", (json_int_t)f->most);
}

json_t *wick_profile_json(const wick_compiled *k, wick_arena *mem)
{
  json_t *names = json_array(), *profile = json_array(), *flow = json_array();
  uint32_t n = wick_compiled_nsize(k);
  wick_profile_entry m;
  for (uint32_t i = 0; i < n; i++)
    json_array_append_new(names, json_string(wick_str_utf8(mem, wick_compiled_size(k, i).name)));
  for (uint32_t i = 0; wick_compiled_profile(k, i, &m); i++)
    json_array_append_new(profile, profile_entry(k, i, &m, n, mem));
  for (uint32_t i = 0; i < wick_compiled_nflow(k); i++) {
    wick_flow f = wick_compiled_flow(k, i);
    json_array_append_new(flow, profile_flow(&f, mem));
  }
  return json_pack("{s:o, s:o, s:o}", "sizes", names, "entries", profile, "flow", flow);
}

static json_int_t profile_number(const json_t *entry, const char *name)
{
  return json_integer_value(json_object_get(entry, name));
}

static void profile_sum(json_t *into, const json_t *from, const char *name)
{
  if (json_object_get(from, name))
    json_object_set_new(into, name,
                        json_integer(profile_number(into, name) + profile_number(from, name)));
}

/* Keeps the shorter one of two shortest runs. */
static void profile_least(json_t *into, const json_t *from, const char *name)
{
  json_int_t a = profile_number(into, name), b = profile_number(from, name);
  if (b && (!a || b < a)) json_object_set_new(into, name, json_integer(b));
}

static bool profile_same(const json_t *a, const json_t *b, const char *name)
{
  const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);
  return x == y || json_equal(x, y);
}

/* Keeps contents that were always the same, in both. An entry without runs does not count. */
static void profile_always(json_t *into, const json_t *from)
{
  if (!profile_number(from, "runs") || profile_same(into, from, "always")) return;
  json_t *now = json_object_get(from, "always");
  if (!profile_number(into, "runs") && now)
    json_object_set(into, "always", now);
  else
    json_object_del(into, "always");
}

static void profile_add_entry(json_t *profile, const json_t *entry)
{
  json_t *into;
  size_t i;
  json_array_foreach(profile, i, into)
  {
    if (!profile_same(into, entry, "values") || !profile_same(into, entry, "guards")) continue;
    profile_always(into, entry);
    profile_sum(into, entry, "runs");
    profile_least(into, entry, "base_ns");
    profile_least(into, entry, "specialized_ns");
    const char *state = json_string_value(json_object_get(entry, "specialization"));
    if (state && strcmp(state, "none") == 0) return; /* the earlier state stays */
    json_object_set(into, "specialization", json_object_get(entry, "specialization"));
    json_object_set(into, "why", json_object_get(entry, "why"));
    return;
  }
  json_array_append_new(profile, json_deep_copy(entry));
}

/* Branches and loops are the same if their location and kind are. */
static void profile_add_flow(json_t *flow, const json_t *entry)
{
  static const char *const sum[] = {"then", "else", "times", "steps"};
  json_t *into;
  size_t i;
  json_array_foreach(flow, i, into)
  {
    if (!profile_same(into, entry, "location") || !profile_same(into, entry, "kind")) continue;
    if (profile_number(entry, "times")) {
      bool first = !profile_number(into, "times");
      json_int_t least = profile_number(entry, "least"), most = profile_number(entry, "most");
      if (first || least < profile_number(into, "least"))
        json_object_set_new(into, "least", json_integer(least));
      if (first || most > profile_number(into, "most"))
        json_object_set_new(into, "most", json_integer(most));
    }
    for (size_t k = 0; k < WICK_COUNT(sum); k++) profile_sum(into, entry, sum[k]);
    return;
  }
  json_array_append_new(flow, json_deep_copy(entry));
}

wick_status wick_profile_add(json_t *all, const json_t *more, const char *path, wick_arena *mem)
{
  if (!json_equal(json_object_get(all, "sizes"), json_object_get(more, "sizes")))
    return wick_fail(mem, WICK_EINVAL, path, "it is a record of other sizes");
  const json_t *entry;
  size_t i;
  json_array_foreach(json_object_get(more, "entries"), i, entry)
      profile_add_entry(json_object_get(all, "entries"), entry);
  if (!json_object_get(all, "flow")) json_object_set_new(all, "flow", json_array());
  json_array_foreach(json_object_get(more, "flow"), i, entry)
      profile_add_flow(json_object_get(all, "flow"), entry);
  return NULL;
}

/* Returns whether x is a count. The sum of two counts fits in 64 bits. */
static bool profile_is_count(const json_t *x)
{
  return json_is_integer(x) && json_integer_value(x) >= 0 && json_integer_value(x) <= INT64_MAX / 2;
}

static bool profile_has_counts(const json_t *entry, const char *const *name, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const json_t *x = json_object_get(entry, name[i]);
    if (x && !profile_is_count(x)) return false;
  }
  return true;
}

static bool profile_is_numbers(const json_t *numbers)
{
  size_t i;
  const json_t *x;
  json_array_foreach(numbers, i, x) if (!json_is_integer(x)) return false;
  return json_is_array(numbers);
}

/* Checks "guards" or "always": numbers by the name of the input. */
static bool profile_is_contents(const json_t *contents)
{
  const char *name;
  json_t *numbers;
  json_object_foreach((json_t *)(uintptr_t)contents, name, numbers)
  {
    if (!profile_is_numbers(numbers)) return false;
  }
  return !contents || json_is_object(contents);
}

static bool profile_is_entry(const json_t *entry, size_t nsize)
{
  static const char *const count[] = {"runs", "base_ns", "specialized_ns"};
  const json_t *values = json_object_get(entry, "values");
  return profile_is_numbers(values) && json_array_size(values) == nsize &&
         profile_has_counts(entry, count, WICK_COUNT(count)) &&
         json_is_string(json_object_get(entry, "specialization")) &&
         profile_is_contents(json_object_get(entry, "guards")) &&
         profile_is_contents(json_object_get(entry, "always"));
}

static bool profile_is_flow(const json_t *entry)
{
  static const char *const count[] = {"then", "else", "times", "steps", "least", "most"};
  return json_is_string(json_object_get(entry, "location")) &&
         json_is_string(json_object_get(entry, "kind")) &&
         profile_has_counts(entry, count, WICK_COUNT(count));
}

static bool profile_is_record(const json_t *profile)
{
  const json_t *sizes = json_object_get(profile, "sizes"),
               *all = json_object_get(profile, "entries"),
               *flow = json_object_get(profile, "flow"); /* files without "flow" are valid */
  const json_t *entry;
  size_t i;
  json_array_foreach(all, i,
                     entry) if (!profile_is_entry(entry, json_array_size(sizes))) return false;
  json_array_foreach(flow, i, entry) if (!profile_is_flow(entry)) return false;
  return json_is_array(sizes) && json_is_array(all) && (!flow || json_is_array(flow));
}

wick_status wick_profile_read(const char *path, wick_arena *mem, json_t **out)
{
  char *text;
  size_t n;
  json_error_t at;
  *out = NULL;
  if (access(path, F_OK) != 0) return NULL;
  WICK_TRY(wick_file_read(mem, path, MET_MOST, &text, &n));
  json_t *profile = json_loadb(text, n, JSON_REJECT_DUPLICATES, &at);
  if (!profile)
    return wick_fail(mem, WICK_EPARSE, path, "it is no record of sizes: line %d: %s", at.line,
                     at.text);
  if (!profile_is_record(profile)) {
    json_decref(profile);
    return wick_fail(mem, WICK_EPARSE, path, "it is no record of sizes");
  }
  *out = profile;
  return NULL;
}

wick_status wick_profile_write(const char *path, const json_t *profile, wick_arena *mem)
{
  char *text = json_dumps(profile, JSON_INDENT(1));
  if (!text) return wick_fail(mem, WICK_ENOMEM, NULL, "out of memory");
  wick_bytes part = {text, strlen(text)};
  wick_interrupt_begin();
  wick_status bad = wick_file_write(mem, path, &part, 1);
  wick_interrupt_end();
  free(text);
  return bad;
}
