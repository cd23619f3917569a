/* What a session must know of compiled code: the artifact's section `program`.
 *
 * Written by the driver, read by the session (which may come from another build of the same
 * version). Little-endian: u32 version, then the fields below in order; strings are a u32 length
 * and the bytes; arrays a u32 count and the elements. */
#ifndef WICK_RUNTIME_PROGRAM_H
#define WICK_RUNTIME_PROGRAM_H

#include "runtime/artifact.h"
#include "runtime/host.h"
#include "wick/wick.h"

enum { WICK_PROGRAM_VERSION = 11 };

/* A place where runs decide. The entry counts what they do in a table that has WICK_FLOW_SLOTS
 * numbers, i64, for each: of a branch how often it went each way; of a loop how often it was
 * entered, all its steps, the least of one time and the most. */
enum { WICK_FLOW_SLOTS = 4, WICK_FLOW_LEAST = 2, WICK_FLOW_MOST = 3 };
typedef struct wick_program_flow {
  const char *location; /* of the user's node; no two of one kind have the same */
  uint32_t kind;        /* wick_flow_kind */
} wick_program_flow;

#define WICK_PROGRAM_CONST UINT32_MAX /* in place of a slot of the table of sizes: a constant */

/* Slots of an operand's dims and strides. */
typedef struct wick_program_extent {
  uint32_t dim[WICK_MAX_DIMS], stride[WICK_MAX_DIMS];
} wick_program_extent;

/* What a kernel is where the runtime does it: operators.h of host.h with their operands' types; an
 * operand is one of the launch's slots. */
typedef struct wick_program_host {
  const char *row; /* NULL: the code does it */
  uint32_t nattr, nout, nin;
  const wick_host_attr *attr;
  const wick_host_tensor *arg;       /* results, then operands; no data */
  const uint32_t *slot;              /* of each: which of the launch's slots it is */
  const wick_program_extent *extent; /* of each */
} wick_program_host;

typedef struct wick_program_kernel {
  const char *name;      /* symbol in the code */
  const char *location;  /* of the user's nodes, for errors and profiles */
  const char *schedule;  /* the steps that made its loops */
  bool scratch, fault;   /* hidden slots, as codegen/abi.h has them */
  uint64_t flops, bytes; /* of one run */
  uint64_t weights;      /* constants among `bytes`, each once */
  uint64_t cost;         /* of one launch: estimated nanoseconds of one worker */
  uint64_t cycles;       /* that one run takes by the model (graph/group/cost.h) */
  uint64_t tasks;        /* of one launch */
  const char *limit;     /* what limits it by the model, in words */
  wick_program_host host;
} wick_program_kernel;

typedef struct wick_program_pair {
  const char *key, *value;
} wick_program_pair;

/* A size that varies: it is (d - rest) / factor, where d is the size of an input's dimension. */
typedef struct wick_program_symbol {
  const char *name;
  int64_t lo, hi; /* both included */
  uint32_t input, axis;
  int64_t factor, rest;
} wick_program_symbol;

/* A buffer of the arena whose place is found for each size. */
typedef struct wick_program_buffer {
  uint32_t first, last; /* instructions over which it is live, both included */
  uint32_t nbytes;      /* its slot */
} wick_program_buffer;

typedef struct wick_program_check { /* slots that must be equal */
  uint32_t slot[2];
  const char *location, *text[2]; /* of the user's node; the two sizes */
} wick_program_check;

typedef struct wick_program_port { /* slots of an input's or output's dims and bytes */
  uint32_t dim[WICK_MAX_DIMS], nbytes;
} wick_program_port;

/* Sizes that a session is given. They lie in a table of i64: symbols, what follows from them, and
 * last a slot that is not 0 where a size is too large. */
typedef struct wick_program_sizes {
  const char *fill; /* a kernel of one argument, the table: writes what follows from the symbols;
                       "": all sizes are constant, and the rest is empty */
  uint32_t nslot, nsymbol, nbuffer, ncheck;
  uint32_t scratch; /* slot: bytes of scratch memory for each worker */
  const wick_program_symbol *symbol;
  const wick_program_buffer *buffer;
  const wick_program_check *check;
  const wick_program_port *port; /* of inputs, then outputs */
} wick_program_sizes;

enum {
  WICK_GUARD_BYTES_MAX = 64,
  WICK_GUARD_INPUTS_MAX = 64
}; /* bytes of a guard input; guard inputs */

typedef struct wick_program {
  const char *entry; /* symbol */
  const char *contract;
  uint64_t arena_bytes, scratch_bytes; /* scratch: for each worker; both 0 where sizes vary */
  uint64_t packed_bytes;               /* of the section `constants` */
  uint32_t ninput, noutput, nkernel, nmetadata, nflow, nguard_input;
  const wick_io *io; /* in the order of the entry's parameters: inputs, then outputs; where
                        a size varies, dim -1 with its name, and nbytes 0 */
  wick_program_sizes sizes;
  const void *const *fixed; /* by input: the bytes that it must hold, or NULL */
  const wick_program_kernel *kernel;
  const wick_program_flow *flow; /* where there are any, the entry has the table after constants */
  const uint32_t
      *guard_input; /* inputs from whose contents branches follow: of constant size, at most
                            WICK_GUARD_BYTES_MAX bytes; in order */
  const wick_program_pair *metadata; /* the user's, of the model file */
  wick_string_table strings;         /* of constants and attributes */
} wick_program;

/* Bytes at the interface of what takes so many in the code, which knows strings by their numbers.
 */
static inline uint64_t wick_io_nbytes(wick_elem elem, uint64_t nbytes)
{
  return elem == WICK_STRING ? nbytes / sizeof(int64_t) * sizeof(wick_string) : nbytes;
}
/* Two contents of an input or output are the same. */
bool wick_io_same(const wick_io *io, const void *a, const void *b);

wick_span wick_program_write(const wick_program *p, wick_arena *mem);
WICK_CHECKED wick_status wick_program_read(wick_span bytes, const char *location, wick_arena *mem,
                                           wick_program *out);

#endif
