/* Tests the reader of checkpoint indices on tables that the test writes. */
#include "import/tensorflow/sorted_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "import/wire_testing.h"

static wick_crc32c crc;

static wick_span word(const char *s) { return (wick_span){(const unsigned char *)s, strlen(s)}; }

static void put_u32(wick_text *t, uint32_t v)
{
  for (int i = 0; i < 4; i++) wick_text_char(t, (char)(v >> 8 * i & 255));
}

static void put_entry(wick_text *t, size_t shared, const char *more, wick_span value)
{
  put_varint(t, shared);
  put_varint(t, strlen(more));
  put_varint(t, value.nbytes);
  wick_text_add(t, more);
  wick_text_addn(t, (const char *)value.at, value.nbytes);
}

/* Ends a block and appends it with its trailer; returns its handle. */
static wick_span put_block(wick_text *file, wick_text *block, char method)
{
  wick_text handle = wick_text_begin(file->mem);
  put_u32(block, 0);
  put_u32(block, 1);
  put_varint(&handle, file->n);
  put_varint(&handle, block->n);
  wick_text_char(block, method);
  wick_text_addn(file, block->at, block->n);
  put_u32(file, wick_crc32c_mask(wick_crc32c_of(&crc, 0, put_span(block))));
  return put_span(&handle);
}

static wick_span put_table(wick_arena *mem, char method)
{
  wick_text file = wick_text_begin(mem), data = wick_text_begin(mem), index = wick_text_begin(mem);
  put_entry(&data, 0, "layer/bias", word("one"));
  put_entry(&data, 6, "kernel", word("two"));
  put_entry(&data, 0, "z", word("three"));
  wick_span handle = put_block(&file, &data, method);
  put_entry(&index, 0, "zz", handle);
  size_t at = file.n;
  put_block(&file, &index, 0);
  wick_text footer = wick_text_begin(mem);
  put_varint(&footer, 1), put_varint(&footer, 1);
  put_varint(&footer, at), put_varint(&footer, file.n - at - 5);
  while (footer.n < 40) wick_text_char(&footer, 0);
  wick_text_addn(&footer, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
  wick_text_addn(&file, footer.at, footer.n);
  return put_span(&file);
}

static void checksums(void **state)
{
  (void)state;
  wick_crc32c_make(&crc); /* the check value of CRC-32C, and of more than eight bytes */
  assert_int_equal(wick_crc32c_of(&crc, 0, word("123456789")), 0xe3069283u);
  uint32_t half = wick_crc32c_of(&crc, 0, word("12345678901"));
  assert_int_equal(wick_crc32c_of(&crc, half, word("2345")),
                   wick_crc32c_of(&crc, 0, word("123456789012345")));
}

static void reads(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_tf_rows rows;
  if (setjmp(guard.where)) fail();
  wick_crc32c_make(&crc);
  wick_span file = put_table(&mem, 0);
  assert_null(wick_tf_table_read(file, &crc, "v.index", &mem, &rows));
  assert_int_equal(rows.n, 3);
  assert_true(wick_span_is(rows.at[1].key, "layer/kernel"));
  assert_true(wick_span_is(wick_tf_table_find(&rows, word("layer/kernel"))->value, "two"));
  assert_null(wick_tf_table_find(&rows, word("layer")));
  wick_status s = wick_tf_table_read(put_table(&mem, 1), &crc, "v.index", &mem, &rows);
  assert_int_equal(s->code, WICK_EUNSUPPORTED);
  assert_non_null(strstr(s->message, "v.index: at byte 0: a block is compressed (snappy)"));
  wick_arena_free(&mem);
}

/* Every file that is cut or has one other byte is refused, or reads as a table. */
static void is_bounded(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_tf_rows rows;
  if (setjmp(guard.where)) fail();
  wick_crc32c_make(&crc);
  wick_span file = put_table(&mem, 0);
  for (size_t n = 0; n < file.nbytes; n++) {
    unsigned char *cut = wick_dup(&mem, unsigned char, file.at, n + 1);
    assert_non_null(wick_tf_table_read((wick_span){cut, n}, &crc, "v.index", &mem, &rows));
  }
  for (size_t n = 0; n < file.nbytes; n++) {
    unsigned char *other = wick_dup(&mem, unsigned char, file.at, file.nbytes);
    other[n] ^= 0x81;
    wick_status s =
        wick_tf_table_read((wick_span){other, file.nbytes}, &crc, "v.index", &mem, &rows);
    if (n < 40) assert_non_null(strstr(s->message, "differs from its checksum"));
  }
  wick_arena_free(&mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(checksums), cmocka_unit_test(reads),
                                     cmocka_unit_test(is_bounded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
