/* What the files of lowering share: the entry that is being built, and where values of the planned
 * function are in it. */
#ifndef WICK_LOWER_LOWER_STATE_H
#define WICK_LOWER_LOWER_STATE_H

#include "ir/build.h"
#include "low/alias.h"
#include "lower/lower.h"
#include "lower/lower_kernel.h"

typedef struct lower_state {
  const wick_func *f;
  const wick_target *target;
  wick_alias alias;
  wick_builder b; /* the entry */
  wick_value arena, constants;
  wick_value *to;           /* per value: the buffer in the entry; 0: not made yet */
  wick_list(uint32_t) made; /* the values that have one, in order */
  wick_value *index;        /* per value: of a loop's index, the number in the entry */
  uint64_t steps;           /* of the loops around, as far as they are known */
  bool pending;             /* something may have been launched that is not waited for */
  uint64_t *offset;         /* per constant of the module: its place in the blob + 1; 0: none yet */
  wick_names keys;          /* of kernels: the number in this table less 1 is the kernel's */
  wick_names weights;       /* kernels with the constants that they have read */
  const bool *concurrent;   /* per node: low/concurrent.h */
  bool planned;             /* by the caller's word: places are constant, sizes or not */
  bool open;                /* sizes are not constant: */
  wick_value table, places; /* parameters of the entry, then */
  uint32_t *buffer;         /* per value that is a root in the arena: the number of its place + 1 */
  wick_value counts;        /* a parameter of the entry: what it counts; 0: nothing */
  bool fault;               /* the last launch may fail: nothing runs beside it */
  wick_arena *mem, *tmp;
  wick_arena *keep; /* of what *out points to */
  wick_lowered *out;
} lower_state;

wick_status lower_fail(const lower_state *s, const wick_node *n, wick_code code, const char *what);
/* The number that the table of sizes has for d. */
wick_value lower_size(lower_state *s, wick_dim d);
/* The buffer in the entry of a value of the function, which is made where it is first wanted. */
wick_status lower_operand(lower_state *s, const wick_node *n, wick_value v, wick_value *out);
/* A launch of the kernel for this use, which is built where there is none yet. */
wick_status lower_launch(lower_state *s, const wick_node *n, const wick_kernel_use *use,
                         const wick_value *operand);
/* What was launched beside others has ended after this. */
void lower_wait(lower_state *s);
wick_status lower_node(lower_state *s, const wick_node *n);
/* Finds the branches and loops that are counted. */
void lower_flows(lower_state *s);
wick_status lower_if(lower_state *s, const wick_node *n);
wick_status lower_loop(lower_state *s, const wick_node *n);

#endif
