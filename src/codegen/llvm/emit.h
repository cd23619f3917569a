/* The state of the emitter, for the files of this folder: the function that is being built, and its
 * values.
 *
 * Representation: f32, f64 and integers are LLVM's; bool is i1 (a byte in memory); all narrow
 * floats are integers of their size, since they are only moved, and converted to and from f32. A
 * vector of one lane is a scalar. */
#ifndef WICK_CODEGEN_LLVM_EMIT_H
#define WICK_CODEGEN_LLVM_EMIT_H

#include <llvm-c/Core.h>

#include "codegen/abi.h"
#include "codegen/options.h"

typedef struct emit emit;

/* Emits node n of e->f and sets its results in e->value. */
typedef void (*emit_row)(emit *e, const wick_node *n);

typedef struct emit_address { /* buffer + index, in bytes */
  uint32_t buffer, index;
  LLVMValueRef pointer;
  uint32_t next; /* of the same index, + 1 */
} emit_address;

/* Vector loads of a block since the last point over which no load moves (memory.c). */
typedef struct emit_group {
  LLVMBasicBlockRef block;
  uint32_t nbuffer, buffer[8], first[8]; /* first: norder at the buffer's first load */
} emit_group;

typedef struct emit_half { /* every second element of a vector of bytes, widened (dot.c) */
  LLVMBasicBlockRef block;
  uint32_t value;
  bool odd;
  LLVMValueRef half;
} emit_half;

struct emit {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  const wick_target *target;
  const wick_codegen_options *options;
  const emit_row *rows; /* by opcode */
  wick_arena *mem;      /* of the whole compilation, and errors */
  wick_status status;   /* the first failure */

  /* of one function */
  const wick_func *f;
  wick_frame frame;
  LLVMValueRef function;
  LLVMBasicBlockRef entry; /* ends in a jump; invariant code is placed before it */
  LLVMValueRef *value;     /* by value */
  uint32_t *order;         /* by value: later definitions have greater numbers; 0: in `entry` */
  uint32_t norder;
  const uint32_t *definer; /* by value */
  wick_list(emit_address) addresses;
  uint32_t *address_of; /* by value used as an index: its first address, + 1 */
  bool nontemporal;     /* something has been stored past the caches */
  emit_group group;     /* in the block being emitted */
  wick_list(emit_half) halves;
  LLVMValueRef scratch, stack, fault;       /* hidden slots */
  LLVMValueRef begin, end, task;            /* of a kernel; task: of the node being emitted */
  LLVMValueRef launch, context_slot, slots; /* of an entry */
  const bool *late; /* by value: a slot that is loaded for each launch and view; NULL: none is */
};

void emit_fail(emit *e, const wick_node *n, const char *fmt, ...) WICK_PRINTF(3, 4);

/* ---- emit.c: types, values, intrinsics ---- */
static inline const wick_type_info *emit_info(const emit *e, wick_value v)
{
  return wick_info_of(e->f, v);
}
static inline LLVMValueRef emit_get(const emit *e, wick_value v) { return e->value[v.id]; }
void emit_set(emit *e, wick_value v, LLVMValueRef x);
LLVMTypeRef emit_elem_type(const emit *e, wick_elem elem);
LLVMTypeRef emit_type(const emit *e, wick_elem elem, uint32_t lanes);
LLVMTypeRef emit_type_of(const emit *e, wick_value v); /* of scalars and vectors */
LLVMTypeRef emit_pointer(const emit *e);
LLVMTypeRef emit_word(const emit *e); /* an integer of a pointer's width */
LLVMValueRef emit_i64(const emit *e, int64_t i);
LLVMValueRef emit_number(const emit *e, wick_elem elem, uint32_t lanes, wick_scalar s);
LLVMValueRef emit_float(const emit *e, LLVMTypeRef type, double x); /* a splat for vectors */
LLVMValueRef emit_int(const emit *e, LLVMTypeRef type, int64_t x);
/* "llvm.fma", overloaded by the types. */
LLVMValueRef emit_intrinsic(emit *e, const char *name, LLVMTypeRef *type, size_t ntype,
                            LLVMValueRef *arg, uint32_t narg);
/* Returns x; if it is a scalar, the vector of one lane. */
LLVMValueRef emit_as_vector(const emit *e, LLVMValueRef x);
/* Returns whether v is a constant, and the number that all its elements equal. Looks through
 * broadcasts. */
