/* The pieces are concatenated and divided into blocks. Each block is a task of the thread pool. */
#include "runtime/digest.h"

#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "runtime/pool.h"

enum { DIGEST_BLOCK = 4 << 20, DIGEST_ALONE = 8 }; /* bytes; fewer blocks are not worth threads */

typedef struct digest_job {
  const wick_pieces *p;
  uint64_t *block;
} digest_job;

static uint64_t digest_block(const wick_pieces *p, uint64_t from, uint64_t to)
{
  wick_digest d = {.nword = 0};
  uint64_t at = 0; /* offset in the piece */
  for (size_t i = 0; i < p->n && at < to; at += p->at[i++].nbytes) {
    uint64_t end = at + p->at[i].nbytes, lo = at > from ? at : from, hi = end < to ? end : to;
    if (lo < hi)
      wick_digest_words(&d, (const char *)p->at[i].at + (lo - at), (size_t)((hi - lo) / 8));
  }
  return wick_digest_end(&d);
}

static void digest_blocks(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  const digest_job *j = ctx;
  (void)worker;
  for (int64_t b = begin; b < end; b++)
    j->block[b] = digest_block(j->p, (uint64_t)b * DIGEST_BLOCK, (uint64_t)(b + 1) * DIGEST_BLOCK);
}

uint64_t wick_digest_of(const wick_pieces *p, wick_arena *tmp)
{
  uint64_t nbytes = 0;
  for (size_t i = 0; i < p->n; i++) nbytes += p->at[i].nbytes;
  uint64_t n = nbytes / DIGEST_BLOCK + (nbytes % DIGEST_BLOCK != 0);
  digest_job j = {p, wick_new(tmp, uint64_t, (size_t)n + 1)};
  wick_pool *pool = NULL;
  if (n > DIGEST_ALONE && wick_pool_create(NULL, tmp, &pool)) pool = NULL; /* without threads */
  wick_pool_run run = wick_pool_begin(pool);
  wick_pool_launch(&run, digest_blocks, &j, (int64_t)n);
  wick_pool_end(&run);
  wick_pool_free(pool);
  return wick_hash_bytes(WICK_HASH_SEED, j.block, (size_t)n * 8);
}

wick_section wick_digest_section(wick_span constants, wick_arena *mem)
{
  wick_bytes all = {constants.at, constants.nbytes};
  uint64_t digest = wick_digest_of(&(wick_pieces){&all, 1, all.nbytes}, mem);
  const char *text = wick_str_printf(mem, "%016llx", (unsigned long long)digest);
  return (wick_section){.name = "check", .bytes = {(const unsigned char *)text, strlen(text)}};
}

bool wick_digest_holds(const wick_artifact *a, wick_arena *tmp)
{
  wick_span said = wick_artifact_section(a, "check"),
            constants = wick_artifact_section(a, "constants");
  if (!said.at) return true;
  if (constants.nbytes % 8) return false;
  wick_span is = wick_digest_section(constants, tmp).bytes;
  return said.nbytes == is.nbytes && memcmp(said.at, is.at, is.nbytes) == 0;
}
