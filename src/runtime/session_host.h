/* The part of a session for strings and for operators that the runtime executes
 * (runtime/host.h). */
#ifndef WICK_RUNTIME_SESSION_HOST_H
#define WICK_RUNTIME_SESSION_HOST_H

#include "runtime/program.h"

typedef struct wick_session_host wick_session_host;

/* Sets *out to NULL if the program has neither strings nor such operators. `program` must outlive
 * it. */
WICK_CHECKED wick_status wick_session_host_make(const wick_program *program, wick_allocator a,
                                                wick_arena *mem, wick_session_host **out);
void wick_session_host_drop(wick_session_host *h); /* NULL is legal */

/* Sets the inputs and outputs of the next runs, whose sizes are known, and the table of sizes. `io`
 * must live until the next call. Returns false, and changes nothing, if there is no memory. */
bool wick_session_host_resize(wick_session_host *h, const wick_io *io, const int64_t *table);

/* wick_session_host_begin, before a run, replaces the addresses of string inputs and outputs in
 * `args` by memory of its own with the strings' indices. wick_session_host_end, after the run,
 * writes the strings of outputs. */
wick_code wick_session_host_begin(wick_session_host *h, const void *const *inputs, void **args);
void wick_session_host_end(wick_session_host *h, void *const *outputs);

/* Executes one launch. If it fails, wick_session_host_message returns the reason. */
wick_code wick_session_host_run(wick_session_host *h, uint32_t kernel, void *const *args);
/* The strings of a run. */
const wick_string_table *wick_session_host_strings(const wick_session_host *h);
const char *wick_session_host_message(const wick_session_host *h);

#endif
