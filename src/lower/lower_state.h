/* The state of lowering, for the files lower*.c: the entry that is being built, and the values in
 * it that correspond to those of the planned function. */
#ifndef WICK_LOWER_LOWER_STATE_H
#define WICK_LOWER_LOWER_STATE_H

#include "ir/build.h"
#include "low/alias.h"
#include "lower/lower.h"
#include "lower/lower_kernel.h"

/* What procedures share: the kernels that they call. */
typedef struct lower_procedures {
  wick_names keys;
  wick_list(const wick_func *) kernel; /* by key, less 1 */
} lower_procedures;

typedef struct lower_state {
  const wick_func *f;
  const wick_target *target;
  wick_alias alias;
  wick_builder b; /* the entry */
  wick_value arena, constants;
  wick_value *to;           /* per value: the buffer in the entry; 0: not made yet */
  wick_list(uint32_t) made; /* the values that have a buffer, in order */
  wick_value *index;        /* per value that is a loop's index: the number in the entry */
  uint64_t steps;           /* the steps of the surrounding loops whose counts are known */
  bool pending;             /* a launch may still be running */
  /* per constant of the module: its offset in the blob + 1; 0: none yet */
  uint64_t *offset;
  wick_names keys;           /* keys of kernels: the number of a key less 1 is the kernel's index */
  wick_names weights;        /* pairs of a kernel and a constant that were counted */
  const bool *concurrent;    /* per node: low/concurrent.h */
  bool planned;              /* pass->planned: offsets are constant, also with dynamic sizes */
  bool dynamic;              /* some sizes are dynamic */
  wick_value table, offsets; /* parameters of the entry if sizes are dynamic */
  uint32_t *buffer; /* per value that is a root in the arena: the index of its offset + 1 */
  lower_procedures *procedures; /* in a procedure, which calls its kernels; else NULL */
  wick_value counts;            /* a parameter of the entry: the table of counts; 0: none */
  bool fault;                   /* the last launch may fail: nothing runs concurrently with it */
  wick_arena *mem, *tmp;
  wick_arena *keep; /* for the data that *out points to */
  wick_lowered *out;
} lower_state;

wick_status lower_fail(const lower_state *s, const wick_node *n, wick_code code, const char *what);
/* Returns the number in the table of sizes for d. */
wick_value lower_size(lower_state *s, wick_dim d);
/* Sets *out to the buffer in the entry for a value of the function, which is built when it is first
 * needed. */
wick_status lower_operand(lower_state *s, const wick_node *n, wick_value v, wick_value *out);
/* Launches the kernel for this use, which is built if it does not exist. */
wick_status lower_launch(lower_state *s, const wick_node *n, const wick_kernel_use *use,
                         const wick_value *operand);
/* Waits for all concurrent launches. */
void lower_wait(lower_state *s);
/* Launches a kernel that exists, on the operands of its loop function before the tasks. */
wick_status lower_launch_kernel(lower_state *s, const wick_node *n, wick_lowered_kernel *k,
                                uint32_t nin, wick_value *in);
/* Finds the offset of a constant in the blob. */
wick_status lower_constant(lower_state *s, const wick_node *n, uint64_t *out);
/* Lowers an instruction on buffers: a kernel or a copy. */
wick_status lower_group(lower_state *s, const wick_node *n);
wick_status lower_copy(lower_state *s, const wick_node *n);
wick_status lower_node(lower_state *s, const wick_node *n);
/* Calls the kernel for this use, in a procedure (lower_procedure.c). */
wick_status lower_call_kernel(lower_state *s, const wick_node *n, const wick_kernel_use *use,
                              const wick_value *operand);
/* Launches the low function g as a kernel of one task. */
wick_status lower_launch_function(lower_state *s, const wick_node *n, const wick_func *g,
                                  const wick_value *operand);
/* Lowers all procedures of the module. `s`: the state of the entry, after its nodes. */
wick_status lower_all_procedures(lower_state *s);
/* Finds the branches and loops that are counted. */
void lower_flows(lower_state *s);
wick_status lower_if(lower_state *s, const wick_node *n);
wick_status lower_loop(lower_state *s, const wick_node *n);

#endif
