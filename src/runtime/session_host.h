/* The runtime's part of a session: strings, and the operators that are no code. */
#ifndef WICK_RUNTIME_SESSION_HOST_H
#define WICK_RUNTIME_SESSION_HOST_H

#include "runtime/program.h"

typedef struct wick_session_host wick_session_host;

/* NULL in *out where the program has nothing for it. `program` outlives it. */
WICK_CHECKED wick_status wick_session_host_make(const wick_program *program, wick_allocator a,
                                                wick_arena *mem, wick_session_host **out);
void wick_session_host_drop(wick_session_host *h); /* NULL is legal */

/* From now on inputs and outputs are these, whose sizes are known, as `table` has them (the
 * program's sizes); `io` lives until the next call. False where there is no memory: then they are
 * as before. */
bool wick_session_host_resize(wick_session_host *h, const wick_io *io, const int64_t *table);

/* Before a run: in args, by input and output, those of strings become numbers in memory of its own.
 * After it: the strings of outputs. */
wick_code wick_session_host_begin(wick_session_host *h, const void *const *inputs, void **args);
void wick_session_host_end(wick_session_host *h, void *const *outputs);

/* One launch; where it fails, wick_session_host_message says why. */
wick_code wick_session_host_run(wick_session_host *h, uint32_t kernel, void *const *args);
const char *wick_session_host_message(const wick_session_host *h);

#endif
