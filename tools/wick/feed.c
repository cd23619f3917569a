/* Inputs from files, outputs to files. */
#include "feed.h"

#include "map.h"

#include <string.h>

#include "base/str.h"
#include "runtime/keys.h"

typedef wick_list(const char *) feed_paths; /* of each tensor */

static const char *feed_place(const wick_io *io, uint32_t i, wick_arena *mem)
{
  return *io->name ? wick_str_printf(mem, "input \"%s\"", io->name)
                   : wick_str_printf(mem, "input %u", i);
}

static const char *feed_wanted(const wick_io *io, wick_arena *mem)
{
  if (io->keys.n)
    return wick_str_printf(mem, "map(%s,%s)", io->keys.text ? "string" : "i64",
                           wick_elem_name(io->elem));
  return wick_array_type(mem, io->elem, io->rank, io->dim);
}

static wick_status feed_fit(const wick_io *io, const wick_image_options *options, const char *place,
                            wick_arena *mem, wick_array *a)
{
  wick_image_input want = {.name = io->name, .elem = io->elem, .rank = io->rank};
  memcpy(want.dim, io->dim, io->rank * sizeof *io->dim);
  wick_array fitted;
  WICK_TRY(wick_image_fit(a, &want, options, place, mem, &fitted));
  *a = fitted;
  return NULL;
}

static wick_status feed_check(const wick_io *io, const char *place, const wick_array *a,
                              wick_arena *mem)
{
  bool fits = a->elem == io->elem && a->rank == io->rank;
  for (uint32_t k = 0; fits && k < a->rank; k++) fits = io->dim[k] < 0 || io->dim[k] == a->dim[k];
  if (fits) return NULL;
  return wick_fail(mem, WICK_ETYPE, place, "the file has %s, wanted %s",
                   wick_array_type(mem, a->elem, a->rank, a->dim), feed_wanted(io, mem));
}

/* The input that a tensor is for: the one of its name, else the next one that has none. */
static uint32_t feed_find(const wick_io *const *io, uint32_t n, const wick_array *a,
                          const bool *taken)
{
  for (uint32_t i = 0; i < n && *a->name; i++)
    if (!taken[i] && strcmp(io[i]->name, a->name) == 0) return i;
  uint32_t i = 0;
  while (i < n && taken[i]) i++;
  return i;
}

static wick_status feed_count(const wick_io *const *io, uint32_t n, uint32_t given, wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  for (uint32_t i = 0; i < n; i++)
    wick_text_printf(&t, "%s%s %s", i ? ", " : "", io[i]->name, feed_wanted(io[i], mem));
  return wick_fail(mem, WICK_EINVAL, "--inputs", "%u tensors are given, the model wants %u: %s",
                   given, n, t.at);
}

static wick_span feed_json(const wick_array *a)
{
  return (wick_span){(const unsigned char *)a->json, (size_t)a->nbytes};
}

/* Each map in a file is for the next input that is one; where that is two tensors, so is the map.
 */
static wick_status feed_spread(const wick_io *const *io, uint32_t n, const wick_arrays *given,
                               const feed_paths *from, wick_arena *mem, wick_arrays *out,
                               feed_paths *out_from)
{
  uint32_t i = 0; /* inputs before it have their maps */
  for (uint32_t k = 0; k < given->n; k++) {
    const wick_array *a = &given->at[k];
    wick_array two[2] = {*a};
    bool spread = false;
    for (; a->json && i < n && !spread && !io[i]->keys.n; i++)
      spread = i + 1 < n && wick_map_is_spread(io[i], io[i + 1]);
    if (spread) {
      const char *place = wick_str_printf(mem, "%s: input \"%.*s\"", from->at[k],
                                          (int)(strlen(io[i]->name) - 7), io[i]->name);
      WICK_TRY(wick_map_spread(feed_json(a), io[i - 1], io[i], place, mem, two));
    }
    i += a->json != NULL;
    for (int t = 0; t <= spread; t++) {
      wick_push(mem, out, two[t]);
      wick_push(mem, out_from, from->at[k]);
    }
  }
  return NULL;
}

wick_status wick_feed_read(const wick_io *const *io, uint32_t n, const char *const *path,
                           uint32_t npath, const wick_image_options *options, wick_files *files,
                           wick_arena *mem, wick_arena *tmp, wick_feed *out)
{
  wick_arrays given = {0}, list = {0};
  feed_paths given_from = {0}, from = {0};
  for (uint32_t i = 0; i < npath; i++) {
    WICK_TRY(wick_arrays_read(files, path[i], mem, tmp, &given));
    while (given_from.n < given.n) wick_push(mem, &given_from, path[i]);
  }
  WICK_TRY(feed_spread(io, n, &given, &given_from, mem, &list, &from));
  if (list.n != n) return feed_count(io, n, list.n, mem);
  wick_array *array = wick_new(mem, wick_array, n);
  bool *taken = wick_new(tmp, bool, n);
  out->data = wick_new(mem, const void *, n);
  for (int pass = 0; pass < 2; pass++) /* those with names first */
    for (uint32_t k = 0; k < n; k++) {
      if ((*list.at[k].name == 0) != (pass == 1)) continue;
      uint32_t i = feed_find(io, n, &list.at[k], taken);
      const char *place = wick_str_printf(mem, "%s: %s", from.at[k], feed_place(io[i], i, mem));
      taken[i] = true;
      array[i] = list.at[k];
      if (array[i].json) WICK_TRY(wick_map_fit(feed_json(&array[i]), io[i], place, mem, &array[i]));
      if (array[i].picture) WICK_TRY(feed_fit(io[i], options, place, mem, &array[i]));
      WICK_TRY(feed_check(io[i], place, &array[i], mem));
      out->data[i] = array[i].data;
    }
  out->n = n;
  out->array = array;
  return NULL;
}

void **wick_feed_room(const wick_io *const *io, uint32_t n, wick_arena *mem)
{
  void **room = wick_new(mem, void *, n);
  for (uint32_t i = 0; i < n; i++) room[i] = wick_arena_alloc(mem, io[i]->nbytes, 64);
  return room;
}

wick_array wick_feed_array(const wick_io *io, const void *data)
{
  wick_array a = {.name = io->name,
                  .elem = io->elem,
                  .rank = io->rank,
                  .data = data,
                  .nbytes = io->nbytes,
                  .keys = io->keys};
  memcpy(a.dim, io->dim, io->rank * sizeof *io->dim);
  return a;
}

static wick_status feed_write_keys(const wick_array *a, const char *path, wick_arena *tmp)
{
  wick_text t = wick_text_begin(tmp);
  wick_keys_write(&t, a->keys);
  wick_text_char(&t, '\n');
  const wick_bytes part = {t.at, t.n};
  return wick_file_write(tmp, path, &part, 1);
}

wick_status wick_feed_write(const wick_array *array, uint32_t n, const char *folder,
                            wick_arena *tmp)
{
  WICK_TRY(wick_folder_make(tmp, folder));
  for (uint32_t i = 0; i < n; i++) {
    const char *name = wick_str_printf(tmp, "output_%u.npy", i);
    WICK_TRY(wick_array_write(&array[i], wick_path_join(tmp, folder, name), tmp));
    name = wick_str_printf(tmp, "output_%u.keys.json", i);
    if (array[i].keys.n)
      WICK_TRY(feed_write_keys(&array[i], wick_path_join(tmp, folder, name), tmp));
  }
  return NULL;
}
