/* The state that forming groups (form_kernels.c) and forming control flow (form_flow.c) share. */
#ifndef WICK_GRAPH_GROUP_FORM_STATE_H
#define WICK_GRAPH_GROUP_FORM_STATE_H

#include "graph/group/assign.h"
#include "graph/group/halo.h"
#include "graph/updates.h"
#include "loop/tuning_records.h"

/* A part of a buffer: from element `offset` on, an i64 register. */
typedef struct wick_form_row {
  wick_value buffer, offset;
} wick_form_row;

/* A store into a copy of a tensor that is not built yet (registers.h). */
typedef struct wick_form_store {
  const wick_node *node; /* scatter_nd */
  wick_value last;       /* the result of the last store of the chain that it is in */
  uint32_t use;          /* the node of its region that uses this result first */
  wick_value from;       /* 0: the result of the store before it in the chain */
  wick_value at, by;
} wick_form_store;

/* A copy of a value with a halo, for the groups of one region that require one. */
typedef struct wick_form_copy {
  uint32_t n, region; /* n: the groups */
  wick_halo halo;
  wick_value made; /* 0: not yet */
} wick_form_copy;

typedef struct form_state {
  const wick_func *f;
  const wick_target *target;
  wick_tuning_records *records;
  wick_arena *mem, *tmp;
  wick_groups g;
  wick_value *low;           /* per value: its buffer */
  wick_list(uint32_t) inner; /* values of constants that have a buffer, in order */
  /* in a procedure (registers.h): per value, its register, or the row that it is, or 0; the values
   * that got one of them, in order; per node, whether it is scalar code */
  bool registers;
  wick_value *reg;
  wick_form_row *row;
  wick_list(uint32_t) found;
  const bool *apart;
  wick_uses uses;
  wick_list(wick_form_store) stores; /* in order */
  const wick_updates *updates;       /* of the functions that are called */
  const wick_value *result;          /* in a procedure: per result, its buffer; 0: a number */
  wick_builder b;                    /* the low function */
  uint32_t ngroup;
  wick_func **func;     /* per node that names a group: the group */
  wick_halo *halo;      /* per value: the zeros around its buffer */
  wick_form_copy *copy; /* per value */
  /* space for one group at a time: its operands; and per value, its value in the group, or 0 */
  wick_value *operand, *to;
} form_state;

/* Returns the buffer of a value. An immediate that is needed in memory becomes a constant of the
 * module. */
wick_value wick_form_low(form_state *s, wick_value v);
/* Emits a kernel that fills a buffer with a number. */
WICK_CHECKED wick_status wick_form_fill(form_state *s, wick_value buffer, wick_type tensor,
                                        const wick_imm *by);
/* Returns the type of a tensor's buffer, or of one that holds an object. */
wick_type wick_form_buffer(const form_state *s, wick_type tensor, wick_space space);
/* Emits the instructions of the nodes begin .. end-1, which are in one region. */
void wick_form_nodes(form_state *s, uint32_t begin, uint32_t end, wick_errors *all);
/* Fails at the first node of f that has an effect, or an object as an operand or a result. */
WICK_CHECKED wick_status wick_form_refuses_objects(const wick_func *f, wick_arena *tmp);
/* Adds a map that copies the results v[] if the group ends in a fold, because templates compute folds
 * inside the loops of a map. */
void wick_form_output(wick_builder *b, uint32_t nout, wick_value *v);
/* Builds the group of an operator that works on slices again, on tensors with at most three
 * dimensions. If that is not possible, the group stays. joins: per
 * operand and result, the bits of dimensions that are contiguous with the next. */
WICK_CHECKED wick_status wick_form_slices(form_state *s, uint32_t i, const uint32_t *joins,
                                          wick_func **group);
/* Copies from[k] to to[k], for all k at once: a source that is a view of another destination is
 * copied to a temporary buffer first. 0: nothing. */
void wick_form_assign(form_state *s, uint32_t n, const wick_value *to, wick_value *from);
/* Emits an `if` or a `loop` (form_flow.c). */
void wick_form_flow(form_state *s, uint32_t i, wick_errors *all);

#endif
