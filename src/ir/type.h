/* Types. They are interned in the module, so that two types are equal exactly if their handles
 * are.
 *
 * Types are physical: a packed layout is a tensor of higher rank, made by `pack`, whose lanes
 * beyond the logical extent are zero. The storage table has the bits, the alignment and the
 * arithmetic type of each element type. */
#ifndef WICK_IR_TYPE_H
#define WICK_IR_TYPE_H

#include "ir/dim.h"
#include "wick/wick.h"

enum { WICK_MAX_RANK = 16 };

/* ---- elements: the storage table ---- */

typedef enum wick_class {
  WICK_FLOAT,
  WICK_SINT,
  WICK_UINT,
  WICK_LOGIC,
  WICK_COMPLEX,
  WICK_TEXT
} wick_class;

typedef struct wick_storage {
  const char *name; /* "f32" */
  wick_class cls;
  uint8_t bits;      /* of one element of an array in memory; bool 8 */
  uint8_t align;     /* bytes */
  wick_elem arith;   /* the type of its arithmetic: f32 for f16, bf16, f8; i32 for i4 and i2 */
  int8_t mantissa;   /* stored bits of a float's fraction */
  int8_t emin, emax; /* unused (0) for f64, f32 */
} wick_storage;

extern const wick_storage wick_elem_storage[WICK_NELEM];
static inline const char *wick_elem_name(wick_elem e) { return wick_elem_storage[e].name; }
static inline wick_class wick_elem_class(wick_elem e) { return wick_elem_storage[e].cls; }
static inline bool wick_elem_is_float(wick_elem e)
{
  return wick_elem_storage[e].cls == WICK_FLOAT;
}
static inline bool wick_elem_is_int(wick_elem e)
{
  return wick_elem_storage[e].cls == WICK_SINT || wick_elem_storage[e].cls == WICK_UINT;
}
bool wick_elem_parse(const char *s, size_t n, wick_elem *out);
/* Returns the bytes of an array of n elements (sub-byte types are packed, low bits first). */
uint64_t wick_elem_bytes(wick_elem e, uint64_t n);

/* ---- types ---- */

typedef struct wick_type {
  uint32_t id; /* 0 is "no type" */
} wick_type;

typedef enum wick_kind {
  WICK_TENSOR, /* graph and groups: elem, dim[rank] */
  WICK_TUPLE,  /* graph: item[nitem] */
  WICK_BUFFER, /* low and loop: elem, dim[rank], stride, space */
  WICK_SCALAR, /* loop and stage bodies: elem, lanes (1: a scalar, more: a vector) */
  WICK_DATA,   /* graph: a data type of the module, number `data` */
  WICK_REF,    /* graph: a cell that holds values of the types item[nitem] */
  WICK_FN      /* graph: a function value: takes item[0 .. ntake-1], gives item[ntake .. nitem-1] */
} wick_kind;

typedef enum wick_space {
  WICK_IO,
  WICK_CONSTANT,
  WICK_ARENA,
  WICK_SCRATCH,
  WICK_POOL,
  WICK_NSPACE
} wick_space;

typedef struct wick_type_info {
  wick_kind kind;
  wick_elem elem;
  wick_space space;
  uint16_t rank;
  uint16_t lanes;
  const wick_dim *dim;    /* rank of them */
  const wick_dim *stride; /* buffers: in elements, or NULL for dense, last axis fastest */
  uint32_t nitem, ntake, data;
  const wick_type *item;
} wick_type_info;

typedef struct wick_module wick_module;
typedef struct wick_type_table wick_type_table; /* one per module */
wick_type_table *wick_types_create(wick_arena *mem);

static inline bool wick_type_eq(wick_type a, wick_type b) { return a.id == b.id; }
wick_type wick_type_intern(wick_module *m,
                           const wick_type_info *info); /* copies what it points to */
const wick_type_info *wick_type_get(const wick_module *m, wick_type t);
wick_type wick_type_tensor(wick_module *m, wick_elem e, uint32_t rank, const wick_dim *dim);
wick_type wick_type_tensor_const(wick_module *m, wick_elem e, uint32_t rank, const int64_t *dim);
wick_type wick_type_buffer(wick_module *m, wick_elem e, uint32_t rank, const wick_dim *dim,
                           wick_space space);
wick_type wick_type_scalar(wick_module *m, wick_elem e, uint32_t lanes);
wick_type wick_type_tuple(wick_module *m, uint32_t n, const wick_type *item);
wick_type wick_type_ref(wick_module *m, uint32_t n, const wick_type *item);
wick_type wick_type_fn(wick_module *m, uint32_t ntake, const wick_type *take, uint32_t ngive,
                       const wick_type *give);
wick_type wick_type_with_elem(wick_module *m, wick_type t, wick_elem e); /* all else the same */

wick_dim wick_type_numel(wick_module *m,
                         wick_type t); /* product of dims (or lanes); INVALID on overflow */
/* Returns whether t is data, a reference or a function: its values are objects, not tensors. */
static inline bool wick_kind_is_object(wick_kind k)
{
  return k == WICK_DATA || k == WICK_REF || k == WICK_FN;
}
/* Returns whether constructors, references and function values can hold values of t: objects, and
 * tensors whose sizes are numbers. */
bool wick_type_is_held(const wick_module *m, wick_type t);
/* Returns whether values of t are single numbers: scalars, or tensors of rank 0. */
bool wick_type_is_one(const wick_module *m, wick_type t);
bool wick_type_const_dims(const wick_type_info *t,
                          int64_t *out_dim); /* false if one is not constant */
bool wick_type_nbytes(wick_module *m, wick_type t,
                      uint64_t *out); /* dense bytes; false: not constant, or overflow */

/* Returns the largest number of bytes, at the upper ends of ranges; UINT64_MAX if it is
 * unbounded. */
uint64_t wick_type_most_nbytes(wick_module *m, wick_type t);
/* For estimates: returns the number of bytes for typical values of dynamic sizes
 * (wick_dim_typical). */
uint64_t wick_type_typical_nbytes(wick_module *m, wick_type t);

/* ---- data types ---- */

typedef struct wick_ctor {
  const char *name;
  uint32_t nfield;
  const wick_type *field; /* wick_type_is_held */
  uint32_t npart;         /* 0: each field is one of the user's */
  const wick_part *part;  /* how the user's fields consist of these (wick/wick.h) */
} wick_ctor;

/* A data type: a value is one of the constructors with its fields. Types are equal if they have one
 * name. They may be recursive. */
typedef struct wick_data {
  const char *name;
  wick_type type;
  uint32_t nctor; /* 0: only its name is known so far */
  const wick_ctor *ctor;
} wick_data;

/* Returns the data type of that name, which is declared if it is new. */
wick_type wick_data_type(wick_module *m, const char *name);
/* Sets the constructors of a declared type, which are copied. */
void wick_data_define(wick_module *m, wick_type t, uint32_t nctor, const wick_ctor *ctor);
/* Copies parts to the module. */
const wick_part *wick_module_parts(wick_module *m, uint32_t n, const wick_part *part);
/* t is of kind WICK_DATA. */
const wick_data *wick_data_get(const wick_module *m, wick_type t);

/* Returns what in values of t cannot be an input or an output of a program, in words: "a reference";
 * NULL: they can. */
const char *wick_type_stays(const wick_module *m, wick_type t, wick_arena *tmp);

void wick_type_print(const wick_module *m, wick_type t, wick_text *out);

#endif
