/* Zip archives that are refused, and those that are read. */
#include <string.h>
#include <zlib.h>

#include "base/arena_testing.h"
#include "base/str.h"
#include "import/zip.h"

typedef struct zip_row {
  const char *name, *second; /* of the entries; NULL: none */
  const char *text;
  uint32_t declared; /* bytes of the contents; 0: as many as the text has */
  uint32_t mode, flags, method;
  const char *want; /* of the message; NULL: it is read */
} zip_row;

static void zip_put(wick_text *t, uint64_t x, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) wick_text_char(t, (char)(unsigned char)(x >> (8 * i)));
}

static void zip_head(wick_text *t, const zip_row *r, const char *name, uint32_t at, bool local)
{
  size_t n = strlen(r->text);
  wick_text_addn(t, local ? "PK\3\4" : "PK\1\2", 4);
  if (!local) zip_put(t, 20, 2);
  zip_put(t, 20, 2), zip_put(t, r->flags, 2), zip_put(t, r->method, 2), zip_put(t, 0, 4);
  zip_put(t, crc32(0, (const unsigned char *)r->text, (uInt)n), 4), zip_put(t, n, 4);
  zip_put(t, r->declared ? r->declared : n, 4), zip_put(t, strlen(name), 2), zip_put(t, 0, 2);
  if (!local) zip_put(t, 0, 6), zip_put(t, (uint64_t)r->mode << 16, 4), zip_put(t, at, 4);
  wick_text_add(t, name);
  if (local) wick_text_addn(t, r->text, n);
}

static wick_span zip_made(const zip_row *r)
{
  wick_text t = wick_text_begin(&mem);
  const char *name[] = {r->name, r->second};
  uint32_t at[2] = {0}, n = r->second ? 2 : 1;
  for (uint32_t i = 0; i < n; i++) at[i] = (uint32_t)t.n, zip_head(&t, r, name[i], 0, true);
  size_t list = t.n;
  for (uint32_t i = 0; i < n; i++) zip_head(&t, r, name[i], at[i], false);
  size_t nlist = t.n - list;
  wick_text_addn(&t, "PK\5\6", 4);
  zip_put(&t, 0, 4), zip_put(&t, n, 2), zip_put(&t, n, 2), zip_put(&t, nlist, 4);
  zip_put(&t, list, 4), zip_put(&t, 7, 2), wick_text_add(&t, "comment");
  return (wick_span){(const unsigned char *)t.at, t.n};
}

static void zip_rows(void **state)
{
  static const zip_row rows[] = {
      {"a/b.json", "c", "text", .want = NULL},
      {"/etc/passwd", NULL, "text",
       .want = "entry \"/etc/passwd\" of the zip archive has an absolute path"},
      {"C:x", NULL, "text", .want = "has an absolute path"},
      {"a/../../b", NULL, "text", .want = "leads to a parent folder"},
      {"..", NULL, "text", .want = "leads to a parent folder"},
      {"a\\..\\b", NULL, "text", .want = "leads to a parent folder"},
      {"..a/b..", NULL, "text", .want = NULL},
      {"", NULL, "text", .want = "has no proper name"},
      {"x", "x", "text", .want = "entry \"x\" of the zip archive occurs twice"},
      {"x", NULL, "text", .mode = 0120777, .want = "is a link"},
      {"x", NULL, "text", .flags = 1, .want = "is encrypted"},
      {"x", NULL, "text", .method = 9, .want = "is compressed in another way than deflate"},
      {"x", NULL, "text", .method = 8, .want = "is damaged"},
      {"x", NULL, "text", .declared = 5, .want = "is not within the file"},
      {"x", NULL, "text", .method = 8, .declared = 1u << 30,
       .want = "entry \"x\" decompresses to 1073741824 bytes, too many for the archive's size"},
  };
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_zip z;
    wick_span got = {0};
    wick_status s = wick_zip_open(zip_made(&rows[i]), "net.keras", &mem, &z);
    if (!s) s = wick_zip_read(&z, wick_zip_find(&z, rows[i].name), &got);
    if (!rows[i].want) {
      assert_null(s);
      assert_int_equal(got.nbytes, strlen(rows[i].text));
      assert_memory_equal(got.at, rows[i].text, got.nbytes);
    } else {
      assert_non_null(s);
      if (!strstr(s->message, rows[i].want)) fail_msg("%zu: %s", i, s->message);
    }
  }
}

static void zip_truncated(void **state)
{
  static const zip_row row = {"a", "b", "some text", .want = NULL};
  wick_span whole = zip_made(&row);
  (void)state;
  for (size_t n = 0; n < whole.nbytes; n++) {
    wick_zip z;
    unsigned char *copy = wick_arena_raw(&mem, n + 1, 1);
    memcpy(copy, whole.at, n);
    assert_non_null(wick_zip_open((wick_span){copy, n}, "x", &mem, &z));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(zip_rows, setup, teardown),
      cmocka_unit_test_setup_teardown(zip_truncated, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
