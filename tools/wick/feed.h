/* A model's inputs from files: matched by name or order, pictures fitted, types and sizes checked.
 */
#ifndef WICK_TOOLS_FEED_H
#define WICK_TOOLS_FEED_H

#include "image.h"
#include "tensor_io.h"
#include "wick/wick.h"

typedef struct wick_feed {
  uint32_t n;              /* of the inputs */
  const wick_array *array; /* in the order of the inputs */
  const void **data;       /* their addresses */
} wick_feed;

/* Reads the files and gives each of the `n` inputs its tensor: by the name that the file gives it,
 * else in order. Sizes that are open take any number. Fails naming the input, what was found and
 * what was wanted. Arrays live in `mem` and `files`. */
WICK_CHECKED wick_status wick_feed_read(const wick_io *const *io, uint32_t n,
                                        const char *const *path, uint32_t npath,
                                        const wick_image_options *options, wick_files *files,
                                        wick_arena *mem, wick_arena *tmp, wick_feed *out);

/* Storage for outputs, aligned to 64 bytes. */
void **wick_feed_room(const wick_io *const *io, uint32_t n, wick_arena *mem);

/* Writes outputs as FOLDER/output_K.npy; of maps the values, and FOLDER/output_K.keys.json, the
 * keys in the order of the last dimension. */
WICK_CHECKED wick_status wick_feed_write(const wick_array *array, uint32_t n, const char *folder,
                                         wick_arena *tmp);
wick_array wick_feed_array(const wick_io *io, const void *data);

#endif
