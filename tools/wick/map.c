/* A JSON object as a tensor. */
#include "map.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ir/element.h"

static bool map_is(const json_t *value, wick_elem elem)
{
  if (elem == WICK_STRING) return json_is_string(value);
  return wick_elem_is_float(elem) ? json_is_number(value) : json_is_integer(value);
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

/* As JSON's writers make a number a key: "09" and "+9" would be missed where 9 is looked for. */
static bool map_is_number(const char *key)
{
  char text[24];
  snprintf(text, sizeof text, "%lld", strtoll(key, NULL, 10));
  return strcmp(text, key) == 0;
}

/* Every key and value is of the input's types, those that nobody looks for, too. */
static wick_status map_check(const json_t *map, const wick_io *io, const char *place,
                             wick_arena *mem)
{
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)map, key, value)
  {
    if (!io->keys.text && !map_is_number(key))
      return wick_fail(mem, WICK_ETYPE, place, "the key \"%s\" is no i64", key);
    if (!map_is(value, io->elem))
      return wick_fail(mem, WICK_ETYPE, place, "the value of \"%s\" is no %s", key,
                       wick_elem_name(io->elem));
  }
  return NULL;
}

static const char *map_key(const wick_keys *keys, uint32_t k, wick_arena *mem)
{
  return keys->text ? wick_str_dupn(mem, keys->text[k].at, (size_t)keys->text[k].nbytes)
                    : wick_str_printf(mem, "%lld", (long long)keys->number[k]);
}

static wick_status map_values(const json_t *map, const wick_io *io, const char *place,
                              wick_arena *mem, void *data)
{
  WICK_TRY(map_check(map, io, place, mem));
  for (uint32_t k = 0; k < io->keys.n; k++) {
    const json_t *value = json_object_get(map, map_key(&io->keys, k, mem));
    if (value) map_store(value, io->elem, data, k, mem);
  }
  return NULL;
}

wick_status wick_map_fit(wick_span json, const wick_io *io, const char *place, wick_arena *mem,
                         wick_array *out)
{
  json_error_t e;
  if (!io->keys.n || io->rank != 1)
    return wick_fail(mem, WICK_ETYPE, place, "the file has a map, wanted %s",
                     wick_array_type(mem, io->elem, io->rank, io->dim));
  json_t *map = json_loadb((const char *)json.at, json.nbytes, JSON_REJECT_DUPLICATES, &e);
  if (!map) return wick_fail(mem, WICK_EPARSE, place, "line %d: %s", e.line, e.text);
  *out = (wick_array){.name = "",
                      .elem = io->elem,
                      .rank = 1,
                      .dim = {io->keys.n},
                      .data = wick_arena_alloc(mem, (size_t)io->nbytes + 1, 64),
                      .nbytes = io->nbytes};
  memset((void *)(uintptr_t)out->data, 0, (size_t)io->nbytes);
  wick_status bad = json_is_object(map)
                        ? map_values(map, io, place, mem, (void *)(uintptr_t)out->data)
                        : wick_fail(mem, WICK_EPARSE, place, "the file is no object in JSON");
  json_decref(map);
  return bad;
}
