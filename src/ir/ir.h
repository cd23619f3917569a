/* The intermediate representation, which all levels share: a module holds types, constants and
 * functions; a function holds a region; a region holds nodes in order. The levels (graph, group,
 * low, loop) differ in which operators and types may appear.
 *
 * Functions are immutable. Their nodes are in one array in pre-order: a node with regions is
 * followed by the nodes of its first region (which ends in `yield`), then those of its second,
 * and so on. An index is therefore a point in time, side tables are arrays by index, and a
 * single pass over the array visits every definition before its uses. Values are numbered from
 * 1. */
#ifndef WICK_IR_IR_H
#define WICK_IR_IR_H

#include "base/status.h"
#include "base/str.h"
#include "base/string_table.h"
#include "ir/dim.h"
#include "ir/type.h"

/* The operators: WICK_OP_add, ... in the order of ops.def. */
typedef enum wick_opcode {
  WICK_OP_none,
#define OP(name) WICK_OP_##name,
#include "ir/ops.def"
  WICK_NOP
} wick_opcode;

typedef enum wick_level { WICK_GRAPH = 1, WICK_GROUP = 2, WICK_LOW = 4, WICK_LOOP = 8 } wick_level;

typedef struct wick_value {
  uint32_t id; /* 0 is "no value" (a missing optional operand) */
} wick_value;

typedef struct wick_loc {
  uint32_t id; /* into the module's locations; 0 is "nowhere" */
} wick_loc;

typedef struct wick_loc_info {
  const char *text;
  wick_loc call; /* the call from which it was inlined; 0: none */
  uint32_t ncall;
} wick_loc_info;

typedef struct wick_func wick_func;

/* ---- attributes ---- */

typedef enum wick_attr_kind {
  WICK_ATTR_NONE,
  WICK_ATTR_INT,    /* .i */
  WICK_ATTR_BOOL,   /* .i, 0 or 1 */
  WICK_ATTR_AXIS,   /* .i, checked against the rank of the first operand; stored as 0 .. rank-1 */
  WICK_ATTR_FLOAT,  /* .f */
  WICK_ATTR_STRING, /* .s */
  WICK_ATTR_ENUM,   /* .i, an index into the spec's words */
  WICK_ATTR_INTS,   /* .n .ints */
  WICK_ATTR_FLOATS, /* .n .floats */
  WICK_ATTR_DIMS,   /* .n .dims */
  WICK_ATTR_AXES,   /* .n .axes: the axes of a stage */
  WICK_ATTR_CONST,  /* .imm: a constant of the module, or an immediate number */
  WICK_ATTR_FUNC    /* .s: a function's or group's name in the module */
} wick_attr_kind;

typedef struct wick_axis {
  wick_dim sym; /* a symbol with the range 0 .. extent-1 */
  wick_dim extent;
  bool reduce;
} wick_axis;

/* Returns the least and the largest value of d over the axes. The results are expressions. Axes of
 * dynamic extent are eliminated if d is linear in them: the resulting expressions bound d more
 * tightly than the range of d. In `y*2 - 1 < Y` for y below floordiv(Y, 2), d and its bound share
 * Y. */
void wick_axes_ends(wick_dims *t, wick_dim d, uint32_t n, const wick_axis *axis,
                    wick_dim *out_least, wick_dim *out_most);

typedef struct wick_imm { /* an immediate: the number that every element equals */
  uint32_t constant;      /* a constant of the module, from 1; 0: the number is f or i */
  double f;               /* if the element type is a float */
  int64_t i;              /* if it is an integer or bool (u64: its bits) */
} wick_imm;

enum { WICK_ATTR_UNSET = 0x7fffffff, WICK_MAX_CONTENT = 64 };

typedef struct wick_attr {
  uint32_t n; /* of ints, floats, dims, axes; else 0; WICK_ATTR_UNSET: use the operator's default */
  union {
    int64_t i;
    double f;
    const char *s; /* interned in the module: equal strings are equal pointers */
    const int64_t *ints;
    const double *floats;
    const wick_dim *dims;
    const wick_axis *axes;
    wick_imm imm;
  };
} wick_attr;

/* The attributes of an operator by name: WICK_ATTR_conv_stride is the position of `stride` among
 * those of a conv. Code that handles several operators uses the names of one of them. The registry
 * test compares all names with the operators' entries, and such operators with each other. */
