/* Reads zip archives: entries that are stored or deflated, also with 64-bit sizes.
 *
 * An archive is untrusted: names that are absolute, lead to a parent folder or occur twice, links,
 * encrypted entries and parts of larger archives are refused when it is opened. Stored entries are
 * not copied. What entries decompress to is limited by the size of the archive.
 *
 * Source: APPNOTE.TXT 6.3.10, PKWARE. */
#ifndef WICK_IMPORT_ZIP_H
#define WICK_IMPORT_ZIP_H

#include "base/reader.h"

typedef struct wick_zip_entry {
  const char *name;
  uint16_t method; /* 0: stored; 8: deflated */
  uint32_t crc;
  wick_span raw;   /* as the archive has it */
  uint64_t nbytes; /* of the contents */
} wick_zip_entry;

typedef struct wick_zip {
  wick_list(wick_zip_entry) entries;
  const char *location;
  wick_arena *mem;
  uint64_t left; /* bytes that its entries may still decompress to */
} wick_zip;

/* `bytes` must live as long as the results; `location` begins messages. */
WICK_CHECKED wick_status wick_zip_open(wick_span bytes, const char *location, wick_arena *mem,
                                       wick_zip *out);
const wick_zip_entry *wick_zip_find(const wick_zip *z, const char *name); /* NULL: none */
/* Sets *out to the contents, whose checksum is verified. */
WICK_CHECKED wick_status wick_zip_read(wick_zip *z, const wick_zip_entry *e, wick_span *out);

#endif
