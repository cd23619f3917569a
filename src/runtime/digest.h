/* Digests of large data. Each block has its own digest, so that threads share the work. */
#ifndef WICK_RUNTIME_DIGEST_H
#define WICK_RUNTIME_DIGEST_H

#include "base/file.h"
#include "runtime/artifact.h"

typedef struct wick_pieces {
  wick_bytes *at;
  size_t n;
  uint64_t nbytes; /* of all */
} wick_pieces;

/* Returns the digest of pieces that are whole words of 8 bytes. It does not depend on how the data
 * are cut into pieces or on the number of threads. Uses all CPUs that the process may use. */
uint64_t wick_digest_of(const wick_pieces *p, wick_arena *tmp);

/* Returns the section "check" of an artifact: the digest of its constants, which the artifact's
 * hash does not cover. They are whole words. */
wick_section wick_digest_section(wick_span constants, wick_arena *mem);
/* Does the digest of the constants equal the one in "check"? True for an artifact without
 * "check". */
bool wick_digest_holds(const wick_artifact *a, wick_arena *tmp);

#endif
