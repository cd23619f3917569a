/* Reads inputs from files, and writes outputs to files. */
#include "model_inputs.h"

#include "interrupt.h"
#include "map.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "driver/output_size.h"
#include "ir/element.h"
#include "runtime/keys.h"

static const char *model_inputs_place(const wick_io *io, uint32_t i, wick_arena *mem)
{
  return *io->name ? wick_str_printf(mem, "input \"%s\"", io->name)
                   : wick_str_printf(mem, "input %u", i);
}

static const char *model_inputs_expected(const wick_io *io, wick_arena *mem)
{
  if (io->keys.n)
    return wick_str_printf(mem, "map(%s,%s)", io->keys.text ? "string" : "i64",
                           wick_elem_name(io->elem));
  if (io->unranked) return wick_str_printf(mem, "%s[...]", wick_elem_name(io->elem));
  return wick_array_type(mem, io->elem, io->rank, io->dim);
}

static wick_status model_inputs_fit(const wick_io *io, const wick_image_options *options,
                                    const char *location, wick_arena *mem, wick_array *a)
{
  wick_image_input want = {.name = io->name, .elem = io->elem, .rank = io->rank};
  memcpy(want.dim, io->dim, io->rank * sizeof *io->dim);
  wick_array fitted;
  WICK_TRY(wick_image_fit(a, &want, options, location, mem, &fitted));
  *a = fitted;
  return NULL;
}

static wick_status model_inputs_check(const wick_io *io, const char *location, const wick_array *a,
                                      wick_arena *mem)
{
  if (io->data)
    return wick_fail(mem, WICK_ETYPE, location, "it is a %s; `wick run` takes it as --args",
                     io->data->name);
  bool fits = a->elem == io->elem && (io->unranked || a->rank == io->rank);
  for (uint32_t k = 0; fits && k < io->rank; k++) fits = io->dim[k] < 0 || io->dim[k] == a->dim[k];
  if (fits) return NULL;
  return wick_fail(mem, WICK_ETYPE, location, "the file has %s, expected %s",
                   wick_array_type(mem, a->elem, a->rank, a->dim), model_inputs_expected(io, mem));
}

/* Finds the input for a tensor: the one with its name, else the next one without a tensor. */
static uint32_t model_inputs_find(const wick_io *const *io, uint32_t n, const wick_array *a,
                                  const bool *taken)
{
  for (uint32_t i = 0; i < n && *a->name; i++)
    if (!taken[i] && strcmp(io[i]->name, a->name) == 0) return i;
  uint32_t i = 0;
  while (i < n && taken[i]) i++;
  return i;
}

static wick_status model_inputs_count(const wick_io *const *io, uint32_t n, uint32_t given,
                                      wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  for (uint32_t i = 0; i < n; i++)
    wick_text_printf(&t, "%s%s %s", i ? ", " : "", io[i]->name, model_inputs_expected(io[i], mem));
  return wick_fail(mem, WICK_EINVAL, "--inputs",
                   "%u tensors are given, but the model has %u inputs: %s", given, n, t.at);
}

/* Checks that each name in an archive is an input's and occurs once. The archive's order is
 * ignored. */
static wick_status model_inputs_names(const wick_io *const *io, uint32_t n, const wick_arrays *list,
                                      const wick_paths *from, wick_arena *mem)
{
  wick_text unknown = wick_text_begin(mem), inputs = wick_text_begin(mem);
  uint32_t *given = wick_new(mem, uint32_t, n + 1);
  const char *location = NULL;
  for (uint32_t k = 0; k < list->n; k++) {
    const wick_array *a = &list->at[k];
    uint32_t i = 0;
    while (i < n && strcmp(io[i]->name, a->name) != 0) i++;
    if (i < n && *a->name && given[i]++)
      return wick_fail(mem, WICK_EINVAL, from->at[k], "input \"%s\" is given twice", a->name);
    if (i < n || !a->by_name) continue;
    wick_text_printf(&unknown, "%s\"%s\"", unknown.n ? ", " : "", a->name);
    location = from->at[k];
  }
  if (!unknown.n) return NULL;
  for (uint32_t i = 0; i < n; i++)
    wick_text_printf(&inputs, "%s\"%s\"", i ? ", " : "", io[i]->name);
  return wick_fail(mem, WICK_EINVAL, location, "no input is called %s; the model's inputs are %s",
                   unknown.at, n ? inputs.at : "none");
}

