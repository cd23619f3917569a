/* Data that crosses the interface: a heap that lives longer than a run, and counted references to its
 * objects (runtime/heap.h). */
#ifndef WICK_RUNTIME_DATUM_H
#define WICK_RUNTIME_DATUM_H

#include "runtime/context.h"
#include "runtime/datatype.h"
#include "runtime/heap_map.h"
#include "runtime/program.h"

struct wick_datum {
  wick_data_heap *heap;
  const wick_datatype *type; /* the heap's copy */
  int64_t object;            /* the datum has one of its references */
  wick_datum *next, *prev;   /* of the heap */
};

struct wick_data_heap {
  const wick_context *context;
  wick_guard guard; /* of the types */
  wick_arena mem;
  wick_datatype_list types; /* copies of all that data had */
  wick_heap_map map;
  uint64_t max_bytes;
  wick_datum *first, *spare; /* those that are in use; structs to use again */
  uint64_t most;             /* the heap is collected before a run if it has grown to this */
  bool failed;               /* a run failed, and left objects that nothing refers to */
};

/* Returns the heap's copy of a type. Unwinds to heap->guard.where. */
const wick_datatype *wick_data_heap_type(wick_data_heap *h, const wick_datatype *t);
/* Returns a datum that takes over a reference; NULL: no memory. `type` is the heap's. */
wick_datum *wick_datum_make(wick_data_heap *h, const wick_datatype *type, int64_t object);
/* Returns the constructor of an object of this type. */
uint32_t wick_object_constructor(wick_data_heap *h, int64_t object);
/* Returns a block with that constructor, whose fields are undefined; 0: the heap is full. */
int64_t wick_datum_block(wick_data_heap *h, const wick_datatype *type, uint32_t constructor);
WICK_CHECKED wick_error *wick_data_heap_full(void);

/* The inputs and outputs of a program that are data, and what a run passes in their place. */
typedef struct wick_data_ports {
  wick_data_heap *heap;
  bool own; /* it is freed with the ports */
  const wick_context *context;
  const wick_program *program;
  const wick_datatype **type; /* per input, then output: the heap's; NULL: a tensor */
  const void **input;         /* the arguments of a run */
  void **output;
  int64_t *object;   /* per input, then output */
  wick_datum **made; /* per output: the result; NULL: a tensor */
} wick_data_ports;

/* Finds the program's data; *out is NULL if there is none. Uses the heap, or makes one of
 * heap_bytes. */
WICK_CHECKED wick_error *wick_data_ports_make(const wick_context *context, const wick_program *p,
                                              wick_data_heap *heap, uint64_t heap_bytes,
                                              wick_data_ports **out);
void wick_data_ports_free(wick_data_ports *d); /* NULL is legal */
/* Checks the data among the inputs (addresses are not NULL), and fills d->input and d->output. */
WICK_CHECKED wick_error *wick_data_ports_begin(wick_data_ports *d, const void *const *inputs,
                                               const bool *donated, void *const *outputs);
/* Frees the inputs that are donated to a run that did not begin. */
void wick_data_ports_give_up(wick_data_ports *d, const void *const *inputs, const bool *donated);
/* After the run: makes the results, or frees what was made for them. */
void wick_data_ports_end(wick_data_ports *d, bool good, void *const *outputs);

#endif
