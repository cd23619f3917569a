/* libzip allocates its own memory and must be closed, so no arena allocates while it is open: a
 * first pass counts, and a second pass fills the memory that was allocated in between. */
#include "npz.h"

#include <stdio.h>
#include <string.h>
#include <zip.h>

#include "base/str.h"

#include "npy.h"

enum {
  NPZ_ALIGN = 64,       /* of an entry, so that an .npy file's data needs no copy */
  NPZ_MOST_RATIO = 1032 /* deflate's largest ratio: 258 bytes for two bits */
};

typedef struct npz_entry {
  const char *name;
  const unsigned char *at;
  size_t nbytes;
} npz_entry;

typedef struct npz_scan {
  wick_span file;
  /* The first pass counts. The second one fills and counts down, because the file may have
   * changed. */
  uint64_t nentry, names_nbytes, data_nbytes;
  uint64_t size_nbytes; /* data_nbytes without padding */
  npz_entry *entry;     /* NULL in the first pass */
  char *names;
  unsigned char *data;
  char fault[256]; /* "" if there is no fault */
} npz_scan;

static bool npz_refuse(npz_scan *s, const char *name, const char *what)
{
  snprintf(s->fault, sizeof s->fault, "%s%.100s%s%.120s", name ? "its entry \"" : "",
           name ? name : "", name ? "\": " : "", what);
  return false;
}

static bool npz_count(npz_scan *s, const zip_stat_t *st)
{
  if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
    return npz_refuse(s, st->name, "it is neither stored nor deflated");
  uint64_t most = (uint64_t)s->file.nbytes * NPZ_MOST_RATIO;
  if (st->size > most - s->size_nbytes || st->comp_size > s->file.nbytes)
    return npz_refuse(s, st->name, "its size is more than the file's bytes can hold");
  size_t n = strlen(st->name);
  if (n < 5 || strcmp(st->name + n - 4, ".npy") != 0)
    return npz_refuse(s, st->name, "its name does not end in .npy");
  s->nentry++;
  s->names_nbytes += n + 1;
  s->size_nbytes += st->size;
  s->data_nbytes += wick_align_up((size_t)st->size, NPZ_ALIGN);
  return true;
}

static bool npz_fill(npz_scan *s, zip_t *zip, uint64_t k, const zip_stat_t *st)
{
  uint64_t length = strlen(st->name) + 1, padded = wick_align_up((size_t)st->size, NPZ_ALIGN);
  if (k >= s->nentry || length > s->names_nbytes || st->size > padded || padded > s->data_nbytes)
    return npz_refuse(s, st->name, "the file changed while it was read");
  zip_file_t *f = zip_fopen_index(zip, k, 0);
  if (!f) return npz_refuse(s, st->name, zip_strerror(zip));
  uint64_t have = 0;
  zip_int64_t n = 1;
  while (have < st->size && (n = zip_fread(f, s->data + have, st->size - have)) > 0)
    have += (uint64_t)n;
  char more;
  if (n > 0) n = zip_fread(f, &more, 1); /* at the end, libzip compares the checksum */
  if (n < 0)
    npz_refuse(s, st->name, zip_file_strerror(f));
  else if (have < st->size || n > 0)
    npz_refuse(s, st->name, "its size differs from its header");
  zip_fclose(f);
  memcpy(s->names, st->name, length);
  s->names[length - 5] = 0; /* removes ".npy" */
  s->entry[k] = (npz_entry){s->names, s->data, (size_t)st->size};
  s->names += length;
  s->names_nbytes -= length;
  s->data += padded;
  s->data_nbytes -= padded;
  return !*s->fault;
}

static bool npz_entries(npz_scan *s, zip_t *zip)
{
  zip_int64_t n = zip_get_num_entries(zip, 0);
  for (zip_int64_t k = 0; k < n; k++) {
    zip_stat_t st;
    const zip_uint64_t want =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_init(&st);
    if (zip_stat_index(zip, (zip_uint64_t)k, 0, &st) || (st.valid & want) != want)
      return npz_refuse(s, NULL, "an entry of its directory cannot be read");
    if (!(s->entry ? npz_fill(s, zip, (uint64_t)k, &st) : npz_count(s, &st))) return false;
  }
  return true;
}

