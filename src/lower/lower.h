/* Lowers a planned low function to loop functions: a kernel for each group and use, and an entry
 * that launches the kernels on the parts of one arena. */
#ifndef WICK_LOWER_LOWER_H
#define WICK_LOWER_LOWER_H

#include "graph/group/cost.h"
#include "ir/pass.h"
#include "lower/lower_sizes.h"
#include "runtime/program.h"
#include "target/target.h"

typedef struct wick_lowered_kernel {
  const char *name;           /* name of its loop function */
  wick_loc loc;               /* of the first instruction that it runs */
  wick_dim tasks;             /* of one launch */
  wick_dim_list sizes;        /* symbols whose values a launch gets after the buffers */
  bool scratch, stack, fault; /* hidden slots (codegen/abi.h) */
  bool heap;                  /* the stack's slot has a heap */
  wick_dim scratch_bytes;     /* for each worker */
  uint64_t bytes;          /* of one launch: the bytes of its operands that are read or written */
  uint64_t launch_weights; /* those of them that are constants */
  uint64_t weights;        /* of one run: each constant once */
  wick_cost model;         /* of one launch: operations, cycles */
  uint64_t cost;           /* of one launch: estimated nanoseconds of one worker */
  uint32_t nlaunch;
  /* launches in one run; a loop whose count is not known counts as one step */
  uint64_t nrun;
  const char *contract; /* of its group (loop/contract.h) */
  const char *schedule; /* of its group: steps */
  /* For a call into the runtime: the node that is called (NULL: none), its group, the buffers of
   * the group's results and parameters. The loop function of that name does nothing. */
  const wick_node *host;
  const wick_func *group;
  const wick_type *operand;
  const wick_program_extent *extent; /* of each operand; NULL: they are constant */
} wick_lowered_kernel;

typedef struct wick_lowered_constant {
  uint32_t constant; /* of the module */
  uint64_t offset, nbytes;
} wick_lowered_constant;

typedef struct wick_lowered_check { /* two sizes that must be equal */
  uint32_t slot[2];
  const wick_shape_constraint *check;
} wick_lowered_check;

typedef struct wick_lowered {
  const char *entry; /* @FUNCTION.entry: arena, constants, then the parameters of the function */
  wick_list(wick_lowered_kernel) kernels;     /* in the order of their first launch */
  wick_list(wick_lowered_constant) constants; /* their positions in the blob, sorted by offset */
  uint64_t constant_bytes; /* of the blob, a multiple of 64; so is each constant's offset */
  uint64_t arena_bytes;    /* a multiple of 64; so are the buffers' offsets */
  wick_dim scratch_bytes;  /* the maximum over the kernels, for each worker */
  /* For dynamic sizes; without them `fill` is NULL, and the next three are empty. The entry then
   * has two more parameters after the constants: the table of sizes, and the offsets of `buffers`
   * in the arena, in units of WICK_ARENA_ALIGN bytes. */
  const char *fill; /* the function that fills the table */
  wick_sizes sizes;
  wick_list(wick_program_buffer) buffers;
  wick_list(wick_lowered_check) checks;
  /* The branches and loops that the entry counts. If there are any, the entry has one more
   * parameter after the constants and before those for sizes: the table of counts. */
  wick_list(wick_program_flow) flows;
  const wick_program_port *port; /* by parameter */
  uint32_t scratch;              /* slot of scratch_bytes */
} wick_lowered;

/* Returns the scratch memory at the upper ends of ranges; more than INT64_MAX / 4 if it is
 * unbounded. */
uint64_t wick_lowered_most_scratch(const wick_lowered *l, const wick_module *m);

/* The pass: adds loop functions to the module of a planned low function, which does not change, and
 * describes them in pass->lowered. Uses with the same group text, schedule and operands share a
 * kernel; an operand that a kernel writes in place is one parameter, @inout. Copies become kernels.
 * Branches and loops on buffers become branches and loops of the entry, which waits for the kernels
 * and reads the condition before it decides.
 *
 * Dynamic sizes are read from a table, with offsets for the buffers in the arena. With
 * pass->planned the offsets are constant nevertheless (plan_memory_most), the function that fills
 * the table fails if sizes violate their constraints, and nothing is counted. With pass->base all
 * sizes are constant. Constants have the offsets of all the module's constants, one after the other
 * in their order, so that both programs share the base program's blob; their data need not exist.
 * The entry counts those branches and loops of the base program that are left. Fails:
 * WICK_EUNSUPPORTED for loops that carry buffers and for constants without data; with the error of
 * wick_nest for an illegal schedule. */
WICK_CHECKED wick_status wick_pass_lower(const wick_pass_context *pass, const wick_func *f,
                                         wick_func **out);

/* Verifies the kernels and finds their hidden slots. Call it after the loop passes. */
WICK_CHECKED wick_status wick_lowered_frames(wick_lowered *l, const wick_module *m,
                                             const wick_target *t, wick_arena *tmp);

#endif
