/* Operators that the runtime executes: those on strings and images. A compiled program contains
 * their names and attributes. A run calls them instead of a kernel, on its own thread.
 *
 * An element of a tensor of strings is the string's index in a table (base/string_table.h), i64. */
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
  int64_t i; /* also the index of a word or string, or a bool */
  double f;
  uint32_t n; /* length of the lists */
  const int64_t *ints;
  const double *floats;
} wick_host_attr;

typedef struct wick_host_row wick_host_row;

/* One operator of a program, with its operands. */
typedef struct wick_host_call {
  const wick_host_row *row;
  uint32_t nattr, nout, nin;
  const wick_host_attr *attr; /* in the order of the operator's row */
  wick_host_tensor *arg;      /* results, then operands; without data before a run */
  wick_string_table *strings;
  void *state; /* created by `prepare` */
  wick_allocator allocator;
  char *message;         /* buffer for the message of a failure */
  size_t message_nbytes; /* its bytes */
} wick_host_call;

struct wick_host_row {
  const char *name;
  /* Creates c->state from the attributes, once before all runs. NULL: there is no state. */
  wick_code (*prepare)(wick_host_call *c);
  void (*drop)(wick_host_call *c); /* frees the state; NULL if there is none */
  wick_code (*run)(wick_host_call *c);
};

/* Finds an operator by its name; NULL if there is none. An operator whose library this build lacks
 * is found, and fails when it runs. */
const wick_host_row *wick_host_find(const char *name);

/* Writes the message; returns `code`. */
wick_code wick_host_fail(wick_host_call *c, wick_code code, const char *fmt, ...) WICK_PRINTF(3, 4);

int64_t wick_host_numel(const wick_host_tensor *t);
/* Returns the offset, in elements, of element k in row-major order. */
int64_t wick_host_at(const wick_host_tensor *t, int64_t k);
/* Element k of a tensor of strings or i64. */
static inline int64_t wick_host_get(const wick_host_tensor *t, int64_t k)
{
  return ((const int64_t *)t->data)[wick_host_at(t, k)];
}
static inline void wick_host_set(const wick_host_tensor *t, int64_t k, int64_t v)
{
  ((int64_t *)t->data)[wick_host_at(t, k)] = v;
}
wick_string wick_host_text(const wick_host_call *c, const wick_host_tensor *t, int64_t k);
/* Sets element k to the string. Fails with WICK_ENOMEM. */
wick_code wick_host_put(wick_host_call *c, const wick_host_tensor *t, int64_t k, const char *at,
                        uint64_t nbytes);

/* The operators, by family; each table ends with a row without a name. */
/* Writes element k, a number of at least a byte, as text of less than WICK_HOST_NUMBER bytes.
 * Returns its length. */
enum { WICK_HOST_NUMBER = 256 };
int wick_host_number_text(const wick_host_tensor *t, int64_t k, char *to);

extern const wick_host_row wick_host_string_rows[], wick_host_number_rows[], wick_host_regex_rows[],
    wick_host_ngram_rows[], wick_host_hash_rows[], wick_host_image_rows[];

/* Splits s at the delimiters, at most `most` times (negative: no limit), as Python's str.split
 * does: an empty delimiter means sequences of white space, which are also removed at both ends.
 * Calls `part` for each piece and returns the number of pieces. */
uint64_t wick_host_split(wick_string s, wick_string delimiter, int64_t most,
                         void (*part)(void *arg, const char *at, uint64_t nbytes), void *arg);

/* A regular expression in the syntax of RE2, to be looked for in texts. Open compiles it as c->state,
 * of which c needs its allocator and the buffer of its message; close frees that. Find gets the bytes
 * [out[0], out[1]) of the first match from byte `from` on, the longest one at its place; -1: none. */
wick_code wick_host_pattern_open(wick_host_call *c, wick_string pattern);
void wick_host_pattern_close(wick_host_call *c);
wick_code wick_host_pattern_find(wick_host_call *c, wick_string text, uint64_t from,
                                 int64_t out[2]);

#endif
