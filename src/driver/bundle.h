/* Writes bundles: a network as an object, a header and a file of weights, which run without Wick.
 * wick/bundle.h describes them for their users. */
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
  uint32_t ninput, noutput, nstate;
  const wick_io *io; /* inputs, then outputs, the last nstate of both are states; a dynamic size
                             has its largest value, and a name */
  const uint64_t *offset; /* of each input and output, in the mutable data */
  uint64_t constant_bytes, mutable_bytes;
  const uint64_t *initial; /* of each state, its offset in the constants; 0: it begins with zeros */
  uint32_t nsize;          /* dynamic sizes */
  const struct wick_bundle_size *size;
  uint64_t table_offset;    /* of the table of sizes in the mutable data: their values, then memory
                               for those that follow from them */
  const char *fill;         /* the function that checks the sizes; NULL: all are constant */
  uint64_t flash_bytes;     /* code, tables and constants, wherever the constants are */
  uint64_t stack_bytes;     /* of a call, at most; 0: unknown */
  uint64_t arena_bytes;     /* including the heap and the scratch memory after the arena */
  uint64_t heap_bytes;      /* of the arena, for objects; 0: there are none */
  uint64_t recursion_bytes; /* of the stack, for recursion; 0: there is none */
  uint64_t failure_offset, failure_bytes; /* of the record in the arena; 0 bytes: nothing fails */
  const char *contract;                   /* the numerical contract */
  const char *const *needs;               /* external functions */
  uint32_t nneed;
  const wick_string_table *strings; /* if the program prints some that are values; else NULL */
} wick_bundle;

/* Defines WICK_BUNDLE_STATIC in a header. Equal definitions may be repeated. */
#define WICK_BUNDLE_STATIC_TEXT                                                                    \
  "#ifdef __GNUC__\n#define WICK_BUNDLE_STATIC static __attribute__((unused))\n"                   \
  "#else\n#define WICK_BUNDLE_STATIC static\n#endif\n"

/* Writes the text of NAME.h: C89 and C++, with an example that compiles. */
void wick_bundle_header(const wick_bundle *b, wick_arena *tmp, wick_text *out);

/* Derives a name for the function from the model's path: "nets/res-net.onnx" gives res_net. */
const char *wick_bundle_name(const char *path, wick_arena *mem);

/* Compiles c's model and writes the files into the folder, all of them or none. Fails as
 * wick_compile does, with WICK_EINVAL for a name that no C function can have, with
 * WICK_EUNSUPPORTED for operators that bundles do not support, and with WICK_ELIMIT if the model
 * needs more memory than the machine can address. */
WICK_CHECKED wick_status wick_bundle_make(wick_compilation *c, const wick_bundle_options *o);

#endif
