/* Converts a JSON object to one tensor or to two. */
#include "map.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ir/element.h"

/* A number that becomes infinite as an element is too large: JSON's numbers are finite. */
static bool map_is(const json_t *value, wick_elem elem)
{
  double stored;
  if (elem == WICK_STRING) return json_is_string(value);
  if (!wick_elem_is_float(elem)) return json_is_integer(value);
  wick_store_elem(elem, &stored, 0, (wick_scalar){.f = json_number_value(value)});
  return json_is_number(value) && isfinite(wick_load_elem(elem, &stored, 0).f);
}

static void map_store(const json_t *value, wick_elem elem, void *data, uint32_t k, wick_arena *mem)
{
  if (elem == WICK_STRING) {
    const char *s = json_string_value(value);
    ((wick_string *)data)[k] = (wick_string){wick_str_dup(mem, s), strlen(s)};
    return;
  }
  wick_store_elem(elem, data, k,
                  wick_elem_is_float(elem) ? (wick_scalar){.f = json_number_value(value)}
                                           : (wick_scalar){.i = json_integer_value(value)});
}

/* Returns whether a key is written as JSON's writers write numbers: "09" and "+9" would not be
 * found as 9. */
static bool map_is_number(const char *key)
{
  char text[24];
  snprintf(text, sizeof text, "%lld", strtoll(key, NULL, 10));
  return strcmp(text, key) == 0;
}

/* Checks that every key and value has the input's types, including keys that the model ignores. */
static wick_status map_check(const json_t *map, bool numbers, wick_elem elem, const char *location,
                             wick_arena *mem)
{
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)map, key, value)
  {
    if (numbers && !map_is_number(key))
      return wick_fail(mem, WICK_ETYPE, location, "the key \"%s\" is no i64", key);
    if (!map_is(value, elem))
      return wick_fail(mem, WICK_ETYPE, location, "the value of \"%s\" is no %s", key,
                       wick_elem_name(elem));
  }
  return NULL;
}

static wick_status map_read(wick_span json, bool numbers, wick_elem elem, const char *location,
                            wick_arena *mem, json_t **out)
{
  json_error_t e;
  *out = json_loadb((const char *)json.at, json.nbytes, JSON_REJECT_DUPLICATES, &e);
  if (!*out) return wick_fail(mem, WICK_EPARSE, location, "line %d: %s", e.line, e.text);
  wick_status bad = json_is_object(*out)
                        ? map_check(*out, numbers, elem, location, mem)
                        : wick_fail(mem, WICK_EPARSE, location, "the file is no object in JSON");
  if (bad) json_decref(*out);
  return bad;
}

/* A tensor of rank 1, filled with zeros or empty strings. */
static void *map_alloc(wick_elem elem, uint64_t n, const char *name, wick_arena *mem,
                       wick_array *out)
{
  uint64_t nbytes = n * (elem == WICK_STRING ? sizeof(wick_string) : wick_elem_bytes(elem, 1));
  void *data = wick_arena_alloc(mem, (size_t)nbytes + 1, 64);
  memset(data, 0, (size_t)nbytes);
  *out = (wick_array){
      .name = name, .elem = elem, .rank = 1, .dim = {(int64_t)n}, .data = data, .nbytes = nbytes};
  return data;
}

/* ---- keys that the model knows ---- */

static const char *map_key(const wick_keys *keys, uint32_t k, wick_arena *mem)
{
  return keys->text ? wick_str_dupn(mem, keys->text[k].at, (size_t)keys->text[k].nbytes)
                    : wick_str_printf(mem, "%lld", (long long)keys->number[k]);
}

wick_status wick_map_fit(wick_span json, const wick_io *io, const char *location, wick_arena *mem,
                         wick_array *out)
{
  json_t *map;
  if (!io->keys.n || io->rank != 1)
    return wick_fail(mem, WICK_ETYPE, location, "the file has a map, expected %s",
                     wick_array_type(mem, io->elem, io->rank, io->dim));
  WICK_TRY(map_read(json, !io->keys.text, io->elem, location, mem, &map));
  void *data = map_alloc(io->elem, io->keys.n, "", mem, out);
  for (uint32_t k = 0; k < io->keys.n; k++) {
    const json_t *value = json_object_get(map, map_key(&io->keys, k, mem));
    if (value) map_store(value, io->elem, data, k, mem);
  }
  json_decref(map);
  return NULL;
}

static bool map_same_key(const wick_keys *keys, uint32_t k, const wick_array *key, uint64_t i)
{
  if (!keys->text) return keys->number[k] == ((const int64_t *)key->data)[i];
  const wick_string *x = &keys->text[k], *y = &((const wick_string *)key->data)[i];
  return x->nbytes == y->nbytes && (!x->nbytes || memcmp(x->at, y->at, (size_t)x->nbytes) == 0);
}

void wick_map_fit_pairs(const wick_array pair[2], const wick_io *io, wick_arena *mem,
                        wick_array *out)
{
  void *data = map_alloc(io->elem, io->keys.n, "", mem, out);
  for (uint32_t k = 0; k < io->keys.n; k++) {
    int64_t i = 0;
    while (i < pair[0].dim[0] && !map_same_key(&io->keys, k, &pair[0], (uint64_t)i)) i++;
    if (i == pair[0].dim[0]) continue;
    if (io->elem == WICK_STRING)
      ((wick_string *)data)[k] = ((const wick_string *)pair[1].data)[i];
    else
      wick_store_elem(io->elem, data, k, wick_load_elem(io->elem, pair[1].data, (uint64_t)i));
  }
}

/* ---- keys that only the map knows ---- */

static int map_by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int map_by_number(const void *a, const void *b)
{
  long long x = strtoll(*(const char *const *)a, NULL, 10),
            y = strtoll(*(const char *const *)b, NULL, 10);
  return (x > y) - (x < y);
}

bool wick_map_is_spread(const wick_io *keys, const wick_io *values)
{
  size_t n = strlen(keys->name);
  return n > 5 && strcmp(keys->name + n - 5, ".keys") == 0 &&
         strncmp(keys->name, values->name, n - 5) == 0 &&
         strcmp(values->name + n - 5, ".values") == 0 && keys->rank == 1 && values->rank == 1 &&
         (keys->elem == WICK_STRING || keys->elem == WICK_I64);
}

wick_status wick_map_spread(wick_span json, const wick_io *keys, const wick_io *values,
                            const char *location, wick_arena *mem, wick_array out[2])
{
  json_t *map, *value;
  const char *name;
  bool numbers = keys->elem != WICK_STRING;
  WICK_TRY(map_read(json, numbers, values->elem, location, mem, &map));
  size_t n = json_object_size(map), k = 0;
  const char **key = wick_new(mem, const char *, n + 1);
  json_object_foreach(map, name, value) key[k++] = wick_str_dup(mem, name);
  qsort(key, n, sizeof *key, numbers ? map_by_number : map_by_text);
  void *to_key = map_alloc(keys->elem, n, keys->name, mem, &out[0]),
       *to_value = map_alloc(values->elem, n, values->name, mem, &out[1]);
  for (k = 0; k < n; k++) {
    if (numbers)
      ((int64_t *)to_key)[k] = strtoll(key[k], NULL, 10);
    else
      ((wick_string *)to_key)[k] = (wick_string){key[k], strlen(key[k])};
    map_store(json_object_get(map, key[k]), values->elem, to_value, (uint32_t)k, mem);
  }
  json_decref(map);
  return NULL;
}
