/* The digest of gigabytes: of blocks, each by itself, so that threads share the work. */
#ifndef WICK_RUNTIME_DIGEST_H
#define WICK_RUNTIME_DIGEST_H

#include "base/file.h"
#include "runtime/artifact.h"

typedef struct wick_pieces {
  wick_bytes *at;
  size_t n;
  uint64_t nbytes; /* of all */
} wick_pieces;

/* Of pieces that are whole words of 8 bytes; the same for one piece and for many, and for any
 * number of threads, of which there are as many as the process may use. */
uint64_t wick_digest_of(const wick_pieces *p, wick_arena *tmp);

/* The section "check" of an artifact: the digest of its constants, which its hash leaves out; they
 * are whole words. */
wick_section wick_digest_section(wick_span constants, wick_arena *mem);
/* Are the constants those that "check" is of? Of an artifact without it there is nothing to say. */
bool wick_digest_holds(const wick_artifact *a, wick_arena *tmp);

#endif