static bool npz_open(npz_scan *s)
{
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source = zip_source_buffer_create(s->file.at, s->file.nbytes, 0, &error);
  zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
  bool ok = zip ? npz_entries(s, zip) : npz_refuse(s, NULL, zip_error_strerror(&error));
  if (zip)
    zip_discard(zip);
  else if (source)
    zip_source_free(source);
  zip_error_fini(&error);
  return ok;
}

/* "arr_0", "arr_1", ... are NumPy's names for arrays without a name. Their inputs are found by
 * order. */
static const char *npz_name(const char *name)
{
  bool numbered =
      strncmp(name, "arr_", 4) == 0 && name[4] && !name[4 + strspn(name + 4, "0123456789")];
  return numbered ? "" : name;
}

wick_status wick_npz_read(wick_span bytes, const char *location, wick_arena *mem, wick_arrays *list)
{
  /* the record at the end of a zip file; libzip accepts no bytes as an empty file */
  enum { LEAST = 22 };
  if (bytes.nbytes < LEAST) return wick_fail(mem, WICK_EPARSE, location, "it is no zip file");
  npz_scan s = {.file = bytes};
  if (!npz_open(&s)) return wick_fail(mem, WICK_EPARSE, location, "%s", s.fault);
  uint64_t nentry = s.nentry;
  npz_entry *entry = s.entry = wick_new(mem, npz_entry, nentry);
  s.names = wick_new(mem, char, s.names_nbytes);
  s.data = wick_arena_alloc(mem, (size_t)s.data_nbytes, NPZ_ALIGN);
  if (!npz_open(&s)) return wick_fail(mem, WICK_EPARSE, location, "%s", s.fault);
  for (uint64_t k = 0; k < nentry && entry[k].name; k++) {
    wick_array a;
    const char *in = wick_str_printf(mem, "%s: \"%s\"", location, entry[k].name);
    WICK_TRY(wick_npy_read((wick_span){entry[k].at, entry[k].nbytes}, in, mem, &a));
    a.name = npz_name(entry[k].name);
    a.by_name = *a.name != 0;
    wick_push(mem, list, a);
  }
  return NULL;
}

/* ---- writing ---- */

static bool npz_add(zip_t *zip, const char *name, const zip_buffer_fragment_t *fragment)
{
  enum { FIRST_DAY = 1 << 5 | 1 }; /* 1980-01-01, so that the bytes do not depend on the time */
  zip_source_t *source = zip_source_buffer_fragment(zip, fragment, 2, 0);
  if (!source) return false;
  zip_int64_t k = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
  if (k < 0) {
    zip_source_free(source);
    return false;
  }
  return zip_set_file_compression(zip, (zip_uint64_t)k, ZIP_CM_STORE, 0) == 0 &&
         zip_file_set_dostime(zip, (zip_uint64_t)k, 0, FIRST_DAY, 0) == 0;
}

wick_status wick_npz_write(const wick_arrays *list, const char *path, wick_arena *tmp)
{
  const char **name = wick_new(tmp, const char *, list->n);
  zip_buffer_fragment_t *fragment = wick_new(tmp, zip_buffer_fragment_t, 2 * (size_t)list->n);
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_array *a = &list->at[i];
    wick_bytes header;
    WICK_TRY(wick_npy_header(a, path, tmp, &header));
    name[i] = wick_str_printf(tmp, "%s.npy", a->name);
    fragment[2 * i] = (zip_buffer_fragment_t){(zip_uint8_t *)(uintptr_t)header.at, header.nbytes};
    fragment[2 * i + 1] = (zip_buffer_fragment_t){(zip_uint8_t *)(uintptr_t)a->data, a->nbytes};
  }
  int error;
  char fault[160] = "";
  zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (!zip) {
    zip_error_t e;
    zip_error_init_with_code(&e, error);
    snprintf(fault, sizeof fault, "%.150s", zip_error_strerror(&e));
    zip_error_fini(&e);
    return wick_fail(tmp, WICK_EIO, path, "cannot write it: %s", fault);
  }
  bool ok = true;
  for (uint32_t i = 0; ok && i < list->n; i++) ok = npz_add(zip, name[i], &fragment[2 * i]);
  if (ok && zip_close(zip) == 0) return NULL;
  snprintf(fault, sizeof fault, "%.150s", zip_strerror(zip));
  zip_discard(zip);
  return wick_fail(tmp, WICK_EIO, path, "cannot write it: %s", fault);
}
