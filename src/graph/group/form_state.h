/* What forming groups and forming control flow share. */
#ifndef WICK_GRAPH_GROUP_FORM_STATE_H
#define WICK_GRAPH_GROUP_FORM_STATE_H

#include "graph/group/assign.h"
#include "graph/group/halo.h"
#include "loop/records.h"

typedef struct form_state {
  const wick_func *f;
  const wick_target *target;
  wick_records *records;
  wick_arena *mem, *tmp;
  wick_groups g;
  wick_value *low;           /* per value: its buffer */
  wick_list(uint32_t) inner; /* values of constants that were given a buffer, in order */
  wick_builder b;            /* the low function */
  uint32_t ngroup;
  wick_func **func; /* per node that names a group: the group */
  wick_halo *halo;  /* per value: the zeros around its buffer */
  /* room for one group at a time: its operands; per value what it is in the group, or 0 */
  wick_value *operand, *to;
} form_state;

/* The buffer of a value; immediates that are wanted in memory become constants of the module. */
wick_value wick_form_low(form_state *s, wick_value v);
/* A kernel that writes a number everywhere. */
WICK_CHECKED wick_status wick_form_fill(form_state *s, wick_value buffer, wick_type tensor,
                                        const wick_imm *by);
wick_type wick_form_buffer(form_state *s, wick_type tensor, wick_space space);
/* The instructions of the nodes begin .. end-1, of one region. */
void wick_form_nodes(form_state *s, uint32_t begin, uint32_t end, wick_errors *all);
/* form_flow.c: an `if` or a `loop`. */
void wick_form_flow(form_state *s, uint32_t i, wick_errors *all);

#endif
