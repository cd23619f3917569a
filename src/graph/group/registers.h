/* Numbers in registers: the nodes of a procedure that are no kernels.
 *
 * In a procedure a tensor of rank 0 is a scalar. Nodes on numbers become scalar code, from the
 * bodies of their stages, so that checks are those of the operator; an element of a tensor at
 * indices of a run is a load. A row at an index of a run is the tensor's memory (gather,
 * gather_nd); an element or a row that is replaced (scatter_nd) is written into a copy, which
 * later passes remove where the old tensor is not needed. */
#ifndef WICK_GRAPH_GROUP_REGISTERS_H
#define WICK_GRAPH_GROUP_REGISTERS_H

#include "graph/group/form_state.h"

/* Returns the type of the register that holds v; 0: v is in memory. */
wick_type wick_form_number(const wick_func *f, wick_value v);
/* Returns, per node, whether the functions below compute it in a procedure. */
const bool *wick_form_apart(const wick_func *f, wick_arena *tmp);
/* Emits such a node, or a constant that is a number. */
WICK_CHECKED wick_status wick_form_scalar(form_state *s, const wick_node *n);
/* Returns the register of a number, which may be loaded from memory. */
wick_value wick_form_register(form_state *s, wick_value v);
/* Returns the buffer of a value that has none yet and is no constant: a register is stored. 0: it
 * has neither. */
wick_value wick_form_stored(form_state *s, wick_value v);
/* Emits the stores into copies of tensors that node `use` is the first to need. */
void wick_form_stores(form_state *s, uint32_t use);
/* Loads n's result, an element of its operand at a constant position. It is loaded here, because
 * the operand may be overwritten before the first use. */
WICK_CHECKED wick_status wick_form_part(form_state *s, const wick_node *n, int64_t at);
/* Makes v a row of x, which begins at its element `at`. */
void wick_form_select(form_state *s, wick_value v, wick_value x, wick_value at);
/* Forgets the registers and rows that were found since these lengths of s->found. */
void wick_form_forget(form_state *s, uint32_t nfound);

#endif
