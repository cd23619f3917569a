/* From a planned low function to loop functions: a kernel for each group as it is used, and an
 * entry that launches them on the parts of one arena. */
#ifndef WICK_LOWER_LOWER_H
#define WICK_LOWER_LOWER_H

#include "graph/group/cost.h"
#include "ir/pass.h"
#include "lower/lower_sizes.h"
#include "runtime/program.h"
#include "target/target.h"

typedef struct wick_lowered_kernel {
  const char *name;        /* of its loop function */
  wick_loc loc;            /* of the first instruction that it runs */
  wick_dim tasks;          /* of one launch */
  wick_dim_list sizes;     /* symbols that a launch is given after the buffers */
  bool scratch, fault;     /* hidden slots (codegen/abi.h) */
  wick_dim scratch_bytes;  /* for each worker */
  uint64_t bytes;          /* of one launch: of its operands, as far as they are read or written */
  uint64_t launch_weights; /* those that are constants */
  uint64_t weights;        /* of one run: each constant once */
  wick_cost model;         /* of one launch: operations, cycles */
  uint64_t cost;           /* of one launch: estimated nanoseconds of one worker */
  uint32_t nlaunch;
  uint64_t nrun;        /* launches of one run: of a loop whose count is not known, one step's */
  const char *contract; /* of its group (loop/contract.h) */
  const char *schedule; /* of its group: steps */
  /* The runtime's part of it: the node that is called (NULL: none), its group, the buffers of the
   * group's results and parameters. The function of that name does nothing. */
  const wick_node *host;
  const wick_func *group;
  const wick_type *operand;
  const wick_program_extent *extent; /* of each; NULL: they are constant */
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
  wick_list(wick_lowered_constant) constants; /* where each lies in the blob, by offset */
  uint64_t constant_bytes; /* of the blob, a multiple of 64; each constant begins at one */
  uint64_t arena_bytes;    /* a multiple of 64; so are the buffers' offsets */
  wick_dim scratch_bytes;  /* the most of one kernel, for each worker */
  /* Where sizes are not constant; else `fill` is NULL, and what follows is empty. The entry then
   * has two more parameters after the constants: the table of sizes, and the places of `buffers`
   * in the arena, in units of WICK_ARENA_ALIGN bytes. */
  const char *fill; /* the function that fills the table */
  wick_sizes sizes;
  wick_list(wick_program_buffer) buffers;
  wick_list(wick_lowered_check) checks;
  /* What the entry counts. Where there is any, it has one more parameter after the constants, in
   * front of those for sizes: the table of counts. */
  wick_list(wick_program_flow) flows;
  const wick_program_port *port; /* by parameter */
  uint32_t scratch;              /* slot of scratch_bytes */
} wick_lowered;

/* The scratch memory at the upper ends of ranges; more than INT64_MAX / 4 where that is no number.
 */
uint64_t wick_lowered_most_scratch(const wick_lowered *l, const wick_module *m);

/* The pass: adds loop functions to the module of a planned low function, which stays as it is, and
 * says in pass->lowered what they are. Kernels of the same group text, schedule and operands are
 * one; an operand that a kernel writes in place is one parameter, @inout. Copies become kernels.
 * Branches and loops on buffers become those of the entry, which waits and reads before it decides.
 *
 * Sizes that are not constant come from a table, with places for what lies in the arena. With
 * pass->planned these are constant all the same (plan_memory_most), the function that fills the
 * table fails where sizes are not what they must be, and nothing is counted. With pass->base all
 * sizes are constant; constants lie where those of the module lie, one after the other in their
 * order, so that the other program's blob is theirs, too, and nothing is asked of their data; what
 * is counted are those of its branches and loops that are left. Fails: WICK_EUNSUPPORTED for loops
 * that carry buffers, constants without data; what the nest says of a schedule. */
WICK_CHECKED wick_status wick_pass_lower(const wick_pass_context *pass, const wick_func *f,
                                         wick_func **out);

/* Verifies the kernels, and finds their hidden slots, when the loop passes have run. */
WICK_CHECKED wick_status wick_lowered_frames(wick_lowered *l, const wick_module *m,
                                             const wick_target *t, wick_arena *tmp);

#endif
