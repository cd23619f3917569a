/* The HDF5 reader against h5py: files/NAME.txt says what files/NAME.h5 holds (make_files.py). Then
 * every truncation of each file, and mutations: no crash, no hang, and a message at each failure. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/str.h"
#include "import/hdf5/hdf5.h"

#define FOLDER "tests/hdf5/files"

typedef struct hdf5_case {
  wick_hdf5 *f;
  wick_arena *mem;
  const char *name;
} hdf5_case;

static uint64_t hdf5_test_hash(uint64_t h, const void *at, size_t n)
{
  const unsigned char *s = at;
  for (size_t i = 0; i < n; i++) h = (h ^ s[i]) * UINT64_C(0x100000001b3);
  return h;
}

/* KIND SIZE DIMS HASH, as the maker writes it. */
static wick_status hdf5_test_text(const hdf5_case *c, const wick_hdf5_array *a, const char **out)
{
  static const char *const kind[] = {"int",    "uint",    "float", "bfloat",
                                     "string", "strings", "opaque"};
  wick_text t = wick_text_begin(c->mem);
  wick_text_printf(&t, "%s %u ", a->truth ? "bool" : kind[a->kind], a->size);
  for (uint32_t i = 0; i < a->rank; i++)
    wick_text_printf(&t, "%s%llu", i ? "x" : "", (unsigned long long)a->dim[i]);
  if (!a->rank) wick_text_char(&t, '-');
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  bool text = a->kind == WICK_HDF5_STRING || a->kind == WICK_HDF5_STRINGS;
  for (uint64_t i = 0; text && i < a->nelem; i++) {
    wick_span s;
    WICK_TRY(wick_hdf5_string(c->f, a, i, &s));
    h = hdf5_test_hash(hdf5_test_hash(h, s.at, s.nbytes), "\n", 1);
  }
  if (!text) h = hdf5_test_hash(h, a->data.at, a->data.nbytes);
  wick_text_printf(&t, " %016llx", (unsigned long long)h);
  *out = t.at;
  return NULL;
}

static int hdf5_test_order(const void *a, const void *b)
{
  const wick_hdf5_link *x = a, *y = b;
  size_t n = x->name.nbytes < y->name.nbytes ? x->name.nbytes : y->name.nbytes;
  int d = memcmp(x->name.at, y->name.at, n);
  return d ? d : x->name.nbytes < y->name.nbytes ? -1 : 1;
}

static wick_status hdf5_test_group(const hdf5_case *c, wick_hdf5_object o, const char **out)
{
  wick_hdf5_links links;
  WICK_TRY(wick_hdf5_list(c->f, o, &links));
  if (links.n) qsort(links.at, links.n, sizeof *links.at, hdf5_test_order);
  wick_text t = wick_text_begin(c->mem);
  for (uint32_t i = 0; i < links.n; i++) {
    if (i) wick_text_char(&t, ',');
    wick_text_addn(&t, (const char *)links.at[i].name.at, links.at[i].name.nbytes);
  }
  *out = t.at;
  return NULL;
}

/* What the file has in the place that a line names. */
static wick_status hdf5_test_line(const hdf5_case *c, const char *verb, const char *path,
                                  const char *name, const char **out)
{
  bool found;
  wick_hdf5_object o;
  wick_hdf5_array a;
  *out = "";
  WICK_TRY(wick_hdf5_find(c->f, wick_hdf5_root(c->f), path, &found, &o));
  if (!found) return wick_fail(c->mem, WICK_EINVAL, path, "not found");
  if (strcmp(verb, "group") == 0) return hdf5_test_group(c, o, out);
  if (strcmp(verb, "attr") == 0 || strcmp(verb, "none") == 0) {
    WICK_TRY(wick_hdf5_attribute(c->f, o, name, &found, &a));
    return found ? hdf5_test_text(c, &a, out) : NULL;
  }
  WICK_TRY(wick_hdf5_read(c->f, o, &a));
  return hdf5_test_text(c, &a, out);
}

