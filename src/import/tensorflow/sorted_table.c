/* The reader of tables: a footer names the index block, whose values name the data blocks. */
#include "import/tensorflow/sorted_table.h"

#include <string.h>

#include "base/status.h"

enum { TABLE_FOOTER = 48, TABLE_TRAILER = 5 };
static const unsigned char table_magic[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};

/* ---- checksums ---- */

void wick_crc32c_make(wick_crc32c *out)
{
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
    out->at[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; i++)
    for (int k = 1; k < 8; k++)
      out->at[k][i] = out->at[k - 1][i] >> 8 ^ out->at[0][out->at[k - 1][i] & 255];
}

uint32_t wick_crc32c_of(const wick_crc32c *t, uint32_t crc, wick_span bytes)
{
  const unsigned char *s = bytes.at;
  size_t n = bytes.nbytes;
  crc = ~crc;
  for (; n >= 8; n -= 8, s += 8) {
    crc ^= (uint32_t)s[0] | (uint32_t)s[1] << 8 | (uint32_t)s[2] << 16 | (uint32_t)s[3] << 24;
    crc = t->at[7][crc & 255] ^ t->at[6][crc >> 8 & 255] ^ t->at[5][crc >> 16 & 255] ^
          t->at[4][crc >> 24] ^ t->at[3][s[4]] ^ t->at[2][s[5]] ^ t->at[1][s[6]] ^ t->at[0][s[7]];
  }
  for (; n; n--, s++) crc = crc >> 8 ^ t->at[0][(crc ^ *s) & 255];
  return ~crc;
}

/* ---- blocks ---- */

typedef struct table_reader {
  wick_span file;
  const wick_crc32c *crc;
  const char *location;
  wick_arena *mem;
  uint64_t key_bytes; /* that keys may still use */
} table_reader;

static wick_status table_broken(const table_reader *t, uint64_t at, const char *what)
{
  return wick_fail(t->mem, WICK_EPARSE, t->location, "at byte %llu: %s", (unsigned long long)at,
                   what);
}

/* Sets *out to a block's contents, without its trailer. */
static wick_status table_block(const table_reader *t, uint64_t offset, uint64_t nbytes,
                               wick_span *out)
{
  uint64_t most = t->file.nbytes;
  if (offset > most || nbytes > most - offset || most - offset - nbytes < TABLE_TRAILER)
    return table_broken(t, offset, "a block is not within the file");
  *out = (wick_span){t->file.at + offset, (size_t)nbytes};
  const unsigned char *trailer = out->at + nbytes;
  uint32_t stored = (uint32_t)trailer[1] | (uint32_t)trailer[2] << 8 | (uint32_t)trailer[3] << 16 |
                    (uint32_t)trailer[4] << 24;
  uint32_t crc = wick_crc32c_of(t->crc, 0, (wick_span){out->at, out->nbytes + 1});
  if (wick_crc32c_mask(crc) != stored)
    return table_broken(t, offset, "a block differs from its checksum");
  if (*trailer == 0) return NULL;
  return wick_fail(
      t->mem, WICK_EUNSUPPORTED, t->location,
      "at byte %llu: a block is compressed (%s); TensorFlow writes checkpoints without "
      "compression, save it again",
      (unsigned long long)offset, *trailer == 1 ? "snappy" : "unknown method");
}

