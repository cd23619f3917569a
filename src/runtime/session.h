/* A session: memory and workers for runs of one compiled program. One thread at a time uses a
 * session; any number of sessions may run one program. After creation nothing is allocated. */
#ifndef WICK_RUNTIME_SESSION_H
#define WICK_RUNTIME_SESSION_H

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
  int64_t *counts;          /* the program's, WICK_FLOW_SLOTS each; NULL: the session's own */
  wick_profile_fn *profile; /* NULL: none */
  void *profile_ctx;
} wick_session_setup;

typedef struct wick_session_state wick_session_state;

/* `image`, `program`, `constants` (program->packed_bytes, 64-byte aligned) and the pool outlive the
 * session. Fails: WICK_ENOMEM, WICK_EPARSE where the program names a function that the code lacks.
 * `mem` is for the error. */
WICK_CHECKED wick_status wick_session_make(const wick_image *image, const wick_program *program,
                                           const void *constants, const wick_session_setup *setup,
                                           wick_arena *mem, wick_session_state **out);
void wick_session_drop(wick_session_state *s); /* NULL is legal */

/* What a program whose sizes vary has for these values of its symbols; as wick_sizing_find. */
WICK_CHECKED wick_status wick_session_sizes(wick_session_state *s, const int64_t *symbol,
                                            const wick_sized **out);
/* From now on runs have these sizes, which were found just now; they need some before the first
 * run. False where there is no memory: then they have none. */
bool wick_session_resize(wick_session_state *s, const wick_sized *sized);
/* The present sizes; NULL before they are given. */
const wick_sized *wick_session_sized(const wick_session_state *s);

/* Runs once. An address for each of the program's inputs and outputs; inputs are only read.
 * Rounding is to nearest even and denormals are kept during the run, in every worker; the caller's
 * state is restored. Returns WICK_OK, or the code of the lowest failing task of the first kernel
 * that failed; the same for any number of workers. */
wick_code wick_session_run(wick_session_state *s, const void *const *inputs, void *const *outputs);

/* From now on runs are those of the copy, whose sizes the session has; until the next resize, or
 * until it is left. False, and nothing changes, where it wants more memory than there is and `grow`
 * is not set, or there is none, and where runs are profiled: kernels have the base program's
 * numbers. */
bool wick_session_take(wick_session_state *s, const wick_specialization *x, bool grow);
/* From now on runs are the generic program's again, with the sizes that the session has. */
void wick_session_leave(wick_session_state *s);
/* What runs: the program that the session was made for, or a copy. */
const wick_program *wick_session_program(const wick_session_state *s);

/* The last run's failure: the kernel's place and the detail; program->nkernel where there was none.
 */
typedef struct wick_session_fault {
  uint32_t kernel;
  int64_t task, detail;
  const char *message; /* of what the runtime did itself; else NULL or empty */
} wick_session_fault;
wick_session_fault wick_session_last_fault(const wick_session_state *s);

#endif
