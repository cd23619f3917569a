/* Reads sorted tables of keys and values in the format of LevelDB, as the index files of
 * checkpoints are. Values point into the file. Blocks are checked against their checksums.
 *
 * Source: doc/table_format.md of LevelDB; blocks as in its table/format.h and table/block.cc. */
#ifndef WICK_IMPORT_TENSORFLOW_SORTED_TABLE_H
#define WICK_IMPORT_TENSORFLOW_SORTED_TABLE_H

#include "base/reader.h"

/* The bytes of keys are at most this many times the file's size: keys share prefixes. */
enum { WICK_TF_TABLE_GROWTH = 64 };

typedef struct wick_tf_row {
  wick_span key, value;
} wick_tf_row;

typedef struct wick_tf_rows {
  wick_tf_row *at; /* by key, ascending */
  uint32_t n, cap;
} wick_tf_rows;

/* The tables of the checksum CRC-32C for eight bytes at a time. */
typedef struct wick_crc32c {
  uint32_t at[8][256];
} wick_crc32c;
void wick_crc32c_make(wick_crc32c *out);
uint32_t wick_crc32c_of(const wick_crc32c *t, uint32_t crc, wick_span bytes); /* begin with 0 */
/* Checksums are stored in this form, since files with checksums may be checksummed again. */
static inline uint32_t wick_crc32c_mask(uint32_t crc)
{
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* Reads the whole table. Fails with WICK_EUNSUPPORTED for compressed blocks. Time and memory are
 * linear in the file's size. */
WICK_CHECKED wick_status wick_tf_table_read(wick_span file, const wick_crc32c *crc,
                                            const char *location, wick_arena *mem,
                                            wick_tf_rows *out);
/* Returns the row with that key, or NULL. */
const wick_tf_row *wick_tf_table_find(const wick_tf_rows *rows, wick_span key);

#endif