static wick_span model_inputs_json(const wick_array *a)
{
  return (wick_span){(const unsigned char *)a->json, (size_t)a->nbytes};
}

/* Returns the first of the two inputs for the map of this name; n if there is none. */
static uint32_t model_inputs_find_spread(const wick_io *const *io, uint32_t n, const char *name,
                                         size_t len)
{
  uint32_t i = 0;
  while (i + 1 < n &&
         !(strncmp(io[i]->name, name, len) == 0 && !strcmp(io[i]->name + len, ".keys") &&
           wick_map_is_spread(io[i], io[i + 1])))
    i++;
  return i + 1 < n ? i : n;
}

/* Gives each map in a file to the input with its name, else to the next input that is a map. If
 * that input is two tensors, the map becomes two tensors. */
static wick_status model_inputs_spread(const wick_io *const *io, uint32_t n,
                                       const wick_arrays *given, const wick_paths *from,
                                       wick_arena *mem, wick_arrays *out, wick_paths *out_from)
{
  uint32_t next = 0; /* inputs before it have a map already */
  for (uint32_t k = 0; k < given->n; k++) {
    const wick_array *a = &given->at[k];
    wick_array two[2] = {*a};
    uint32_t i = n; /* the first one of two tensors */
    if (a->json && *a->name)
      i = model_inputs_find_spread(io, n, a->name, strlen(a->name));
    else if (a->json) {
      while (next < n && !io[next]->keys.n &&
             !(next + 1 < n && wick_map_is_spread(io[next], io[next + 1])))
        next++;
      if (next < n && !io[next]->keys.n) i = next++;
      next++;
    }
    if (i < n) {
      const char *location = wick_str_printf(mem, "%s: input \"%.*s\"", from->at[k],
                                             (int)(strlen(io[i]->name) - 5), io[i]->name);
      WICK_TRY(wick_map_spread(model_inputs_json(a), io[i], io[i + 1], location, mem, two));
    }
    for (int t = 0; t <= (i < n); t++) {
      wick_push(mem, out, two[t]);
      wick_push(mem, out_from, from->at[k]);
    }
  }
  return NULL;
}

/* Splits NAME=FILE if an input has this name. Both the name and the file may contain `=`. */
static wick_status model_inputs_split(const wick_ports *ports, const wick_io *const *io, uint32_t n,
                                      const char *word, wick_arena *mem, const char **out_name,
                                      const char **out_path)
{
  *out_name = "", *out_path = word;
  const char *equal = strchr(word, '=');
  if (!equal) return NULL;
  for (; equal; equal = strchr(equal + 1, '=')) {
    size_t len = (size_t)(equal - word);
    bool found = len && model_inputs_find_spread(io, n, word, len) < n;
    for (uint32_t i = 0; i < n && !found && len; i++)
      found = strncmp(io[i]->name, word, len) == 0 && !io[i]->name[len];
    for (uint32_t i = 0; i < ports->n && !found && len; i++)
      found = strncmp(ports->at[i].name, word, len) == 0 && !ports->at[i].name[len];
    if (!found) continue;
    *out_name = wick_str_dupn(mem, word, len), *out_path = equal + 1;
    return NULL;
  }
  if (access(word, F_OK) == 0) return NULL;
  wick_text t = wick_text_begin(mem);
  for (uint32_t i = 0; i < ports->n; i++)
    wick_text_printf(&t, "%s%s", i ? ", " : "", ports->at[i].name);
  return wick_fail(mem, WICK_EINVAL, word, "the model has no input \"%.*s\", its inputs are: %s",
                   (int)strcspn(word, "="), word, t.at);
}

/* A message whose kind only the input tells stays what it is. */
static wick_status model_inputs_file(const wick_ports *ports, const char *path, wick_files *files,
                                     wick_arena *mem, wick_arena *tmp, wick_arrays *out)
{
  size_t n = strlen(path);
  wick_file *file;
  if (!ports->nlist || n < 3 || strcmp(path + n - 3, ".pb") != 0)
    return wick_arrays_read(files, path, mem, tmp, out);
  WICK_TRY(wick_files_map(files, path, &file));
  wick_push(
      mem, out,
      (wick_array){.name = "",
                   .message = {file->nbytes ? file->at : (const unsigned char *)"", file->nbytes}});
  return NULL;
}

