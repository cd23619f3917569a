/* The states of a session: memory that a run reads and changes, and the next run finds changed. */
#ifndef WICK_RUNTIME_STATES_H
#define WICK_RUNTIME_STATES_H

#include "runtime/program.h"

/* If runs cannot fail, a run updates the states in place. Otherwise it writes a second copy, which
 * replaces the first one only if it succeeds. */
typedef struct wick_states {
  const wick_program *program;
  wick_allocator allocator;
  const void **input; /* the arguments of a run: the caller's, then the states */
  void **output;
  char *at[2];      /* the same address twice if there is one copy */
  uint64_t *offset; /* by state, in bytes */
  uint32_t now;     /* at[now] is what the next run reads */
  void *block;
  size_t nblock;
} wick_states;

/* Makes the states that the program has before its first run; *out is NULL if it has none. Returns
 * false if there is no memory. */
WICK_CHECKED bool wick_states_make(const wick_program *p, wick_allocator a, wick_states **out);
void wick_states_free(wick_states *s); /* NULL is legal */
void wick_states_reset(wick_states *s);

/* Returns the index of the state of that name; UINT32_MAX: there is none. */
uint32_t wick_states_find(const wick_program *p, const char *name);
static inline const wick_io *wick_states_io(const wick_program *p, uint32_t i)
{
  return &p->io[wick_program_ninput(p) + i];
}
/* Returns where state i is until the next run. */
void *wick_states_at(const wick_states *s, uint32_t i);

/* Fills s->input and s->output for a run, and ends it: a failed run leaves the states unchanged. */
void wick_states_begin(wick_states *s, const void *const *inputs, void *const *outputs);
void wick_states_end(wick_states *s, bool good);

#endif
