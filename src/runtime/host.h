/* Operators that are calls into the runtime: on strings and on images. A compiled program names
 * them, with their attributes; a run calls them in the place of a kernel, on its own thread.
 *
 * Elements of strings are their numbers in a table (base/string_table.h), i64. */
#ifndef WICK_RUNTIME_HOST_H
#define WICK_RUNTIME_HOST_H

#include "base/string_table.h"

typedef struct wick_host_tensor {
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_DIMS], stride[WICK_MAX_DIMS]; /* strides in elements */
  void *data;
} wick_host_tensor;

typedef struct wick_host_attr {
  int64_t i; /* numbers of words, bools, strings too */
  double f;
  uint32_t n; /* of the lists */
  const int64_t *ints;
  const double *floats;
} wick_host_attr;

typedef struct wick_host_row wick_host_row;

/* A place among a program's kernels. */
typedef struct wick_host_call {
  const wick_host_row *row;
  uint32_t nattr, nout, nin;
  const wick_host_attr *attr; /* in the order of the operator's row */
  wick_host_tensor *arg;      /* results, then operands; without data before a run */
  wick_string_table *strings;
  void *state; /* what `prepare` made */
  wick_allocator allocator;
  char *message; /* room for what a failure says */
  size_t room;
} wick_host_call;

struct wick_host_row {
  const char *name;
  /* Once, before runs: what attributes alone decide, into c->state. NULL: nothing. */
  wick_code (*prepare)(wick_host_call *c);
  void (*drop)(wick_host_call *c); /* NULL where there is no state */
  wick_code (*run)(wick_host_call *c);
};

/* NULL where there is none of that name. One that this build lacks is there, and fails. */
const wick_host_row *wick_host_find(const char *name);

/* Writes the message; returns `code`. */
wick_code wick_host_fail(wick_host_call *c, wick_code code, const char *fmt, ...) WICK_PRINTF(3, 4);

int64_t wick_host_numel(const wick_host_tensor *t);
/* Where element k, in row-major order, lies: elements from the first. */
int64_t wick_host_at(const wick_host_tensor *t, int64_t k);
/* Of tensors of strings or i64. */
static inline int64_t wick_host_get(const wick_host_tensor *t, int64_t k)
{
  return ((const int64_t *)t->data)[wick_host_at(t, k)];
}
static inline void wick_host_set(const wick_host_tensor *t, int64_t k, int64_t v)
{
  ((int64_t *)t->data)[wick_host_at(t, k)] = v;
}
wick_string wick_host_text(const wick_host_call *c, const wick_host_tensor *t, int64_t k);
/* Makes element k the string; WICK_ENOMEM. */
wick_code wick_host_put(wick_host_call *c, const wick_host_tensor *t, int64_t k, const char *at,
                        uint64_t nbytes);

/* The families. */
extern const wick_host_row wick_host_string_rows[], wick_host_number_rows[], wick_host_regex_rows[],
    wick_host_ngram_rows[], wick_host_image_rows[];

/* Cuts s at each of the delimiters, at most `most` times (negative: no limit); an empty delimiter
 * means runs of white space, and drops those at both ends, as Python's str.split does. Calls `part`
 * for each piece; returns their number. */
uint64_t wick_host_split(wick_string s, wick_string delimiter, int64_t most,
                         void (*part)(void *arg, const char *at, uint64_t nbytes), void *arg);

#endif
