/* Descriptions of data types: what the interface tells of them (wick_datatype), and the layout of
 * their blocks (runtime/heap.h). They are read from programs and compared with those in files.
 *
 * As bytes, a list of types is a u32 count, and for each type its name and its constructors: the
 * name, the fields and the parts. A field is its name and, for data, the number of its type in the
 * list, from 1; for a tensor 0, the element type, the rank and the dimensions. */
#ifndef WICK_RUNTIME_DATATYPE_H
#define WICK_RUNTIME_DATATYPE_H

#include "base/reader.h"
#include "base/str.h"

typedef wick_list(wick_datatype *) wick_datatype_list;

/* Makes a type without constructors. All types are made here. */
wick_datatype *wick_datatype_make(const char *name, wick_arena *mem);
/* Describes a constructor's field: a tensor of these sizes, if the field is no data. Returns false if
 * it has too many bytes. */
bool wick_datatype_tensor(wick_elem elem, uint32_t rank, const int64_t *dim, wick_io *out);
/* Completes types whose constructors are set, with all that they reach. */
void wick_datatypes_end(const wick_datatype_list *list, wick_arena *mem);

/* Adds a type (NULL: none) and all that it reaches to the list, each once. */
void wick_datatype_reach(wick_datatype_list *list, const wick_datatype *t, wick_arena *mem);
/* Returns the number of a type in the list, from 1; 0 for NULL. */
uint32_t wick_datatype_number(const wick_datatype_list *list, const wick_datatype *t);
void wick_datatypes_write(const wick_datatype_list *list, wick_text *t);
WICK_CHECKED bool wick_datatypes_read(wick_reader *r, wick_arena *mem, wick_datatype_list *out);
void wick_parts_write(wick_text *t, uint32_t n, const wick_part *part);
/* Reads parts, whose leaves are `nleaf` inputs, outputs or fields. */
WICK_CHECKED bool wick_parts_read(wick_reader *r, wick_arena *mem, uint32_t nleaf, uint32_t *n,
                                  const wick_part **out);

/* Returns the bytes of the list of all that the type reaches, it first: equal types have equal
 * ones. */
wick_span wick_datatype_bytes(const wick_datatype *t);
bool wick_datatype_same(const wick_datatype *a, const wick_datatype *b);

/* ---- blocks ---- */

/* The position of a field in a block, in words after the header: objects come first, then numbers,
 * then tensors. */
uint64_t wick_datatype_word(const wick_constructor *c, uint32_t field);
uint64_t wick_datatype_words(const wick_constructor *c); /* of all fields */
uint64_t wick_datatype_refs(const wick_constructor *c);  /* the fields that are objects */

#endif