enum {
#define OP(name) WICK_ATTR_before_##name = -1,
#define ATTR(op, name) WICK_ATTR_##op##_##name,
#include "ir/ops.def"
};

/* ---- nodes, regions, functions ---- */

typedef struct wick_region {
  wick_value first; /* parameters are first, first + 1, ... */
  uint32_t nparam;
  uint32_t begin, end; /* node indices, end excluded; node end-1 is the `yield` */
} wick_region;

typedef struct wick_node {
  wick_opcode op;
  uint16_t nin, nout, nregion, nattr;
  wick_loc loc;
  wick_value first; /* results are first, first + 1, ... */
  uint32_t end;     /* index after the last node of its regions; own index + 1 without regions */
  const wick_value *in;
  const wick_attr *attr; /* as many as the operator declares, defaults filled in */
  const wick_region *region;
} wick_node;

/* How a value relates to a tensor of the user's model. */
typedef enum wick_relation { WICK_REL_NONE, WICK_REL_SAME } wick_relation;

typedef struct wick_value_info {
  wick_type type;
  uint32_t name; /* the user's tensor, interned in the module; 0: none */
  wick_relation relation;
  uint32_t ncontent; /* numel if `content` is known, else 0 */
  const wick_dim
      *content; /* for small integer tensors: the elements that inference knows; NULL: none */
} wick_value_info;

/* Two sizes that must be equal for the function's code to be correct. Code that binds the symbols
 * to numbers must check this, because ranges alone do not imply it. */
typedef struct wick_shape_constraint {
  wick_dim a, b; /* expressions over symbols of the parameters */
  wick_loc loc;
  bool branch; /* checked when a branch that relies on it is entered (operator `if`) */
} wick_shape_constraint;

/* WICK_TAKEN: read, and perhaps overwritten; the caller does not need its contents afterwards.
 * WICK_GIVEN + k, in graphs: where the caller wants it, result k is in the parameter's memory.
 * WICK_STATE + k: the same, and a session passes result k to the next run (wick_module.initials). */
typedef enum wick_qualifier {
  WICK_IN,
  WICK_OUT,
  WICK_INOUT,
  WICK_TAKEN,
  WICK_GIVEN,
  WICK_STATE = 1 << 30
} wick_qualifier;

static inline bool wick_is_given(wick_qualifier q) { return q >= WICK_GIVEN; }
static inline bool wick_is_state(wick_qualifier q) { return q >= WICK_STATE; }
/* The result of a parameter that is given. */
static inline uint32_t wick_given_result(wick_qualifier q)
{
  return (uint32_t)q - (uint32_t)(wick_is_state(q) ? WICK_STATE : WICK_GIVEN);
}

typedef struct wick_use_of_func {
  const char *name; /* interned */
  bool run;         /* some node runs it; else closures name it */
} wick_use_of_func;

struct wick_func {
  wick_module *module;
  const char *name;
  wick_level level;
  bool procedure;             /* low, loop: it is called, and not launched (ir/call.h) */
  uint32_t nparam;            /* values 1 .. nparam */
  const wick_qualifier *qual; /* per parameter */
  uint32_t nnode;
  const wick_node *node;        /* the last is `return` */
  uint32_t nvalue;              /* values are 1 .. nvalue */
  const wick_value_info *value; /* [nvalue + 1] */
  uint32_t nconstraint;
  const wick_shape_constraint *constraint;
  const char *schedule; /* groups: steps, canonical text; NULL: unscheduled */
  const char *contract; /* groups: NULL until formed */
  bool
      head; /* only the types of its parameters and results are known; the parser defines it later */
  bool acts;        /* one of its operators has an effect by itself */
  uint32_t ncallee; /* the functions that its nodes name, each once, in their order */
  const wick_use_of_func *callee;
};

static inline wick_type wick_type_of(const wick_func *f, wick_value v)
{
  return f->value[v.id].type;
}
static inline const wick_node *wick_return(const wick_func *f) { return &f->node[f->nnode - 1]; }
const wick_type_info *wick_info_of(const wick_func *f, wick_value v);