bool emit_known(const emit *e, wick_value v, wick_scalar *out);
LLVMBasicBlockRef emit_block(const emit *e, const char *name);
/* Bytes of one element in memory; 0 for sub-byte elements. */
uint64_t emit_elem_bytes(wick_elem elem);

/* ---- memory.c ---- */
/* Emits a barrier before the end of a function, if it has stored past the caches. */
void emit_flush(emit *e);

/* ---- table.c ---- */
/* Returns the elements of a buffer at `at` for a vector of indices; NULL: it is no small table of bytes, or
 * the target has no instructions for that. */
LLVMValueRef emit_table(emit *e, wick_value buffer, LLVMValueRef at, LLVMValueRef index);

/* ---- function.c ---- */
void emit_function(emit *e, const wick_func *f);
/* Makes f local to the object if nothing outside of it refers to f. */
void emit_inside(const emit *e, const wick_func *f);
LLVMValueRef emit_declare(const emit *e, const char *name, bool entry, LLVMTypeRef *out_type);
void emit_attribute(const emit *e, LLVMValueRef f, const char *name, uint64_t value);
void emit_attributes(const emit *e, LLVMValueRef f); /* those that every function has */
/* Returns an operand of a launch. */
LLVMValueRef emit_operand(const emit *e, wick_value v);

/* ---- procedure.c ---- */
void emit_procedure(emit *e, const wick_func *f);
/* Ends a procedure with these results, or with a status if it can fail; NULL: it is 0. */
void emit_procedure_return(emit *e, uint32_t n, const wick_value *v);
void emit_procedure_fail(emit *e, LLVMValueRef status);
/* Runs LLVM's pipeline for scalar code on the functions that have been emitted. */
WICK_CHECKED wick_status emit_optimize(emit *e, const char *passes, void *machine);
/* Says that the first parameter of a function, or argument of a call, is the wick_stack. */
void emit_stack_attribute(const emit *e, LLVMValueRef f);
void emit_stack_argument(const emit *e, LLVMValueRef call);
/* Returns whether f is a procedure that reaches recursion. */
bool emit_gets_limit(LLVMValueRef f);
/* Returns the bytes of its caller's stack that a bundle uses for recursion. */
uint64_t emit_recursion_bytes(const emit *e);
/* Returns the name that f has in the object. */
const char *emit_symbol(const emit *e, const wick_func *f);
/* Returns whether f calls procedures. */
bool emit_calls(const wick_func *f);
/* Returns whether f is a procedure whose calls take long, compared with a call: it has loops, takes and
 * returns nothing but buffers, and calls nothing. The passes before have optimized it as a kernel. */
bool emit_is_kernel(const emit *e, const wick_func *f);

/* ---- failure.c ---- */
LLVMValueRef emit_rarely(emit *e, LLVMValueRef branch); /* marks its first target as unlikely */
/* Fails with that code and detail if the condition is true; of: as in wick_fault. */
void emit_check(emit *e, wick_loc loc, LLVMValueRef condition, int64_t code, LLVMValueRef detail,
                int64_t of);
/* Ends the call at loc: fails if the status that it returned is not 0. */
void emit_status(emit *e, wick_loc loc, LLVMValueRef status);
/* Ends a procedure with a failure. */
void emit_failed(emit *e, wick_loc loc, int64_t code, LLVMValueRef detail, int64_t of);
/* Writes all members of a wick_fault; loc, text: 0 and NULL for none. */
void emit_failure_record(emit *e, LLVMValueRef fault, LLVMValueRef task, wick_loc loc,
                         const char *text, int64_t code, LLVMValueRef detail, int64_t of);
/* Emits the functions that write failures, after LLVM's pipeline for procedures. */
void emit_failures(emit *e);
/* Makes a wick_stack without a limit, of a kernel that calls procedures which can fail. */
LLVMValueRef emit_own_stack(emit *e);

/* ---- bundle.c ---- */
void emit_bundle(emit *e, const wick_module *m); /* after all functions of the module */

/* ---- operators ---- */
void emit_node(emit *e, const wick_node *n);
extern const struct emit_named {
  const char *name;
  emit_row row;
} emit_scalar_rows[], emit_float_rows[], emit_cast_rows[], emit_memory_rows[], emit_vector_rows[],
    emit_control_rows[], emit_dot_rows[], emit_high_rows[], emit_run_rows[], emit_procedure_rows[],
    emit_object_rows[], emit_failure_rows[]; /* each ends with a NULL name */

#endif