/* Reads the files' tensors, and records the file of each. */
static wick_status model_inputs_files(const wick_ports *ports, const wick_io *const *io, uint32_t n,
                                      const char *const *word, uint32_t nword, wick_files *files,
                                      wick_arena *mem, wick_arena *tmp, wick_arrays *out,
                                      wick_paths *out_from)
{
  for (uint32_t i = 0; i < nword; i++) {
    const char *name, *path;
    uint32_t before = out->n;
    WICK_TRY(model_inputs_split(ports, io, n, word[i], mem, &name, &path));
    WICK_TRY(model_inputs_file(ports, path, files, mem, tmp, out));
    while (out_from->n < out->n) wick_push(mem, out_from, path);
    if (!*name) continue;
    if (out->n != before + 1)
      return wick_fail(mem, WICK_EINVAL, path, "it has %u tensors, the input \"%s\" takes one",
                       (unsigned)(out->n - before), name);
    out->at[before].name = name;
    for (uint32_t k = 0; k < before; k++)
      if (strcmp(out->at[k].name, name) == 0)
        return wick_fail(mem, WICK_EINVAL, path, "the input \"%s\" is given twice", name);
  }
  return NULL;
}

/* What a compilation takes of the inputs, besides the tensors. */
static void model_inputs_describe(const wick_list_inputs *lists, const wick_io *const *io,
                                  wick_arena *mem, wick_model_inputs *out)
{
  wick_list(wick_shape) shape = {0};
  for (uint32_t i = 0; i < lists->shape.n; i++) wick_push(mem, &shape, lists->shape.at[i]);
  for (uint32_t i = 0; i < out->n; i++)
    wick_push(mem, &shape, (wick_shape){io[i]->name, out->array[i].rank, out->array[i].dim});
  out->nshape = shape.n, out->shape = shape.at;
}

/* Takes away the first dimension of each tensor: the runs, whose number is the same for all. */
static wick_status model_inputs_frames(wick_arrays *given, const wick_paths *from, wick_arena *mem,
                                       uint32_t *out_n)
{
  for (uint32_t k = 0; k < given->n; k++) {
    wick_array *a = &given->at[k];
    if (a->picture || a->json || a->message.nbytes || a->elem == WICK_STRING ||
        wick_elem_storage[a->elem].bits < 8 || !a->rank)
      return wick_fail(
          mem, WICK_EINVAL, from->at[k],
          "--frames: a tensor of numbers is expected, whose first dimension are the runs");
    if (a->dim[0] < 1 || a->dim[0] > UINT32_MAX || (k && a->dim[0] != *out_n))
      return wick_fail(mem, WICK_EINVAL, from->at[k], "--frames: it has %lld runs%s",
                       (long long)a->dim[0],
                       k && a->dim[0] > 0 ? ", another number than the tensors before" : "");
    *out_n = (uint32_t)a->dim[0];
    a->nbytes /= *out_n;
    a->rank--;
    memmove(a->dim, a->dim + 1, a->rank * sizeof *a->dim);
  }
  return NULL;
}

wick_status wick_model_inputs_read(const wick_ports *ports, const wick_io *const *io, uint32_t n,
                                   const char *const *path, uint32_t npath,
                                   const wick_image_options *options, bool frames,
                                   wick_files *files, wick_arena *mem, wick_arena *tmp,
                                   wick_model_inputs *out)
{
  wick_arrays given = {0}, list = {0};
  wick_paths given_from = {0}, from = {0};
  wick_list_inputs lists = {0};
  WICK_TRY(model_inputs_files(ports, io, n, path, npath, files, mem, tmp, &given, &given_from));
  out->nframe = 1;
  if (frames) WICK_TRY(model_inputs_frames(&given, &given_from, mem, &out->nframe));
  if (ports->nlist) {
    wick_arrays found = {0};
    wick_paths found_from = {0};
    WICK_TRY(
        wick_list_inputs_find(ports, io, &given, &given_from, mem, &found, &found_from, &lists));
    given = found, given_from = found_from, io = lists.io, n = lists.n;
  }
  WICK_TRY(model_inputs_spread(io, n, &given, &given_from, mem, &list, &from));
  WICK_TRY(model_inputs_names(io, n, &list, &from, mem));
  if (list.n != n) return model_inputs_count(io, n, list.n, mem);
  wick_array *array = wick_new(mem, wick_array, n);
  bool *taken = wick_new(tmp, bool, n);
  out->data = wick_new(mem, const void *, n);
  for (int pass = 0; pass < 2; pass++) /* tensors with names first */
    for (uint32_t k = 0; k < n; k++) {
      if ((*list.at[k].name == 0) != (pass == 1)) continue;
      uint32_t i = model_inputs_find(io, n, &list.at[k], taken);
      const char *location =
          wick_str_printf(mem, "%s: %s", from.at[k], model_inputs_place(io[i], i, mem));
      taken[i] = true;
      array[i] = list.at[k];
      if (array[i].json)
        WICK_TRY(wick_map_fit(model_inputs_json(&array[i]), io[i], location, mem, &array[i]));
      if (array[i].picture) WICK_TRY(model_inputs_fit(io[i], options, location, mem, &array[i]));
      WICK_TRY(model_inputs_check(io[i], location, &array[i], mem));
      array[i].name = io[i]->name;
      out->data[i] = array[i].data;
    }
  out->n = n;
  out->array = array;
  model_inputs_describe(&lists, io, mem, out);
  return NULL;
}