/* The elements of a `const`. */
static inline const wick_imm *wick_const_imm(const wick_node *n)
{
  return &n->attr[WICK_ATTR_const_value].imm;
}
/* The axes of a stage: .n .axes. */
static inline const wick_attr *wick_stage_axes(const wick_node *stage)
{
  return &stage->attr[WICK_ATTR_map_axes];
}
/* The indices of the element that a `read`, an `element_load` or an `element_store` accesses: .n
 * .dims. */
static inline const wick_attr *wick_read_index(const wick_node *n)
{
  return &n->attr[WICK_ATTR_read_index];
}

/* Returns the distance, in elements of the tensor that is read, between neighbours along an axis; 0
 * if it is not known. */
int64_t wick_read_stride(const wick_func *g, const wick_node *read, wick_dim sym);

/* Returns the largest number of rows that a loop stacks, from the loop's attributes; 0 if it has
 * none. */
static inline wick_dim wick_loop_most(const wick_attr *attr)
{
  return attr[WICK_ATTR_loop_most].n ? attr[WICK_ATTR_loop_most].dims[0] : wick_dim_const(0);
}

/* uses[v].. : the node indices that use value v, in order: use[first[v]] .. use[first[v + 1] - 1].
 */
typedef struct wick_uses {
  const uint32_t *first; /* [nvalue + 2] */
  const uint32_t *use;
} wick_uses;
wick_uses wick_uses_of(const wick_func *f, wick_arena *mem);
/* definer[v]: the index of the node that defines v; UINT32_MAX for parameters of the function or of
 * a region. */
const uint32_t *wick_definers_of(const wick_func *f, wick_arena *mem);
/* Returns the symbols that occur in the sizes of f's values, each once: first those of the
 * parameters, in order of appearance. A kernel's function has a scalar parameter for each
 * (loop/nest.h). */
wick_dim_list wick_func_sizes(const wick_func *f, wick_arena *mem);

/* Returns whether one of n shape constraints implies that a and b are equal
 * (shape_constraint.c). */
bool wick_shape_constraints_imply(wick_dims *t, uint32_t n, const wick_shape_constraint *check,
                                  wick_dim a, wick_dim b);
/* Reports the first shape constraint of f that is violated for these values of symbols: "sizes N
 * and 2*M differ: 3 and 4, for N = 3, M = 2", with its location. */
WICK_CHECKED wick_status wick_shape_constraints_hold(const wick_func *f, uint32_t n,
                                                     const wick_dim *sym, const int64_t *val,
                                                     wick_arena *mem);

/* ---- module ---- */

/* Computes the bytes of a large constant from those of another one. The bytes are computed when
 * they are first needed, in parts that threads can share. A struct that begins with this one adds
 * the data that `make` needs. */
typedef struct wick_deferred_constant wick_deferred_constant;
struct wick_deferred_constant {
  uint32_t from, nparts; /* the other constant */
  /* What `make` depends on besides `from` and the two types; NULL: nothing. Constants of one type
   * whose members are equal have equal bytes. */
  const void *other;
  /* Writes the bytes of one part at `to`, which are zeroed before; `from` may be misaligned. */
  void (*make)(const wick_deferred_constant *r, const void *from, uint32_t part, void *to);
};

typedef struct wick_constant {
  const char *name;
  wick_type type; /* a tensor */
  /* elements in order, little-endian; NULL: declared only, collected, or not computed yet */
  const void *data;
  uint64_t nbytes;
  const wick_deferred_constant *deferred; /* NULL: none */
} wick_constant;

typedef struct wick_pair {
  const char *key, *value;
} wick_pair;

typedef struct wick_initial { /* what a state is before the first run */
  uint32_t name;              /* the state's, in the module */
  uint32_t constant;
} wick_initial;

/* Large data of constants, which may be freed before the module. */
typedef struct wick_growable_arena {
  wick_arena mem;
  const char *at;
  size_t nbytes;
} wick_growable_arena;

struct wick_module {
  wick_guard *guard;
  wick_arena mem; /* everything that is interned or lives as long as the module */
  wick_dims *dims;
  wick_names names;
  const char *name;
  wick_type_table *types;
  wick_list(wick_constant) constants; /* at[0] is unused */
  wick_list(wick_data) data;          /* at[0] is unused; types refer to them by number */
  wick_list(wick_growable_arena) constant_arenas;
  wick_list(const wick_func *) funcs; /* current versions, in order of definition */
  wick_list(wick_loc_info) locs;      /* at[0] is "" */
  wick_list(wick_pair) metadata;
  wick_list(wick_initial) initials; /* other states are 0 before the first run */
  /* of the entry of a program of the language: its parameters, then its result; 0: another model */
  uint32_t nparam_part, nresult_part;
  const wick_part *param_part, *result_part;
  /* an element of a string constant is a number in this table */
  wick_string_table strings;
  wick_list(uint32_t) constant_of_name; /* by name: the constant's number, or 0 */
  wick_list(uint32_t) func_of_name;     /* by name: index into funcs + 1, or 0 */
  wick_list(uint32_t) data_of_name;     /* by name: the data type's number, or 0 */
};

