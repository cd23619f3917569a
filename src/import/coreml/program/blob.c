/* Weight files of ML programs ("blob storage", version 2): a header of 64 bytes, then for each blob
 * its metadata (64 bytes) and its data. Both begin at multiples of 64.
 * Source: mlmodel/src/MILBlob/Blob/StorageFormat.hpp of coremltools 9. */
#include "import/coreml/program/state.h"

enum { BLOB_ALIGN = 64, BLOB_VERSION = 2 };
#define BLOB_SENTINEL 0xdeadbeefu

/* The metadata of a blob. */
typedef struct blob_meta {
  uint32_t type;
  uint64_t nbytes, offset;
} blob_meta;

/* Reads the metadata at that offset. Returns NULL, or the reason why it is none. */
static const char *blob_meta_read(wick_span file, uint64_t offset, blob_meta *out)
{
  wick_reader r = wick_reader_make(file.at, file.nbytes);
  wick_span skipped;
  uint32_t count, version, sentinel;
  if (!wick_read_u32(&r, &count) || !wick_read_u32(&r, &version)) return "it is too short";
  if (version != BLOB_VERSION) return "its version is not 2";
  if (offset % BLOB_ALIGN || offset < BLOB_ALIGN || offset > file.nbytes)
    return "no blob begins at that offset";
  r = wick_reader_make(file.at, file.nbytes);
  if (!wick_read_span(&r, offset, &skipped) || !wick_read_u32(&r, &sentinel) ||
      !wick_read_u32(&r, &out->type) || !wick_read_u64(&r, &out->nbytes) ||
      !wick_read_u64(&r, &out->offset))
    return "no blob begins at that offset";
  if (sentinel != BLOB_SENTINEL) return "the bytes at that offset are not a blob's metadata";
  if (out->offset % BLOB_ALIGN || out->offset > file.nbytes ||
      out->nbytes > file.nbytes - out->offset)
    return "the blob's data is not within the file";
  return NULL;
}

bool wick_mil_blob_read(wick_import *c, const wick_mil_blob *blob, uint32_t type, uint64_t nbytes,
                        const char *location, wick_span *out)
{
  const char *name = wick_wire_text(c->tmp, blob->file);
  wick_span file;
  blob_meta meta = {0};
  if (!wick_coreml_file(c, wick_mil_of(c)->model, name, location, &file)) return false;
  const char *why = blob_meta_read(file, (uint64_t)blob->offset, &meta);
  if (why) {
    wick_import_error(c, WICK_EPARSE, location, "%s, offset %llu: %s", wick_path_base(name),
                      (unsigned long long)blob->offset, why);
    return false;
  }
  if (meta.type != type || meta.nbytes != nbytes) {
    wick_import_error(c, WICK_EPARSE, location,
                      "%s, offset %llu: %llu bytes of type %u, expected %llu bytes of type %u",
                      wick_path_base(name), (unsigned long long)blob->offset,
                      (unsigned long long)meta.nbytes, meta.type, (unsigned long long)nbytes, type);
    return false;
  }
  *out = (wick_span){file.at + meta.offset, (size_t)nbytes};
  return true;
}
