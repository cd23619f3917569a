/* Reads checkpoints of TensorFlow: PREFIX.index is a table of tensors, PREFIX.data-00000-of-00001
 * and so on have their bytes. The bytes stay in the mapped files.
 *
 * Source: tensorflow/core/util/tensor_bundle (format), core/protobuf/tensor_bundle.proto. */
#ifndef WICK_IMPORT_TENSORFLOW_CHECKPOINT_H
#define WICK_IMPORT_TENSORFLOW_CHECKPOINT_H

#include "base/file.h"
#include "import/tensorflow/proto.h"
#include "import/tensorflow/sorted_table.h"

typedef struct wick_tf_checkpoint {
  const char *location; /* "variables.index" */
  wick_tf_rows rows;
  wick_crc32c crc;
  uint32_t nshard;
  wick_span *shard;                  /* the data files */
  const wick_tf_trackables *objects; /* the graph of objects; NULL: it has none */
} wick_tf_checkpoint;

/* Maps the files `folder`/`name`.index and its shards. */
WICK_CHECKED wick_status wick_tf_checkpoint_open(wick_files *files, const char *folder,
                                                 const char *name, wick_arena *mem,
                                                 wick_tf_checkpoint **out);
/* Reads an index, with the contents of one shard, which may be NULL. The fuzzer begins here. */
WICK_CHECKED wick_status wick_tf_checkpoint_read(wick_tf_checkpoint *c, wick_span index,
                                                 wick_arena *mem);

/* Finds a tensor: its description, which lives in `mem`, and its bytes, which are checked against
 * their checksum. *out_entry is NULL if there is no such key. */
WICK_CHECKED wick_status wick_tf_checkpoint_find(const wick_tf_checkpoint *c, wick_span key,
                                                 wick_arena *mem,
                                                 const wick_tf_bundle_entry **out_entry,
                                                 wick_span *out_bytes);
/* The elements of a tensor of strings. */
WICK_CHECKED wick_status wick_tf_checkpoint_strings(const wick_tf_checkpoint *c, wick_span bytes,
                                                    uint64_t nelem, wick_arena *mem,
                                                    wick_span *out);

#endif