wick_module *wick_module_create(wick_guard *guard, const char *name);
void wick_module_free(wick_module *m);

const char *
wick_intern(wick_module *m,
            const char *s); /* equal strings, equal pointers; lives as long as the module */
wick_loc wick_loc_add(wick_module *m,
                      const char *location); /* "net.onnx: node \"prob\" (Softmax)" */
static inline const char *wick_loc_text(const wick_module *m, wick_loc l)
{
  return m->locs.at[l.id].text;
}
/* Returns the location of the call from which a location was inlined; 0: none. */
static inline wick_loc wick_loc_call(const wick_module *m, wick_loc l)
{
  return m->locs.at[l.id].call;
}
/* Returns the location l in a function that a call inlines. Of more than WICK_LOC_CALLS calls, some
 * are left out. */
enum { WICK_LOC_CALLS = 16 };
wick_loc wick_loc_inlined(wick_module *m, wick_loc l, wick_loc call);

/* Allocates storage for the data of a constant that is about to be added: not zeroed, aligned to 64
 * bytes. */
void *wick_module_alloc(wick_module *m, size_t nbytes);
/* Returns the bytes of a constant as aligned elements, or NULL if it has no data. Computes them if
 * they are deferred. Copies them if they are misaligned, as in a mapped file. */
const void *wick_constant_bytes(wick_module *m, uint32_t id);
/* Copies the data of misaligned constants, except large f32 constants: their readers call
 * wick_constant_bytes, or compute the bytes of a deferred constant. */
void wick_module_align(wick_module *m);
/* Computes the bytes of all deferred constants that current functions use. Call it before
 * printing. */
void wick_module_compute_deferred(wick_module *m, wick_arena *tmp);
/* Frees the storage that no constant of a current function uses. Constants in freed storage lose
 * their data. */
void wick_module_collect(wick_module *m, wick_arena *tmp);

/* Adds a constant; data is not copied. A suffix makes the name unique if it is taken.
 * Returns its number, from 1. */
uint32_t wick_constant_add(wick_module *m, const char *name, wick_type type, const void *data,
                           uint64_t nbytes);
/* Adds a constant whose bytes are computed from another one's. A small constant is computed at once
 * if the other one has data; a large one later (until then its data is NULL). `r` must live as long
 * as the module. */
uint32_t wick_constant_defer(wick_module *m, const char *name, wick_type type, uint64_t nbytes,
                             const wick_deferred_constant *r);
static inline const wick_constant *wick_constant_get(const wick_module *m, uint32_t id)
{
  return &m->constants.at[id];
}

uint32_t wick_constant_find(const wick_module *m, const char *name); /* 0: none */

/* Sets and returns the constant that a state, a parameter of that name, is before the first run. 0:
 * zeros. */
void wick_initial_set(wick_module *m, uint32_t name, uint32_t constant);
uint32_t wick_initial_get(const wick_module *m, uint32_t name);

/* Returns the current version of the function of that name, or NULL. wick_module_set replaces the
 * version of the same name, or appends the function. */
const wick_func *wick_module_find(const wick_module *m, const char *name);
/* Returns a function of which only the types of parameters and results are known, so that calls of
 * it can be built before it is. `qual` may be NULL. It lives in `mem`. */
wick_func *wick_func_head(wick_module *m, wick_level level, const char *name, uint32_t nparam,
                          const wick_type *param, const wick_qualifier *qual, uint32_t nresult,
                          const wick_type *result, wick_arena *mem);
/* The index of that function, which must exist, in the module's functions. */
uint32_t wick_module_index(const wick_module *m, const char *name);
void wick_module_set(wick_module *m, const wick_func *f);
void wick_module_remove(wick_module *m, const char *name); /* the others keep their order */

#endif