/* Reads the entries of a block. Each key continues the one before it. */
static wick_status table_entries(table_reader *t, wick_span block, wick_tf_rows *out)
{
  uint64_t at = (uint64_t)(block.at - t->file.at), nrestart = 0;
  if (block.nbytes < 4) return table_broken(t, at, "a block has no restart points");
  for (int i = 0; i < 4; i++) nrestart |= (uint64_t)block.at[block.nbytes - 4 + (size_t)i] << 8 * i;
  if (nrestart > block.nbytes / 4 - 1)
    return table_broken(t, at, "a block's restart points are not within it");
  wick_reader r = wick_reader_make(block.at, block.nbytes - 4 - 4 * (size_t)nrestart);
  r.start = t->file.at;
  wick_span last = {t->file.at, 0};
  while (wick_reader_left(&r)) {
    uint64_t shared, more, nvalue;
    wick_span tail, value;
    size_t position = wick_reader_position(&r);
    if (!wick_read_varint(&r, &shared) || !wick_read_varint(&r, &more) ||
        !wick_read_varint(&r, &nvalue) || !wick_read_span(&r, more, &tail) ||
        !wick_read_span(&r, nvalue, &value))
      break;
    if (shared > last.nbytes)
      return table_broken(t, position, "a key continues more than the key before it");
    size_t n = (size_t)shared + tail.nbytes;
    if (n > t->key_bytes)
      return wick_fail(t->mem, WICK_ELIMIT, t->location,
                       "its keys would take more than %d times its size", WICK_TF_TABLE_GROWTH);
    t->key_bytes -= n;
    unsigned char *key = wick_new(t->mem, unsigned char, n + 1);
    if (shared) memcpy(key, last.at, (size_t)shared);
    if (tail.nbytes) memcpy(key + shared, tail.at, tail.nbytes);
    last = (wick_span){key, n};
    wick_push(t->mem, out, (wick_tf_row){last, value});
  }
  return wick_reader_status(&r, t->mem, t->location);
}

static int table_compare(wick_span a, wick_span b)
{
  size_t n = a.nbytes < b.nbytes ? a.nbytes : b.nbytes;
  int c = n ? memcmp(a.at, b.at, n) : 0;
  return c ? c : (a.nbytes > b.nbytes) - (a.nbytes < b.nbytes);
}

static wick_status table_handle(const table_reader *t, wick_span bytes, wick_span *out)
{
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  r.start = t->file.at;
  uint64_t offset = 0, nbytes = 0;
  if (!wick_read_varint(&r, &offset) || !wick_read_varint(&r, &nbytes))
    return wick_reader_status(&r, t->mem, t->location);
  return table_block(t, offset, nbytes, out);
}

wick_status wick_tf_table_read(wick_span file, const wick_crc32c *crc, const char *location,
                               wick_arena *mem, wick_tf_rows *out)
{
  *out = (wick_tf_rows){0};
  table_reader t = {.file = file, .crc = crc, .location = location, .mem = mem};
  t.key_bytes = (uint64_t)file.nbytes * WICK_TF_TABLE_GROWTH;
  if (file.nbytes < TABLE_FOOTER ||
      memcmp(file.at + file.nbytes - sizeof table_magic, table_magic, sizeof table_magic) != 0)
    return wick_fail(mem, WICK_EPARSE, location, "it is no index of a checkpoint");
  wick_span block;
  wick_reader footer =
      wick_reader_make(file.at + file.nbytes - TABLE_FOOTER, TABLE_FOOTER - sizeof table_magic);
  uint64_t skipped; /* the block of meta data */
  footer.start = file.at;
  if (!wick_read_varint(&footer, &skipped) || !wick_read_varint(&footer, &skipped))
    return wick_reader_status(&footer, mem, location);
  WICK_TRY(table_handle(&t, (wick_span){footer.at, wick_reader_left(&footer)}, &block));
  wick_tf_rows index = {0};
  WICK_TRY(table_entries(&t, block, &index));
  uint64_t left = file.nbytes; /* blocks do not overlap: no small file means endless work */
  for (uint32_t i = 0; i < index.n; i++) {
    WICK_TRY(table_handle(&t, index.at[i].value, &block));
    if (block.nbytes > left) return table_broken(&t, 0, "its blocks are larger than the file");
    left -= block.nbytes;
    WICK_TRY(table_entries(&t, block, out));
  }
  for (uint32_t i = 1; i < out->n; i++)
    if (table_compare(out->at[i - 1].key, out->at[i].key) >= 0)
      return table_broken(&t, 0, "its keys are not in order");
  return NULL;
}

const wick_tf_row *wick_tf_table_find(const wick_tf_rows *rows, wick_span key)
{
  uint32_t lo = 0, hi = rows->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    int c = table_compare(rows->at[mid].key, key);
    if (c == 0) return &rows->at[mid];
    if (c < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  return NULL;
}
