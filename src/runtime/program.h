/* The program: the description of compiled code that a session needs. It is the artifact's section
 * `program`.
 *
 * The driver writes it, and the session (which may be from another build of the same version) reads
 * it. It is little-endian: a u32 version, then the fields below in order. A string is a u32 length
 * and its bytes; an array is a u32 count and its elements. */
#ifndef WICK_RUNTIME_PROGRAM_H
#define WICK_RUNTIME_PROGRAM_H

#include "runtime/artifact.h"
#include "runtime/host.h"
#include "wick/wick.h"

enum { WICK_PROGRAM_VERSION = 15 };

/* A branch or a loop. The entry counts its runs in a table of WICK_FLOW_SLOTS numbers, i64, for
 * each one. A branch has the number of runs of each region. A loop has the number of times it was
 * entered, the iterations of all entries, and the fewest and most iterations of one entry. */
enum { WICK_FLOW_SLOTS = 4, WICK_FLOW_LEAST = 2, WICK_FLOW_MOST = 3 };
typedef struct wick_program_flow {
  const char *location; /* of the user's node; no two of one kind have the same */
  uint32_t kind;        /* wick_flow_kind */
} wick_program_flow;

#define WICK_PROGRAM_CONST UINT32_MAX /* instead of a slot of the table of sizes: a constant size */

/* The slots of an operand's dims and strides in the table of sizes. */
typedef struct wick_program_extent {
  uint32_t dim[WICK_MAX_DIMS], stride[WICK_MAX_DIMS];
} wick_program_extent;

/* A kernel that the runtime executes: an operator of runtime/host.h with the types of its operands.
 * Each operand is one of the launch's slots. */
typedef struct wick_program_host {
  const char *row; /* the operator's name; NULL: generated code executes the kernel */
  uint32_t nattr, nout, nin;
  const wick_host_attr *attr;
  const wick_host_tensor *arg;       /* results, then operands; no data */
  const uint32_t *slot;              /* of each operand: its index among the launch's slots */
  const wick_program_extent *extent; /* of each operand */
} wick_program_host;

typedef struct wick_program_kernel {
  const char *name;           /* symbol in the code */
  const char *location;       /* of the user's nodes, for errors and profiles */
  const char *schedule;       /* the steps that transform its plain loops */
  bool scratch, stack, fault; /* which hidden slots it has (codegen/abi.h) */
  bool heap;                  /* the stack's slot has a heap */
  uint64_t flops, bytes;      /* of one run */
  uint64_t weights;           /* the bytes of constants in `bytes`, each once */
  uint64_t cost;              /* of one launch: estimated nanoseconds of one worker */
  uint64_t cycles;            /* of one run, by the cost model (graph/group/cost.h) */
  uint64_t tasks;             /* of one launch */
  const char *limit;          /* the bottleneck by the cost model, in words */
  wick_program_host host;
} wick_program_kernel;

typedef struct wick_program_pair {
  const char *key, *value;
} wick_program_pair;

/* A dynamic size. Its value is (d - rest) / factor, where d is the size of an input's dimension. */
typedef struct wick_program_symbol {
  const char *name;
  int64_t lo, hi; /* both included */
  uint32_t input, axis;
  int64_t factor, rest;
} wick_program_symbol;

/* A buffer of the arena whose offset depends on the sizes. */
typedef struct wick_program_buffer {
  uint32_t first, last; /* the instructions between which it is live, both included */
  uint32_t nbytes;      /* the slot of its size */
} wick_program_buffer;

typedef struct wick_program_check { /* a shape constraint: two slots must be equal */
  uint32_t slot[2];
  const char *location, *text[2]; /* of the user's node; the two sizes as text */
} wick_program_check;

typedef struct wick_program_port { /* the slots of an input's or output's dims and bytes */
  uint32_t dim[WICK_MAX_DIMS], nbytes;
} wick_program_port;

/* The sizes of a program with dynamic sizes. A session has them in a table of i64: first the
 * symbols, then the sizes that follow from them, last a slot that is not 0 if a size is too
 * large. */
typedef struct wick_program_sizes {
  const char
      *fill; /* a kernel of one argument, the table: computes all other slots from the symbols;
                       "": all sizes are constant, and the other fields are empty */
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
  uint64_t arena_bytes, scratch_bytes; /* scratch: for each worker; both 0 if sizes are dynamic */
  uint64_t packed_bytes;               /* of the section `constants` */
  uint32_t ninput, noutput, nkernel, nmetadata, nflow, nguard_input;
  const wick_io *io; /* in the order of the entry's parameters: inputs, then outputs. A dynamic size
                        has dim -1 and its name, and nbytes is 0 */
  const uint32_t *donor; /* by output: the input whose memory it shares; UINT32_MAX:
                            none. NULL: all are none */
  uint32_t nstate; /* states: the last inputs, in order, whose memory the last outputs share. Users
                      of the public interface see neither */
  const void *const *initial;         /* by state: its bytes before the first run; NULL: zeros */
  uint32_t nparam_part, nresult_part; /* 0: the model is no program of the language */
  const wick_part *param_part, *result_part;
  wick_program_sizes sizes;
  const void *const *fixed; /* by input: the contents that it must have, or NULL */
  const wick_program_kernel *kernel;
  const wick_program_flow *flow; /* if there are any, the table of counts is the entry's parameter
                                    after the constants */
  const uint32_t
      *guard_input; /* inputs whose contents decide branches, in order: of constant size, at most
                            WICK_GUARD_BYTES_MAX bytes */
  const wick_program_pair *metadata; /* the user's, from the model file */
  wick_string_table strings;         /* of constants and attributes */
} wick_program;

/* Converts a size in generated code to the size in the public interface. They differ for strings,
 * which are indices (i64) in the code and wick_string in the interface. */
static inline uint64_t wick_io_nbytes(wick_elem elem, uint64_t nbytes)
{
  return elem == WICK_STRING ? nbytes / sizeof(int64_t) * sizeof(wick_string) : nbytes;
}
/* Are two contents of an input or output the same? */
bool wick_io_same(const wick_io *io, const void *a, const void *b);

/* The numbers of the inputs and the outputs that users see. */
static inline uint32_t wick_program_ninput(const wick_program *p) { return p->ninput - p->nstate; }
static inline uint32_t wick_program_noutput(const wick_program *p)
{
  return p->noutput - p->nstate;
}

/* Can a run fail after it has begun to write? */
bool wick_program_may_fail(const wick_program *p);

wick_span wick_program_write(const wick_program *p, wick_arena *mem);
WICK_CHECKED wick_status wick_program_read(wick_span bytes, const char *location, wick_arena *mem,
                                           wick_program *out);

#endif
