/* A session: memory and workers for runs of one compiled program. One thread at a time uses a
 * session, and any number of sessions may run one program. Runs do not allocate. */
#ifndef WICK_RUNTIME_SESSION_H
#define WICK_RUNTIME_SESSION_H

#include "runtime/heap_map.h"
#include "runtime/load.h"
#include "runtime/pool.h"
#include "runtime/program.h"
#include "runtime/sizes.h"
#include "runtime/specialization.h"

/* Called after each kernel of a profiled run, on the thread of the run. */
typedef void wick_profile_fn(void *ctx, uint32_t kernel, uint64_t nanoseconds);

typedef struct wick_session_setup {
  wick_allocator allocator; /* of arena and scratch; all zero: malloc and free */
  wick_pool *pool;          /* NULL: the calling thread alone */
  int64_t *counts;          /* a table of counts (runtime/program.h); NULL: the session's own */
  uint64_t heap_bytes;      /* the most that objects may take; 0: a default */
  wick_heap_map *heap;      /* the heap, whose owner empties it; NULL: the session's own, which is
                               empty when a run begins */
  wick_profile_fn *profile; /* NULL: none */
  void *profile_ctx;        /* the first argument of profile and print */
  /* gets what the program prints (runtime/say.h); NULL: standard output */
  void (*print)(void *ctx, const char *text, size_t nbytes);
} wick_session_setup;

typedef struct wick_session_state wick_session_state;

/* Creates a session. `image`, `program`, `constants` (program->packed_bytes, 64-byte aligned) and
 * the pool must outlive it. Fails with WICK_ENOMEM, and with WICK_EPARSE if the program names a
 * function that the code lacks. The error is allocated in `mem`. */
WICK_CHECKED wick_status wick_session_make(const wick_image *image, const wick_program *program,
                                           const void *constants, const wick_session_setup *setup,
                                           wick_arena *mem, wick_session_state **out);
void wick_session_drop(wick_session_state *s); /* NULL is legal */

/* Finds the sizes of a program with dynamic sizes for these values of its symbols, as
 * wick_sizing_find does. */
WICK_CHECKED wick_status wick_session_sizes(wick_session_state *s, const int64_t *symbol,
                                            const wick_sized **out);
/* Sets the sizes of the next runs, which the last call of wick_session_sizes found. Sizes must be
 * set before the first run. Returns false if there is no memory; then no sizes are set. */
bool wick_session_resize(wick_session_state *s, const wick_sized *sized);
/* Returns the present sizes; NULL if none are set. */
const wick_sized *wick_session_sized(const wick_session_state *s);

/* Runs once, with an address for each of the program's inputs and outputs. Inputs are only read.
 * During the run, every worker rounds to nearest even and keeps denormals; the caller's settings
 * are restored. Returns WICK_OK, or the code of the lowest failing task of the first kernel that
 * failed. The result is the same for any number of workers. */
wick_code wick_session_run(wick_session_state *s, const void *const *inputs, void *const *outputs);

/* Makes the next runs those of a specialization for the session's present sizes, until the next
 * resize or wick_session_leave. Returns false, and changes nothing, if the specialization needs
 * more memory than the session has and `grow` is false or allocation fails. Also returns false if
 * runs are profiled, because profiles use the kernel indices of the base program. */
bool wick_session_take(wick_session_state *s, const wick_specialization *x, bool grow);
/* Makes the next runs those of the base program again, with the session's present sizes. */
void wick_session_leave(wick_session_state *s);
/* Returns the program that runs: the base program or a specialization. */
const wick_program *wick_session_program(const wick_session_state *s);

/* The failure of the last run. */
typedef struct wick_session_fault {
  uint32_t kernel;         /* its index; program->nkernel if no kernel failed */
  const wick_fault *fault; /* until the next run; NULL: no generated code failed */
  const char *message;     /* of an operator that the runtime executes; else NULL or empty */
} wick_session_fault;
wick_session_fault wick_session_last_fault(const wick_session_state *s);

#endif
