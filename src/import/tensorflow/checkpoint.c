/* The reader of checkpoints. */
#include "import/tensorflow/checkpoint.h"

#include <string.h>

#include "base/str.h"

enum { CHECKPOINT_MOST_SHARDS = 100000, CHECKPOINT_CRC = 4 };

static wick_span checkpoint_word(const char *s)
{
  return (wick_span){(const unsigned char *)s, strlen(s)};
}

/* The name of a tensor for messages. */
static const char *checkpoint_tensor(const wick_tf_checkpoint *c, wick_span key, wick_arena *mem)
{
  return wick_str_printf(mem, "%s: tensor \"%s\"", c->location, wick_wire_text(mem, key));
}

static wick_status checkpoint_header(wick_tf_checkpoint *c, wick_arena *mem)
{
  const wick_tf_row *row = wick_tf_table_find(&c->rows, checkpoint_word(""));
  if (!row) return wick_fail(mem, WICK_EPARSE, c->location, "it has no header");
  void *message;
  WICK_TRY(
      wick_wire_decode(&wick_tf_bundle_header_message, row->value, c->location, mem, &message));
  const wick_tf_bundle_header *h = message;
  if (h->endianness)
    return wick_fail(mem, WICK_EUNSUPPORTED, c->location, "its numbers are big-endian");
  if (h->num_shards < 1 || h->num_shards > CHECKPOINT_MOST_SHARDS)
    return wick_fail(mem, WICK_EPARSE, c->location, "it has %lld shards, expected 1 to %d",
                     (long long)h->num_shards, CHECKPOINT_MOST_SHARDS);
  c->nshard = (uint32_t)h->num_shards;
  return NULL;
}

wick_status wick_tf_checkpoint_read(wick_tf_checkpoint *c, wick_span index, wick_arena *mem)
{
  wick_crc32c_make(&c->crc);
  WICK_TRY(wick_tf_table_read(index, &c->crc, c->location, mem, &c->rows));
  return checkpoint_header(c, mem);
}

/* Object-based checkpoints have the graph of their objects as a tensor. */
static wick_status checkpoint_objects(wick_tf_checkpoint *c, wick_arena *mem)
{
  const wick_tf_bundle_entry *e;
  wick_span bytes, graph;
  wick_span key = checkpoint_word("_CHECKPOINTABLE_OBJECT_GRAPH");
  WICK_TRY(wick_tf_checkpoint_find(c, key, mem, &e, &bytes));
  if (!e || e->dtype != WICK_TF_STRING) return NULL;
  WICK_TRY(wick_tf_checkpoint_strings(c, bytes, 1, mem, &graph));
  void *message;
  WICK_TRY(wick_wire_decode(&wick_tf_trackables_message, graph, checkpoint_tensor(c, key, mem), mem,
                            &message));
  c->objects = message;
  return NULL;
}

wick_status wick_tf_checkpoint_open(wick_files *files, const char *folder, const char *name,
                                    wick_arena *mem, wick_tf_checkpoint **out)
{
  wick_tf_checkpoint *c = *out = wick_new(mem, wick_tf_checkpoint, 1);
  wick_file *file;
  c->location = wick_str_printf(mem, "%s.index", name);
  WICK_TRY(wick_files_map_beneath(files, folder, c->location, &file));
  WICK_TRY(wick_tf_checkpoint_read(c, (wick_span){file->at, file->nbytes}, mem));
  c->shard = wick_new(mem, wick_span, c->nshard);
  for (uint32_t i = 0; i < c->nshard; i++) {
    const char *part = wick_str_printf(mem, "%s.data-%05u-of-%05u", name, i, c->nshard);
    WICK_TRY(wick_files_map_beneath(files, folder, part, &file));
    c->shard[i] = (wick_span){file->at, file->nbytes};
  }
  return checkpoint_objects(c, mem);
}

wick_status wick_tf_checkpoint_find(const wick_tf_checkpoint *c, wick_span key, wick_arena *mem,
                                    const wick_tf_bundle_entry **out_entry, wick_span *out_bytes)
{
  const wick_tf_row *row = wick_tf_table_find(&c->rows, key);
  *out_entry = NULL;
  *out_bytes = (wick_span){c->rows.n ? c->rows.at[0].value.at : NULL, 0};
  if (!row || !key.nbytes) return NULL;
  const char *location = checkpoint_tensor(c, key, mem);
  void *message;
  WICK_TRY(wick_wire_decode(&wick_tf_bundle_entry_message, row->value, location, mem, &message));
  const wick_tf_bundle_entry *e = message;
  if (e->slices.n)
    return wick_fail(mem, WICK_EUNSUPPORTED, location,
                     "it is stored in slices; save the model with variables that are not "
                     "partitioned");
  if (e->shard_id < 0 || e->shard_id >= c->nshard || !c->shard)
    return wick_fail(mem, WICK_EPARSE, location, "it is in shard %lld of %u",
                     (long long)e->shard_id, c->nshard);
  wick_span shard = c->shard[e->shard_id];
  if (e->offset < 0 || e->size < 0 || (uint64_t)e->offset > shard.nbytes ||
      (uint64_t)e->size > shard.nbytes - (uint64_t)e->offset)
    return wick_fail(mem, WICK_EPARSE, location,
                     "its %lld bytes from byte %lld on are not within the file of %zu bytes",
                     (long long)e->size, (long long)e->offset, shard.nbytes);
  *out_bytes = (wick_span){shard.at + e->offset, (size_t)e->size};
  /* Strings have a checksum over their lengths as integers, whose form is not the file's. */
  if (e->dtype != WICK_TF_STRING &&
      wick_crc32c_mask(wick_crc32c_of(&c->crc, 0, *out_bytes)) != (uint32_t)e->crc32c)
    return wick_fail(mem, WICK_EPARSE, location, "its bytes differ from their checksum");
  *out_entry = e;
  return NULL;
}

/* The lengths of all strings, the checksum of the lengths, then the strings. */
wick_status wick_tf_checkpoint_strings(const wick_tf_checkpoint *c, wick_span bytes, uint64_t nelem,
                                       wick_arena *mem, wick_span *out)
{
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  wick_span checksum;
  if (!wick_reader_fits(&r, nelem, 1)) return wick_reader_status(&r, mem, c->location);
  uint64_t *length = wick_new(mem, uint64_t, nelem + 1);
  for (uint64_t i = 0; i < nelem; i++)
    if (!wick_read_varint(&r, &length[i])) return wick_reader_status(&r, mem, c->location);
  bool good = wick_read_span(&r, CHECKPOINT_CRC, &checksum);
  for (uint64_t i = 0; good && i < nelem; i++) good = wick_read_span(&r, length[i], &out[i]);
  return wick_reader_status(&r, mem, c->location);
}