/* Compares a line of the text with the file; `check` is false for damaged files. */
static void hdf5_test_compare(const hdf5_case *c, char *line, bool check)
{
  char *rest = line, *verb = strsep(&rest, " "), *path = strsep(&rest, " ");
  bool named = strcmp(verb, "attr") == 0 || strcmp(verb, "none") == 0;
  const char *name = named ? strsep(&rest, " ") : NULL, *got;
  wick_status s = hdf5_test_line(c, verb, path, name, &got);
  if (!check) return;
  const char *want = rest ? rest : "";
  bool fails = strcmp(verb, "fail") == 0;
  bool good = fails ? s && strstr(s->message, want) : !s && strcmp(got, want) == 0;
  if (!good)
    fail_msg("%s: %s %s %s: got %s, expected %s", c->name, verb, path, name ? name : "",
             s ? s->message : got, want);
}

static void hdf5_test_all(wick_arena *mem, const char *name, wick_span bytes, const char *text,
                          bool check)
{
  hdf5_case c = {.mem = mem, .name = name};
  wick_status s = wick_hdf5_open(bytes, name, mem, &c.f);
  if (check) assert_null(s);
  char *rest = wick_str_dup(mem, text), *line;
  while (!s && (line = strsep(&rest, "\n")) && *line) hdf5_test_compare(&c, line, check);
}

typedef void hdf5_test_each(wick_arena *mem, const char *name, wick_span bytes, const char *text);

static void hdf5_test_files(hdf5_test_each *each)
{
  DIR *folder = opendir(FOLDER);
  assert_non_null(folder);
  int n = 0;
  for (struct dirent *d; (d = readdir(folder));) {
    if (!strstr(d->d_name, ".h5")) continue;
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard);
    assert_int_equal(setjmp(guard.where), 0);
    char *bytes, *text;
    size_t nbytes, ntext;
    const char *path = wick_str_printf(&mem, FOLDER "/%s", d->d_name);
    assert_null(wick_file_read(&mem, path, 0, &bytes, &nbytes));
    path = wick_str_printf(&mem, "%.*s.txt", (int)strlen(path) - 3, path);
    assert_null(wick_file_read(&mem, path, 0, &text, &ntext));
    each(&mem, d->d_name, (wick_span){(unsigned char *)bytes, nbytes}, text);
    wick_arena_free(&mem);
    n++;
  }
  closedir(folder);
  assert_true(n >= 9);
}

static void hdf5_test_equal(wick_arena *mem, const char *name, wick_span bytes, const char *text)
{
  hdf5_test_all(mem, name, bytes, text, true);
}
static void hdf5_test_h5py(void **state)
{
  (void)state;
  hdf5_test_files(hdf5_test_equal);
}

/* Exact copies, so that the address sanitizer sees a read beyond the end. */
static void hdf5_test_cut(wick_arena *mem, const char *name, wick_span bytes, const char *text)
{
  size_t step = 1 + bytes.nbytes / 60;
  for (size_t n = 0; n < bytes.nbytes; n += n < 600 ? 20 : step) {
    wick_mark m = wick_arena_mark(mem);
    unsigned char *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy + 1, bytes.at, n);
    hdf5_test_all(mem, name, (wick_span){copy + 1, n}, text, false);
    free(copy);
    wick_arena_rewind(mem, m);
  }
}
static void hdf5_test_truncated(void **state)
{
  (void)state;
  hdf5_test_files(hdf5_test_cut);
}

static void hdf5_test_mutate(wick_arena *mem, const char *name, wick_span bytes, const char *text)
{
  uint64_t x = 88172645463325252u;
  unsigned char *copy = malloc(bytes.nbytes);
  assert_non_null(copy);
  for (int round = 0; round < 60; round++) {
    wick_mark m = wick_arena_mark(mem);
    memcpy(copy, bytes.at, bytes.nbytes);
    for (int k = 0; k < 8; k++) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      copy[(x >> 8) % (round % 2             ? bytes.nbytes
                       : bytes.nbytes < 4096 ? bytes.nbytes
                                             : 4096)] = (unsigned char)(x >> 56);
    }
    hdf5_test_all(mem, name, (wick_span){copy, bytes.nbytes}, text, false);
    wick_arena_rewind(mem, m);
  }
  free(copy);
}
static void hdf5_test_damaged(void **state)
{
  (void)state;
  hdf5_test_files(hdf5_test_mutate);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(hdf5_test_h5py),
                                     cmocka_unit_test(hdf5_test_truncated),
                                     cmocka_unit_test(hdf5_test_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
