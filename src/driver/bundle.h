/* Bundles: a network as an object, a header and a file of weights, which need no Wick to run.
 * wick/bundle.h says what they are to their users. */
#ifndef WICK_DRIVER_BUNDLE_H
#define WICK_DRIVER_BUNDLE_H

#include "driver/compile.h"

typedef struct wick_bundle_size {
  const char *name;
  int64_t least, most;
} wick_bundle_size;

typedef struct wick_bundle {
  const char *name; /* of the C function */
  const wick_target *target;
  bool embed; /* the constants are in the object */
  uint32_t ninput, noutput;
  const wick_io *io;      /* inputs, then outputs; what varies is as large as it can be, with a
                             name */
  const uint64_t *offset; /* of each, in the mutable data */
  uint64_t constant_bytes, mutable_bytes;
  uint32_t nsize; /* that vary */
  const struct wick_bundle_size *size;
  uint64_t table_offset;    /* in the mutable data: of their values, with room after them */
  const char *fill;         /* the function that checks them; NULL: none varies */
  uint64_t flash_bytes;     /* code, tables and constants, wherever those are */
  uint64_t stack_bytes;     /* of a call, at most; 0: not known */
  uint64_t arena_bytes;     /* with the scratch memory after it */
  const char *contract;     /* of the numbers */
  const char *const *needs; /* functions from outside */
  uint32_t nneed;
} wick_bundle;

/* The text of NAME.h: C89 and C++, with an example that compiles. */
void wick_bundle_header(const wick_bundle *b, wick_arena *tmp, wick_text *out);

/* A name for the function, made of the model's path: "nets/res-net.onnx" gives res_net. */
const char *wick_bundle_name(const char *path, wick_arena *mem);

/* Compiles c's model and writes the files into the folder, all of them or none. Fails:
 * WICK_EINVAL for a name that no C function can have; as wick_compile does; WICK_EUNSUPPORTED for
 * what bundles cannot hold; WICK_ELIMIT for more memory than the machine can address. */
WICK_CHECKED wick_status wick_bundle_make(wick_compilation *c, const wick_bundle_options *o);

#endif