void **wick_model_inputs_buffers(const wick_io *const *io, uint32_t n, wick_arena *mem)
{
  void **buffers = wick_new(mem, void *, n);
  for (uint32_t i = 0; i < n; i++) buffers[i] = wick_arena_alloc(mem, io[i]->nbytes, 64);
  return buffers;
}

wick_array wick_model_inputs_array(const wick_io *io, const void *data)
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

/* ---- outputs whose size depends on data ---- */

/* Keeps the first `size` slices along the axis. */
static void model_inputs_cut(wick_array *a, uint32_t axis, int64_t size, wick_arena *mem)
{
  uint64_t outer = 1, inner = 1, from = (uint64_t)a->dim[axis], to = (uint64_t)size;
  for (uint32_t k = 0; k < axis; k++) outer *= (uint64_t)a->dim[k];
  for (uint32_t k = axis + 1; k < a->rank; k++) inner *= (uint64_t)a->dim[k];
  uint64_t all = outer * from * inner;
  a->dim[axis] = size;
  if (!all || to == from) return;
  uint64_t nbytes = a->elem == WICK_STRING ? outer * to * inner * sizeof(wick_string)
                                           : wick_elem_bytes(a->elem, outer * to * inner);
  unsigned char *data = wick_arena_alloc(mem, nbytes + 1, 64);
  bool whole = a->elem == WICK_STRING || wick_elem_storage[a->elem].bits >= 8;
  uint64_t block = whole ? a->nbytes / all * inner : 0; /* bytes of a slice */
  for (uint64_t i = 0; i < outer && whole; i++)
    memcpy(data + i * to * block, (const unsigned char *)a->data + i * from * block,
           (size_t)(to * block));
  for (uint64_t i = 0; i < outer && !whole; i++)
    for (uint64_t k = 0; k < to * inner; k++)
      wick_store_elem(a->elem, data, i * to * inner + k,
                      wick_load_elem(a->elem, a->data, i * from * inner + k));
  a->data = data;
  a->nbytes = nbytes;
}

uint32_t wick_model_inputs_trim(wick_array *array, uint32_t n, wick_arena *mem)
{
  uint32_t left = 0, *rank = wick_new(mem, uint32_t, n);
  const char **name = wick_new(mem, const char *, n);
  for (uint32_t i = 0; i < n; i++)
    name[i] = array[i].name ? array[i].name : "", rank[i] = array[i].rank;
  wick_output_sizes s = wick_output_sizes_of(name, rank, n, mem);
  for (uint32_t k = 0; k < s.nsize; k++) {
    const wick_array *size = &array[s.size[k]];
    wick_array *a = &array[s.of[s.size[k]]];
    uint32_t axis = s.axis[s.size[k]];
    int64_t most = a->dim[axis];
    if (size->elem != WICK_I64 || size->rank) {
      s.of[s.size[k]] = n;
      continue;
    }
    int64_t have = *(const int64_t *)size->data;
    model_inputs_cut(a, axis, have < 0 ? 0 : have < most ? have : most, mem);
  }
  for (uint32_t i = 0; i < n; i++)
    if (s.of[i] == n) array[left++] = array[i];
  return left;
}
