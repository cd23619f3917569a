/* Reads allocation traces: text lines of a word and its operands, separated by blanks.
 *
 *   # anything             a comment, as is an empty line
 *   MODEL name             a trace begins; the name is the rest of the line
 *   ALIGN n                every offset must be a multiple of n bytes, a power of two
 *   ALLOC id size          buffer `id` becomes live, with `size` bytes
 *   FREE id                it stops being live (after which `id` may be allocated anew)
 *   MEM n                  bytes that another planner reached
 *   EFF r                  lower bound / MEM of that planner
 *
 * Each ALLOC and each FREE is one instruction, numbered from 0 in every trace. A buffer lives from
 * its ALLOC to the instruction before its FREE; without a FREE, to the trace's last. */
#ifndef WICK_BASE_TRACE_H
#define WICK_BASE_TRACE_H

#include "base/plan.h"

typedef struct wick_trace {
  const char *name;
  uint64_t align_bytes; /* 0: none was given */
  uint64_t mem_nbytes;  /* 0: none was given */
  const wick_plan_buffer *buffer;
  uint32_t nbuffer;
} wick_trace;

/* Reads all traces of a text of nbytes (which need not end in a '\0').
 *   location  the file's name, for messages: "location:7: buffer 3 is not live"
 *   mem    gets the traces and the error; tmp, another arena, is rewound
 * Fails with WICK_EPARSE, or WICK_ERANGE for a number beyond 2^63 - 1, naming every line that is
 * wrong (the first 100 of them). O(n log n) in the lines. */
WICK_CHECKED wick_status wick_trace_read(const char *text, size_t nbytes, const char *location,
                                         wick_arena *mem, wick_arena *tmp,
                                         const wick_trace **out_trace, uint32_t *out_ntrace);

#endif
